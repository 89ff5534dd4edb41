"""What a ledger has written down goes with it when it moves from SQLite to PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from gnomon.shell.store.belonging import FILE_NAME
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.postgres.moving import move
from gnomon.shell.store.postgres.zone_data import TZDATA
from gnomon.shell.store.sqlite import SqliteLedger
from tests.clauses import clause
from tests.contract.ledger_desk import at, minutely

_Result = TypeVar("_Result")


def fill(path: Path, work: Callable[[SqliteLedger], Awaitable[None]]) -> None:
    async def filled() -> None:
        ledger = SqliteLedger.open(path)
        try:
            await work(ledger)
        finally:
            await ledger.close()

    asyncio.run(filled())


def ask(url: str, schema: str, work: Callable[[PostgresLedger], Awaitable[_Result]]) -> _Result:
    async def asked() -> _Result:
        ledger = await PostgresLedger.open(url, schema=schema, lease_time=LeaseTime.GIVEN)
        try:
            return await work(ledger)
        finally:
            await ledger.close()

    return asyncio.run(asked())


def move_it(path: Path, url: str, schema: str) -> None:
    assert asyncio.run(move(path, url, lambda *_: None, schema=schema)).is_new


async def forget(ledger: SqliteLedger | PostgresLedger, *, revisions: int) -> None:
    """A schedule that had some revisions, and of which nothing is left."""
    for number in range(revisions):
        await ledger.save(minutely("gone", lease=f"{number + 1}m"), now_ms=at("00:00:30"))
    await ledger.delete("gone", now_ms=at("00:00:40"))
    await ledger.retain(before_ms=at("01:00:00"), limit=10)


async def save_again(ledger: PostgresLedger) -> int:
    return (await ledger.save(minutely("gone"), now_ms=at("01:00:00"))).revision


async def loaded(ledger: PostgresLedger) -> list[str]:
    dues = await ledger.load(now_ms=at("00:00:31"), limit=10)
    return [due.schedule.schedule_id for due in dues]


async def save_tokyo(ledger: SqliteLedger) -> None:
    tokyo = minutely("tokyo", timezone="Asia/Tokyo", cron_expr="0 12 * * *")
    await ledger.save_all([tokyo, minutely("utc")], now_ms=at("00:00:30"))


@clause("PG-16", "CLI-35")
def test_a_ledger_that_moved_still_belongs_to_its_file_of_schedules(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    async def run_a_file(ledger: SqliteLedger) -> None:
        await ledger.save(minutely("one"), now_ms=at("00:00:30"))
        await ledger.set_note(FILE_NAME, "run.toml")

    fill(tmp_path / "run.sqlite3", run_a_file)
    move_it(tmp_path / "run.sqlite3", common_database, schema)

    name = ask(common_database, schema, lambda ledger: ledger.note(FILE_NAME))
    assert name == "run.toml"


@clause("PG-16")
def test_what_a_database_says_about_itself_is_not_taken_from_the_file(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    async def write_down(ledger: SqliteLedger) -> None:
        for name in ("schema", "moved_from", TZDATA, "anything"):
            await ledger.set_note(name, "of the file")

    async def notes(ledger: PostgresLedger) -> set[str]:
        query = f"SELECT name FROM {schema}.ledger_meta WHERE value = 'of the file'"
        return {row[0] for row in await ledger.pool.fetch(query)}

    fill(tmp_path / "ledger.sqlite3", write_down)
    move_it(tmp_path / "ledger.sqlite3", common_database, schema)

    assert ask(common_database, schema, notes) == {"anything"}


@clause("PG-16", "LEDGER-19")
def test_no_number_of_a_revision_is_given_twice_after_a_move(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    fill(tmp_path / "ledger.sqlite3", lambda ledger: forget(ledger, revisions=2))
    move_it(tmp_path / "ledger.sqlite3", common_database, schema)

    assert ask(common_database, schema, save_again) == 3


@clause("PG-16", "LEDGER-19")
def test_no_number_that_the_database_gave_before_a_move_is_given_again(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    ask(common_database, schema, lambda ledger: forget(ledger, revisions=3))
    fill(tmp_path / "ledger.sqlite3", lambda ledger: forget(ledger, revisions=2))
    move_it(tmp_path / "ledger.sqlite3", common_database, schema)

    assert ask(common_database, schema, save_again) == 4


@clause("PG-16", "LEDGER-22")
def test_what_older_zone_data_computed_is_looked_at_once_after_a_move(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    async def save_long_ago(ledger: SqliteLedger) -> None:
        await save_tokyo(ledger)
        await ledger.set_note(TZDATA, "1999a")

    fill(tmp_path / "ledger.sqlite3", save_long_ago)
    move_it(tmp_path / "ledger.sqlite3", common_database, schema)

    assert ask(common_database, schema, loaded) == ["tokyo"]


@clause("PG-16", "LEDGER-22")
def test_what_the_same_zone_data_computed_is_moved_as_it_is(
    tmp_path: Path, common_database: str, schema: str
) -> None:
    fill(tmp_path / "ledger.sqlite3", save_tokyo)
    move_it(tmp_path / "ledger.sqlite3", common_database, schema)

    assert ask(common_database, schema, loaded) == []
