"""A ledger moves from SQLite to PostgreSQL: everything, once."""

import asyncio
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from gnomon.errors import StoreError, StoreHeldError
from gnomon.ports import By, Ended, Launched, RunRow, ScheduleRow
from gnomon.shell.store.database import Database
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.postgres.moving import Moved, move, says_moved
from gnomon.shell.store.postgres.pool import PoolOptions
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely
from tests.shell.store.postgres.fleet import commit_at, plan_at

Content = tuple[list[ScheduleRow], list[RunRow]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a run that ended, one in flight, a queue and a pause."""
    path = tmp_path / "ledger.sqlite3"

    async def fill() -> None:
        ledger = SqliteLedger.open(path)
        queue = minutely("queue", overlap_policy="queue", lease="1h", target={"run": "x"})
        await ledger.save_all([queue, minutely("other")], now_ms=at("00:00:30"))
        claims = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        other = next(one for one in claims if one.schedule.schedule_id == "other")
        await ledger.report([Ended(other.key, 1, True, "fine")], now_ms=at("00:01:10"))
        await commit_at(ledger, await plan_at(ledger, "00:02:00"), "00:02:00")
        await ledger.pause("other", until_ms=at("09:00:00"), reason="tea", now_ms=at("00:02:10"))
        await ledger.close()

    asyncio.run(fill())
    return path


async def content(ledger: SqliteLedger | PostgresLedger) -> Content:
    schedules = await ledger.schedules()
    runs = [run for row in schedules for run in await ledger.runs(row.schedule.schedule_id)]
    return schedules, [replace(run, lease_ms=None) for run in runs]


def moved(path: Path, url: str, schema: str) -> Moved:
    return asyncio.run(move(path, url, lambda *_: None, schema=schema))


async def empty(url: str, schema: str) -> None:
    connection = await asyncpg.connect(url)
    tables = ", ".join(f"{schema}.{name}" for name in ("schedules", "schedule_revisions"))
    await connection.execute(f"TRUNCATE {tables}, {schema}.schedule_runs")
    marks = "'moved_from', 'move'"
    await connection.execute(f"DELETE FROM {schema}.ledger_meta WHERE name IN ({marks})")
    await connection.close()


def unmark(path: Path, mark: str = "moved_to") -> None:
    database = Database(str(path), family="ledger")
    database.write(lambda one: one.execute("DELETE FROM ledger_meta WHERE name = ?", (mark,)))
    database.close()


@clause("PG-16")
def test_a_move_may_stand_still_for_longer_than_a_worker(
    path: Path, common_database: str, schema: str
) -> None:
    """As it does while the rows of a large file are counted."""

    async def rest() -> None:
        connection = await asyncpg.connect(common_database)
        await connection.execute("SELECT pg_sleep($1)", PoolOptions().idle_ms / 1000 + 0.5)
        await connection.close()

    def progress(table: str, count: int, total: int) -> None:
        if table == "schedules":
            with ThreadPoolExecutor() as beside:
                beside.submit(asyncio.run, rest()).result()

    assert asyncio.run(move(path, common_database, progress, schema=schema)).is_new


@clause("PG-16")
def test_everything_is_there_after_a_move(path: Path, common_database: str, schema: str) -> None:
    async def before() -> Content:
        ledger = SqliteLedger.open(path)
        try:
            return await content(ledger)
        finally:
            await ledger.close()

    async def after() -> Content:
        ledger = await PostgresLedger.open(common_database, schema=schema)
        try:
            return await content(ledger)
        finally:
            await ledger.close()

    expected = asyncio.run(before())
    rows = moved(path, common_database, schema).rows
    assert {table: count for table, count in rows.items() if count} == {
        "schedules": 2, "schedule_revisions": 2, "schedule_runs": 4,
    }  # fmt: skip
    assert asyncio.run(after()) == expected


@clause("PG-16", "PORT-7", "ASK-11")
def test_the_log_and_what_no_worker_holds_go_on_after_a_move(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    path = tmp_path / "service.sqlite3"

    async def fill() -> None:
        ledger = SqliteLedger.open(path)
        await ledger.save(minutely("one"), now_ms=at("00:00:30"), by=By("anna"))
        [claim] = await commit_at(ledger, await plan_at(ledger, "00:01:00"), "00:01:00")
        launched = Launched(claim.key, claim.fence, "run 7", detached_ms=3_600_000)
        await ledger.report([launched], now_ms=at("00:01:01"))
        await ledger.close()

    async def go_on() -> tuple[list[str], list[bool], list[str]]:
        ledger = await PostgresLedger.open(
            common_database, schema=schema, lease_time=LeaseTime.GIVEN
        )
        await ledger.pause("one", until_ms=None, reason="", now_ms=at("00:01:10"), by=By("boris"))
        dues = await ledger.load(now_ms=at("00:02:00"), limit=10)
        rows = await ledger.runs("one")
        log = await ledger.log()
        await ledger.close()
        lost = [due.schedule.schedule_id for due in dues if due.lost]
        return lost, [row.is_detached for row in rows], [line.subject for line in log]

    asyncio.run(fill())
    moved(path, common_database, schema)
    assert asyncio.run(go_on()) == ([], [True], ["boris", "anna"])


@clause("PG-16")
def test_a_run_in_flight_is_lost_with_the_move(
    path: Path, common_database: str, schema: str
) -> None:
    moved(path, common_database, schema)

    async def lost() -> set[str]:
        ledger = await PostgresLedger.open(common_database, schema=schema)
        dues = await ledger.load(now_ms=at("00:02:20"), limit=10)
        await ledger.close()
        return {due.schedule.schedule_id for due in dues if due.lost}

    assert asyncio.run(lost()) == {"other", "queue"}


@clause("PG-16")
def test_a_file_that_has_moved_is_not_run_any_more(
    path: Path, common_database: str, schema: str
) -> None:
    moved(path, common_database, schema)

    with pytest.raises(StoreError, match="has moved to postgresql://") as raised:
        SqliteLedger.open(path)
    assert raised.value.hint == "use --database and --schema with that address"


@clause("PG-16", "CLI-39")
def test_a_file_says_whether_it_has_moved_and_is_not_brought_forward_to_be_asked(
    path: Path, tmp_path: Path, common_database: str, schema: str
) -> None:
    older = tmp_path / "older.sqlite3"
    shutil.copy(path, older)
    with closing(sqlite3.connect(older)) as connection:
        connection.execute("PRAGMA user_version = 1")
    before = older.read_bytes()

    assert (says_moved(path), says_moved(older)) == (False, False)
    moved(path, common_database, schema)
    assert says_moved(path)
    assert older.read_bytes() == before


@clause("PG-16")
def test_moving_again_moves_nothing(path: Path, common_database: str, schema: str) -> None:
    first = moved(path, common_database, schema)

    assert moved(path, common_database, schema) == Moved(first.rows, is_new=False)


@clause("PG-16")
def test_a_move_that_died_before_its_commit_is_made_again(
    path: Path, common_database: str, schema: str
) -> None:
    first = moved(path, common_database, schema)
    asyncio.run(empty(common_database, schema))

    assert moved(path, common_database, schema) == first


@clause("PG-16")
def test_a_ledger_that_began_anew_after_a_move_that_died_is_not_taken_for_the_moved_one(
    path: Path, common_database: str, schema: str
) -> None:
    async def begin_anew() -> None:
        connection = await asyncpg.connect(common_database)
        await connection.execute(f"DROP SCHEMA {schema} CASCADE")
        await connection.close()
        ledger = await PostgresLedger.open(common_database, schema=schema)
        await ledger.save(minutely("queue"), now_ms=at("00:03:00"))
        await ledger.close()

    moved(path, common_database, schema)
    asyncio.run(begin_anew())

    with pytest.raises(StoreError, match="began anew, because the move died before") as raised:
        moved(path, common_database, schema)
    tables = f"{schema}.schedules, {schema}.schedule_revisions"
    assert raised.value.hint == f"stop its workers, TRUNCATE {tables}, and move again"


@clause("PG-16")
def test_a_file_is_not_said_to_be_there_where_another_arrived(
    path: Path, tmp_path: Path, common_database: str, schema: str
) -> None:
    other = tmp_path / "other.sqlite3"
    shutil.copy(path, other)
    moved(path, common_database, schema)
    asyncio.run(empty(common_database, schema))  # as after a death before the commit
    moved(other, common_database, schema)

    with pytest.raises(StoreError, match=f"another file, and nothing of {path}") as raised:
        moved(path, common_database, schema)
    assert raised.value.hint == (
        f"if nothing of it ran there, DELETE FROM ledger_meta WHERE name = 'moved_to' in {path}, "
        "and name a database or a schema that has no ledger"
    )
    unmark(path)
    assert moved(path, common_database, f"{schema}_new").is_new
    assert not moved(other, common_database, schema).is_new


@clause("PG-16")
def test_a_file_that_an_older_version_moved_is_said_to_be_there(
    path: Path, common_database: str, schema: str
) -> None:
    async def forget_the_number() -> None:
        connection = await asyncpg.connect(common_database)
        await connection.execute(f"DELETE FROM {schema}.ledger_meta WHERE name = 'move'")
        await connection.close()

    moved(path, common_database, schema)
    unmark(path, "move")
    asyncio.run(forget_the_number())

    assert not moved(path, common_database, schema).is_new


@clause("PG-16")
def test_a_database_with_another_ledger_is_refused_and_the_file_goes_on(
    path: Path, common_database: str, schema: str
) -> None:
    moved(path, common_database, schema)
    unmark(path)

    with pytest.raises(StoreError, match="has a ledger already") as raised:
        moved(path, common_database, schema)
    assert raised.value.hint == "name a database or a schema that has none"
    asyncio.run(SqliteLedger.open(path).close())


@clause("PG-16")
def test_a_file_that_a_process_runs_is_not_moved(
    path: Path, common_database: str, schema: str
) -> None:
    owner = SqliteLedger.open(path, exclusive=True)

    with pytest.raises(StoreHeldError, match="is held by pid") as raised:
        moved(path, common_database, schema)
    assert raised.value.hint == "stop that process, and move again"
    asyncio.run(owner.close())


@clause("PG-16", "LEDGER-12")
def test_a_file_that_a_process_runs_is_not_moved_under_another_name(
    path: Path, tmp_path: Path, common_database: str, schema: str
) -> None:
    owner = SqliteLedger.open(path, exclusive=True)
    link = tmp_path / "link.sqlite3"
    link.symlink_to(path)

    with pytest.raises(StoreHeldError, match="is held by pid"):
        moved(link, common_database, schema)
    asyncio.run(owner.close())


@clause("PG-16")
def test_a_file_that_is_no_ledger_leaves_the_database_as_it_was(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    path = tmp_path / "run.toml"
    path.write_text("[[schedule]]\n" * 100)

    with pytest.raises(StoreError, match="is not a database"):
        moved(path, common_database, schema)
    with pytest.raises(StoreError, match=f"has no ledger in the schema {schema}"):
        asyncio.run(PostgresLedger.look_into(common_database, schema=schema))
