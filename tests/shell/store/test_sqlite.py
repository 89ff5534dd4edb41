"""The ledger on SQLite: its file, its tables, its indexes, its owner."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gnomon.core.ledger.lifecycle import STEPS, State, Step
from gnomon.errors import StoreError
from gnomon.shell.store.database import APPLICATION_ID, Database
from gnomon.shell.store.queries import migrations, named, statements
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread
from gnomon.shell.store.transaction import NAMED_VALUE
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, minutely

SEED = {
    "schedules": {
        "schedule_id", "workflow_id", "version", "user_id", "cron_expr", "timezone", "start_at",
        "end_at", "next_run_at", "paused", "jitter_ms", "overlap_policy", "catchup_policy",
        "updated_at",
    },
    "schedule_runs": {
        "idempotency_key", "schedule_id", "run_at", "status", "run_id", "created_at", "updated_at",
    },
}  # fmt: skip


@pytest.fixture
def ledger() -> Iterator[SqliteLedger]:
    ledger = SqliteLedger.open(":memory:")
    yield ledger
    asyncio.run(ledger.close())


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with asyncio.Runner() as runner:
        desk = Desk(runner, lambda: SqliteLedger.open(tmp_path / "ledger.sqlite3"))
        yield desk
        desk.close()


def query(ledger: SqliteLedger, sql: str) -> list[tuple[object, ...]]:
    return ledger.database.read(lambda connection: connection.execute(sql).fetchall())


def explained(ledger: SqliteLedger, name: str) -> str:
    """How SQLite goes about a named statement."""
    sql = named("ledger.sql")[name]
    values = dict.fromkeys(NAMED_VALUE.findall(sql), "") | {"limit": 1, "ids": "[]", "keys": "[]"}
    rows = ledger.database.read(
        lambda connection: connection.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    )
    return "; ".join(str(row[3]) for row in rows)


@clause("LEDGER-3")
@pytest.mark.parametrize("table", sorted(SEED))
def test_the_tables_have_every_column_of_the_seed(ledger: SqliteLedger, table: str) -> None:
    columns = {str(row[1]) for row in query(ledger, f"PRAGMA table_info({table})")}

    assert SEED[table] - columns == set()


@clause("LEDGER-3")
def test_a_schedule_can_be_read_with_plain_sql(desk: Desk) -> None:
    desk.save(
        cron_expr="0 3 * * *", timezone="Europe/Riga", start_at="2026-03-01T00:00:00Z",
        target={"workflow_id": "bill", "version": 4, "user_id": "u1"}, jitter_ms=500,
    )  # fmt: skip

    assert isinstance(desk.ledger, SqliteLedger)
    (row,) = query(
        desk.ledger,
        "SELECT workflow_id, version, user_id, cron_expr, timezone, start_at, end_at, next_run_at,"
        " paused, jitter_ms, overlap_policy, catchup_policy, updated_at FROM schedules",
    )
    assert row == (
        "bill", 4, "u1", "0 3 * * *", "Europe/Riga", "2026-03-01T00:00:00.000Z", None,
        "2026-03-01T01:00:00.000Z", 0, 500, "skip", "none", "2026-03-01T00:00:30.000Z",
    )  # fmt: skip


@clause("LEDGER-3")
def test_a_row_can_be_read_with_plain_sql(desk: Desk) -> None:
    desk.launched(desk.claim(), "00:01:02.345")

    assert isinstance(desk.ledger, SqliteLedger)
    (row,) = query(
        desk.ledger, "SELECT run_at, status, run_id, created_at, updated_at FROM schedule_runs"
    )
    assert row == (
        "2026-03-01T00:01:00.000Z", "STARTED", "pid 7", "2026-03-01T00:01:00.000Z",
        "2026-03-01T00:01:02.345Z",
    )  # fmt: skip


@clause("LEDGER-13")
def test_every_revision_of_a_definition_is_kept(desk: Desk) -> None:
    desk.save(now="00:00:30", target="old")
    desk.save(now="00:00:40", target="new")

    assert isinstance(desk.ledger, SqliteLedger)
    rows = query(
        desk.ledger, "SELECT revision, effective_at, definition FROM schedule_revisions ORDER BY 1"
    )
    assert [(row[0], row[1], json.loads(str(row[2]))["target"]) for row in rows] == [
        (1, "2026-03-01T00:00:30.000Z", "old"),
        (2, "2026-03-01T00:00:40.000Z", "new"),
    ]


@clause("LEDGER-1")
@pytest.mark.parametrize("column", ["state = 'planned', ended_at = NULL", "outcome = 'missed'"])
def test_the_database_itself_keeps_an_outcome(desk: Desk, column: str) -> None:
    desk.ended(desk.claim())

    assert isinstance(desk.ledger, SqliteLedger)
    with pytest.raises(StoreError, match="an outcome is permanent"):
        desk.ledger.database.write(
            lambda connection: connection.execute(f"UPDATE schedule_runs SET {column}")
        )


@clause("LEDGER-5")
@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("due", "USING INDEX schedules_by_wake (wake_at<?)"),
        ("lost", "USING INDEX schedule_runs_by_lease (lease_until<?)"),
        ("next_wake", "USING COVERING INDEX schedules_by_wake"),
        ("next_lease", "USING COVERING INDEX schedule_runs_by_lease"),
        ("open_runs", "USING INDEX schedule_runs_open (schedule_id=?)"),
        ("has_queues", "USING INDEX schedules_queueing"),
        ("wake_queues", "USING PRIMARY KEY (schedule_id=?)"),
        ("wake_queues", "INDEX schedule_runs_open (schedule_id=?)"),
        ("runs", "USING INDEX schedule_runs_by_schedule (schedule_id=? AND run_at<?)"),
        ("finished", "USING INDEX schedule_runs_by_end (ended_at<?)"),
        ("forgotten", "schedules_deleted (deleted_at<?)"),
        ("orphans", "USING INDEX schedule_runs_by_lease"),
        ("abandoned", "USING INDEX schedule_runs_by_lease"),
        ("to_end", "USING INDEX schedule_runs_to_end"),
        ("next_waiting", "USING INDEX schedule_runs_open (schedule_id=?)"),
    ],
)
def test_what_is_asked_every_turn_is_answered_from_an_index(
    ledger: SqliteLedger, name: str, index: str
) -> None:
    assert index in explained(ledger, name)


@clause("LEDGER-5")
@pytest.mark.parametrize("name", ["due", "lost", "next_wake", "next_lease"])
def test_an_idle_look_sorts_nothing_and_reads_no_table(ledger: SqliteLedger, name: str) -> None:
    steps = [step for step in explained(ledger, name).split("; ") if "INDEX" not in step]

    assert [step for step in steps if "SCAN" in step or "ORDER BY" in step] == []


@clause("LEDGER-5")
def test_the_number_of_schedules_kept_as_values_is_bounded(tmp_path: Path) -> None:
    ledger = SqliteLedger.open(":memory:", cached_max=3)
    asyncio.run(
        ledger.save_all([minutely(f"s{number}") for number in range(10)], now_ms=at("00:00:30"))
    )
    dues = asyncio.run(ledger.load(now_ms=at("00:01:00"), limit=100))

    assert len(dues) == 10
    assert ledger.cached == 3
    asyncio.run(ledger.close())


@clause("LEDGER-13")
def test_many_schedules_are_saved_in_one_transaction(desk: Desk) -> None:
    assert isinstance(desk.ledger, SqliteLedger)
    saved = desk.do(desk.ledger.save_all([minutely("a"), minutely("b")], now_ms=at("00:00:30")))

    assert [one.schedule_id for one in saved] == ["a", "b"]
    assert desk.loaded("00:01:00") == ["a", "b"]


@clause("LEDGER-10")
@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
)
def test_what_was_committed_survives_a_crash_of_the_machine(
    desk: Desk, pragma: str, value: object
) -> None:
    assert isinstance(desk.ledger, SqliteLedger)
    # Not in a transaction, in which the mode of the journal cannot be asked for.
    (found,) = desk.ledger.database.connection.execute(f"PRAGMA {pragma}").fetchone()

    assert found == value


@clause("PORT-4")
def test_a_ledger_works_on_a_thread_of_its_own(tmp_path: Path) -> None:
    async def scenario(thread: ThreadPoolExecutor) -> list[str]:
        ledger = SqliteLedger.open(tmp_path / "ledger.sqlite3", executor=thread)
        await asyncio.gather(
            *(ledger.save(minutely(name), now_ms=at("00:00:30")) for name in "cab")
        )
        rows = await ledger.schedules()
        await ledger.close()
        return [row.schedule.schedule_id for row in rows]

    with ledger_thread() as thread:
        assert asyncio.run(scenario(thread)) == ["a", "b", "c"]


@clause("LEDGER-12")
def test_a_file_has_one_owner_and_the_second_is_told_who(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    owner = SqliteLedger.open(path, exclusive=True)

    with pytest.raises(
        StoreError, match=r"ledger\.sqlite3\.lock: is held by pid \d+ on "
    ) as raised:
        SqliteLedger.open(path, exclusive=True)
    assert raised.value.transient
    asyncio.run(owner.close())


@clause("LEDGER-12")
def test_a_file_that_was_let_go_has_the_next_owner_at_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    asyncio.run(SqliteLedger.open(path, exclusive=True).close())

    asyncio.run(SqliteLedger.open(path, exclusive=True).close())


@clause("LEDGER-12")
def test_a_reader_that_does_not_ask_to_own_a_file_may_read_it_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    owner = SqliteLedger.open(path, exclusive=True)
    reader = SqliteLedger.open(path)

    assert asyncio.run(reader.schedules()) == []
    asyncio.run(reader.close())
    asyncio.run(owner.close())


@clause("LEDGER-12")
def test_a_ledger_that_cannot_be_opened_is_owned_by_no_process(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 20)
    with pytest.raises(StoreError):
        SqliteLedger.open(path, exclusive=True)
    path.unlink()

    asyncio.run(SqliteLedger.open(path, exclusive=True).close())


@clause("LEDGER-12")
def test_a_ledger_in_memory_needs_no_lock(ledger: SqliteLedger) -> None:
    asyncio.run(SqliteLedger.open(":memory:", exclusive=True).close())


@clause("LEDGER-22")
def test_new_zone_data_makes_every_zoned_schedule_due_once(desk: Desk) -> None:
    desk.save("there", timezone="Europe/Riga", cron_expr="0 12 * * *")
    desk.save("here", cron_expr="0 12 * * *")
    assert isinstance(desk.ledger, SqliteLedger)
    desk.ledger.database.write(
        lambda connection: connection.execute("UPDATE ledger_meta SET value = '1999a'")
    )

    desk.reopen()
    assert desk.loaded("00:01:00") == ["there"]
    desk.turn("00:01:00")
    assert desk.wake() == "10:00:00"


def test_migrations_are_numbered_without_gaps() -> None:
    assert len(migrations("ledger")) >= 1


def test_a_trigger_is_one_statement() -> None:
    script = "SELECT 1; CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 2; SELECT 3; END; SELECT 4;"

    assert [one.split()[0] for one in statements(script)] == ["SELECT", "CREATE", "SELECT"]


def test_every_named_statement_can_be_prepared(ledger: SqliteLedger) -> None:
    def prepare(connection: sqlite3.Connection) -> int:
        for sql in named("ledger.sql").values():
            names = NAMED_VALUE.findall(sql)
            numbered = [int(mark) for mark in re.findall(r"\?(\d+)", sql)]
            marks = max(numbered, default=sql.count("?"))
            values = (None,) * marks if marks else dict.fromkeys(names)
            connection.execute(f"EXPLAIN {sql}", values)
        return len(named("ledger.sql"))

    assert ledger.database.read(prepare) > 40


def test_a_database_brings_its_schema_forward_one_number_at_a_time(tmp_path: Path) -> None:
    database = Database(str(tmp_path / "x.sqlite3"), family="ledger")

    (number,) = database.read(
        lambda connection: connection.execute("PRAGMA user_version").fetchone()
    )
    assert number == len(migrations("ledger"))
    database.close()


def test_a_ledger_of_the_first_schema_keeps_its_rows_and_gets_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    connection = sqlite3.connect(path)
    connection.executescript(migrations("ledger")[0])
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("INSERT INTO ledger_meta VALUES ('kept', 'yes')")
    connection.commit()
    connection.close()

    ledger = SqliteLedger.open(path)

    assert query(ledger, "SELECT value FROM ledger_meta WHERE name = 'kept'") == [("yes",)]
    assert query(ledger, "PRAGMA user_version") == [(len(migrations("ledger")),)]
    assert "schedules_queueing" in explained(ledger, "has_queues")
    asyncio.run(ledger.close())


def test_whatever_is_not_done_can_end() -> None:
    """The statement that writes ends relies on it."""
    assert {before for before, step in STEPS if step is Step.FINISH} == set(State) - {State.DONE}
