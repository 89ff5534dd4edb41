"""What every record of DAG runs keeps, on SQLite and on PostgreSQL."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnomon.ports.dag import DagRun, DagRuns, NodeRow, NodeState
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.store.dag import SqliteDagRuns
from gnomon.shell.store.postgres.dag import PostgresDagRuns
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause

START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
DONE = NodeRow(
    "load", NodeState.SUCCESS, 1, None, "exit 0", None, START_MS + 100, START_MS + 200
)  # fmt: skip


@pytest.fixture(params=["sqlite", "postgres"])
def dag_runs(
    request: pytest.FixtureRequest, runner: asyncio.Runner, tmp_path: Path
) -> Iterator[DagRuns]:
    if request.param == "postgres":
        database = request.getfixturevalue("common_database")
        schema = request.getfixturevalue("schema")
        shared = runner.run(PostgresLedger.open(database, schema=schema))
        yield PostgresDagRuns(shared.pool, schema)
        runner.run(shared.close())
        return
    ledger = SqliteLedger.open(tmp_path / "ledger.sqlite3")
    yield SqliteDagRuns(ledger.database)
    runner.run(ledger.close())


def a_run(key: str = "key", *, fence: int = 1) -> DagRun:
    return DagRun(
        key, f"run-{key}", "report", 3, "anna", fence, FeedbackStatus.STARTED, "", START_MS
    )


@clause("EXECUTION-1")
def test_a_run_is_entered_once(runner: asyncio.Runner, dag_runs: DagRuns) -> None:
    assert runner.run(dag_runs.get("key")) is None
    assert runner.run(dag_runs.begin(a_run())) == a_run()
    again = a_run()._replace(run_id="other", started_ms=START_MS + 5)

    assert runner.run(dag_runs.begin(again)) == a_run()
    assert runner.run(dag_runs.get("key")) == a_run()


@clause("EXECUTION-2")
def test_a_greater_number_takes_a_run_over_and_a_smaller_one_does_not(
    runner: asyncio.Runner, dag_runs: DagRuns
) -> None:
    runner.run(dag_runs.begin(a_run(fence=2)))

    assert runner.run(dag_runs.begin(a_run(fence=5))).fence == 5
    assert runner.run(dag_runs.begin(a_run(fence=4))).fence == 5


@clause("EXECUTION-2")
def test_what_comes_under_another_number_is_not_written(
    runner: asyncio.Runner, dag_runs: DagRuns
) -> None:
    runner.run(dag_runs.begin(a_run(fence=2)))
    runner.run(dag_runs.begin(a_run(fence=3)))

    assert not runner.run(dag_runs.write("key", [DONE], fence=2))
    ended = dag_runs.end("key", FeedbackStatus.SUCCESS, "", fence=2, now_ms=START_MS)
    assert not runner.run(ended)
    assert runner.run(dag_runs.get("key")) == a_run(fence=3)
    assert not runner.run(dag_runs.write("unknown", [DONE], fence=0))


@clause("EXECUTION-3")
def test_nodes_are_kept_in_the_order_of_their_ids(
    runner: asyncio.Runner, dag_runs: DagRuns
) -> None:
    runner.run(dag_runs.begin(a_run()))
    running = NodeRow("extract", NodeState.RUNNING, 1, "12:34:ab:0:0", started_ms=START_MS)
    runner.run(dag_runs.write("key", [DONE, running], fence=1))
    over = running._replace(state=NodeState.FAILED, detail="exit 3", ended_ms=START_MS + 9)
    runner.run(dag_runs.write("key", [over._replace(log="no such table\n")], fence=1))
    found = runner.run(dag_runs.get("key"))

    assert found is not None
    assert found.nodes == (over, DONE)
    assert runner.run(dag_runs.log("key", "extract")) == "no such table\n"
    assert runner.run(dag_runs.log("key", "load")) == ""
    assert runner.run(dag_runs.log("key", "other")) is None


@clause("EXECUTION-3")
def test_a_run_ends_once(runner: asyncio.Runner, dag_runs: DagRuns) -> None:
    runner.run(dag_runs.begin(a_run()))
    first = dag_runs.end("key", FeedbackStatus.FAILED, "load failed", fence=1, now_ms=START_MS)
    second = dag_runs.end("key", FeedbackStatus.SUCCESS, "", fence=1, now_ms=START_MS + 1)

    assert runner.run(first)
    assert not runner.run(second)
    assert not runner.run(dag_runs.write("key", [DONE], fence=1))
    kept = a_run()._replace(status=FeedbackStatus.FAILED, detail="load failed", ended_ms=START_MS)
    assert runner.run(dag_runs.get("key")) == kept
    assert runner.run(dag_runs.begin(a_run(fence=9))) == kept


@clause("EXECUTION-4")
def test_old_runs_are_removed_with_their_nodes(runner: asyncio.Runner, dag_runs: DagRuns) -> None:
    for number in range(5):
        key = f"key{number}"
        runner.run(dag_runs.begin(a_run(key)))
        runner.run(dag_runs.write(key, [DONE], fence=1))
        if number < 4:
            at_ms = START_MS + number
            end = dag_runs.end(key, FeedbackStatus.SUCCESS, "", fence=1, now_ms=at_ms)
            runner.run(end)

    assert runner.run(dag_runs.retain(before_ms=START_MS + 3, limit=2)) == 2
    assert runner.run(dag_runs.retain(before_ms=START_MS + 3, limit=2)) == 1
    assert runner.run(dag_runs.retain(before_ms=START_MS + 3, limit=2)) == 0
    assert runner.run(dag_runs.log("key0", "load")) is None
    assert runner.run(dag_runs.log("key3", "load")) == ""
    assert runner.run(dag_runs.get("key4")) is not None
