"""What every record of executions keeps, on SQLite and on PostgreSQL."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.ports.executions import Execution, Executions, NodeRow, NodeState
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.workflow import PostgresExecutions
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.workflow import SqliteExecutions
from tests.clauses import clause

START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
DONE = NodeRow(
    "load", NodeState.SUCCESS, 1, None, "exit 0", None, START_MS + 100, START_MS + 200
)  # fmt: skip


@pytest.fixture(params=["sqlite", "postgres"])
def executions(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[Executions]:
    if request.param == "postgres":
        database = request.getfixturevalue("common_database")
        schema = request.getfixturevalue("schema")
        shared = runner.run(PostgresLedger.open(database, schema=schema))
        yield PostgresExecutions(shared.pool, schema)
        runner.run(shared.close())
        return
    ledger = SqliteLedger.open(tmp_path / "ledger.sqlite3")
    yield SqliteExecutions(ledger.database)
    runner.run(ledger.close())


def a_run(key: str = "key", *, fence: int = 1) -> Execution:
    return Execution(
        key, f"run-{key}", "report", 3, "anna", fence, FeedbackStatus.STARTED, "", START_MS
    )


@clause("EXECUTION-1")
def test_a_run_is_entered_once(runner: asyncio.Runner, executions: Executions) -> None:
    assert runner.run(executions.get("key")) is None
    assert runner.run(executions.begin(a_run())) == a_run()
    again = a_run()._replace(run_id="other", started_ms=START_MS + 5)

    assert runner.run(executions.begin(again)) == a_run()
    assert runner.run(executions.get("key")) == a_run()


@clause("EXECUTION-2")
def test_a_greater_number_takes_a_run_over_and_a_smaller_one_does_not(
    runner: asyncio.Runner, executions: Executions
) -> None:
    runner.run(executions.begin(a_run(fence=2)))

    assert runner.run(executions.begin(a_run(fence=5))).fence == 5
    assert runner.run(executions.begin(a_run(fence=4))).fence == 5


@clause("EXECUTION-2")
def test_what_comes_under_another_number_is_not_written(
    runner: asyncio.Runner, executions: Executions
) -> None:
    runner.run(executions.begin(a_run(fence=2)))
    runner.run(executions.begin(a_run(fence=3)))

    assert not runner.run(executions.write("key", [DONE], fence=2))
    ended = executions.end("key", FeedbackStatus.SUCCESS, "", fence=2, now_ms=START_MS)
    assert not runner.run(ended)
    assert runner.run(executions.get("key")) == a_run(fence=3)
    assert not runner.run(executions.write("nobody", [DONE], fence=0))


@clause("EXECUTION-3")
def test_nodes_are_kept_in_the_order_of_their_ids(
    runner: asyncio.Runner, executions: Executions
) -> None:
    runner.run(executions.begin(a_run()))
    running = NodeRow("extract", NodeState.RUNNING, 1, "12:34:ab:0:0", started_ms=START_MS)
    runner.run(executions.write("key", [DONE, running], fence=1))
    over = running._replace(state=NodeState.FAILED, detail="exit 3", ended_ms=START_MS + 9)
    runner.run(executions.write("key", [over._replace(log="no such table\n")], fence=1))
    found = runner.run(executions.get("key"))

    assert found is not None
    assert found.nodes == (over, DONE)
    assert runner.run(executions.log("key", "extract")) == "no such table\n"
    assert runner.run(executions.log("key", "load")) == ""
    assert runner.run(executions.log("key", "other")) is None


@clause("EXECUTION-3")
def test_a_run_ends_once(runner: asyncio.Runner, executions: Executions) -> None:
    runner.run(executions.begin(a_run()))
    first = executions.end("key", FeedbackStatus.FAILED, "load failed", fence=1, now_ms=START_MS)
    second = executions.end("key", FeedbackStatus.SUCCESS, "", fence=1, now_ms=START_MS + 1)

    assert runner.run(first)
    assert not runner.run(second)
    assert not runner.run(executions.write("key", [DONE], fence=1))
    kept = a_run()._replace(status=FeedbackStatus.FAILED, detail="load failed", ended_ms=START_MS)
    assert runner.run(executions.get("key")) == kept
    assert runner.run(executions.begin(a_run(fence=9))) == kept


@clause("EXECUTION-4")
def test_old_runs_are_removed_with_their_nodes(
    runner: asyncio.Runner, executions: Executions
) -> None:
    for number in range(5):
        key = f"key{number}"
        runner.run(executions.begin(a_run(key)))
        runner.run(executions.write(key, [DONE], fence=1))
        if number < 4:
            at_ms = START_MS + number
            end = executions.end(key, FeedbackStatus.SUCCESS, "", fence=1, now_ms=at_ms)
            runner.run(end)

    assert runner.run(executions.retain(before_ms=START_MS + 3, limit=2)) == 2
    assert runner.run(executions.retain(before_ms=START_MS + 3, limit=2)) == 1
    assert runner.run(executions.retain(before_ms=START_MS + 3, limit=2)) == 0
    assert runner.run(executions.log("key0", "load")) is None
    assert runner.run(executions.log("key3", "load")) == ""
    assert runner.run(executions.get("key4")) is not None
