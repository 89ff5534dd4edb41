"""
Moving a ledger from a SQLite file to PostgreSQL: everything, once.

The file is owned while it is read, so that no other process writes to it. All rows are copied in
one transaction and compared there, and with them goes what the ledger has written down. Then the
file is marked as moved, and only then is the transaction committed. A move that dies in between
leaves a file that no worker runs any more, and the operator moves it again: either the database has
everything already, which it shows by the number of the move that both were given, or it is empty.
Where workers have begun anew meanwhile, or another file has arrived, it is refused. A run that was
in flight is lost, and its schedule's rule says what becomes of it.

Spec: PG-16, LEDGER-19, LEDGER-22.
"""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import IncompatibleStateError, StoreError, StoreHeldError
from gnomon.shell.store.database import Database
from gnomon.shell.store.instant_text import from_text
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.postgres.migration import migrate
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.statement import SCHEMA, Statements, placed_in
from gnomon.shell.store.postgres.zone_data import TZDATA
from gnomon.shell.store.sqlite import MOVED_TO

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["MOVED_FROM", "Moved", "move", "says_moved"]

MOVED_FROM = "moved_from"
"""Under this name a database says that it has everything of a file."""
_MOVE = "move"
"""Under this name both say which move it was: a path may mean another file on another day."""

Progress = Callable[[str, int, int], None]
"""Called with a table, how many of its rows have been copied, and how many it has."""

_TABLES = (
    "schedules", "schedule_revisions", "schedule_runs", "schedule_log", "expectations", "breaches",
    "dags", "removed_dags", "dag_runs", "dag_run_nodes",
)  # fmt: skip
_BOOLEANS = ("paused", "confirmed")
_PAGE = 5_000
_PATIENCE_MS = 600_000  # also for the file, which is counted and read between two statements
_SUMMARY = "SELECT state, outcome, count(*), sum(periods) FROM {} GROUP BY 1, 2"
_GO_ON = """
SELECT setval(pg_get_serial_sequence('{0}.schedule_log', 'number'), max(number))
FROM {0}.schedule_log
"""
_NOTES = "SELECT name, value FROM ledger_meta"
_ITS_OWN = ("schema", TZDATA, MOVED_TO, MOVED_FROM, _MOVE)
"""The notes that a store has about itself; all others are about the ledger, and go with it."""
_NEWEST = "SELECT idempotency_key FROM schedule_runs ORDER BY updated_at DESC LIMIT 1"
_LOST_MS = 0  # a lease that is over

Value = str | int | bool | None


class Moved(NamedTuple):
    """What was moved, or was there already."""

    rows: dict[str, int]
    is_new: bool


async def move(
    path: Path, url: str, progress: Progress, *, schema: str = SCHEMA, pooler: bool = False
) -> Moved:
    """Move a ledger; a `StoreError` when it cannot be, and then nothing has happened."""
    options = PoolOptions(statement_ms=_PATIENCE_MS, idle_ms=_PATIENCE_MS, pooler=pooler)
    sql, pool = Statements(schema), await Pool.open(url, options)
    try:
        says_moved(path)  # a file that is no ledger is refused before anything is made
        await migrate(pool, sql)
        ownership = _own(path)
        try:
            database = Database(str(path), family="ledger", owner=ownership)
            try:
                return await _move(database, pool, sql, progress)
            finally:
                database.close()
        finally:
            ownership.release()
    finally:
        await pool.close()


def says_moved(path: Path) -> bool:
    """Whether a file says that its ledger has moved; nothing of the file is changed."""
    try:
        database = Database(str(path), family="ledger", to_look=True)
    except IncompatibleStateError:
        return False  # a move begins with bringing it forward
    try:
        return _note(database, MOVED_TO) is not None
    finally:
        database.close()


def _own(path: Path) -> Ownership:
    try:
        return Ownership(lock_beside(str(path)))  # as who runs it does, by whatever name
    except StoreHeldError as error:
        raise StoreHeldError(
            error.holder, where=error.where, hint="stop that process, and move again"
        ) from error


async def _move(database: Database, pool: Pool, sql: Statements, progress: Progress) -> Moved:
    schema = sql.schema
    target = placed_in(pool.place, schema)
    async with pool.transaction() as connection:
        await connection.execute(f"LOCK TABLE {schema}.schedules IN EXCLUSIVE MODE")
        there = {table: await _count(connection, schema, table) for table in _TABLES}
        if any(there.values()):
            _expect_moved(database, target)
            if not await _has_arrived(connection, database, sql):
                full = [f"{schema}.{table}" for table, count in there.items() if count]
                raise await _not_there(connection, database, sql, target, full)
            return Moved(there, is_new=False)
        _expect_unmoved(database, target)
        copied = {
            table: await _copy(connection, database, schema, table, progress) for table in _TABLES
        }
        await connection.execute(_GO_ON.format(schema))
        await _bring_notes(connection, database, sql)
        await _compare(connection, database, target, schema)
        number = token_hex(16)
        await connection.execute(sql["set_meta"], MOVED_FROM, database.path)
        await connection.execute(sql["set_meta"], _MOVE, number)
        marks = [(MOVED_TO, target), (_MOVE, number)]
        database.write(lambda other: other.executemany(_MARK, marks))
    return Moved(copied, is_new=True)


async def _has_arrived(connection: "Connection", database: Database, sql: Statements) -> bool:
    """Whether what is there came from this file: both were given the number of one move."""
    here, there = _note(database, _MOVE), await connection.fetchval(sql["get_meta"], _MOVE)
    if here is not None or there is not None:
        return bool(here == there)
    # Older versions gave no numbers: it says that it came from a file, or has the newest row.
    if await connection.fetchval(sql["get_meta"], MOVED_FROM) is not None:
        return True
    newest = database.read(lambda other: other.execute(_NEWEST).fetchone())
    query = f"SELECT FROM {sql.schema}.schedule_runs WHERE idempotency_key = $1"
    return newest is None or await connection.fetchrow(query, newest[0]) is not None


async def _not_there(
    connection: "Connection", database: Database, sql: Statements, place: str, full: list[str]
) -> StoreError:
    """Why a file that says it has moved is not where it says; what is another's is left alone."""
    if await connection.fetchval(sql["get_meta"], MOVED_FROM) is None:
        return StoreError(
            "has a ledger that began anew, because the move died before its end", where=place,
            hint=f"stop its workers, TRUNCATE {', '.join(full)}, and move again",
        )  # fmt: skip
    return StoreError(
        f"has the ledger of another file, and nothing of {database.path}, which was to move there",
        where=place,
        hint=f"if nothing of it ran there, {_UNMARK} in {database.path}, "
        "and name a database or a schema that has no ledger",
    )


async def _count(connection: "Connection", schema: str, table: str) -> int:
    found: int = await connection.fetchval(
        f"SELECT count(*) FROM {schema}.{table}"  # noqa: S608 - names of our own
    )
    return found


_MARK = """
INSERT INTO ledger_meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_UNMARK = f"DELETE FROM ledger_meta WHERE name = '{MOVED_TO}'"  # noqa: S608 - a name of our own


def _note(database: Database, name: str) -> str | None:
    query = "SELECT value FROM ledger_meta WHERE name = ?"
    row = database.read(lambda other: other.execute(query, (name,)).fetchone())
    return None if row is None else str(row[0])


def _expect_moved(database: Database, place: str) -> None:
    if _note(database, MOVED_TO) != place:
        raise StoreError(
            "has a ledger already", where=place, hint="name a database or a schema that has none"
        )


def _expect_unmoved(database: Database, place: str) -> None:
    moved_to = _note(database, MOVED_TO)
    if moved_to is not None and moved_to != place:
        raise StoreError(
            f"has moved to {moved_to}", where=database.path, hint="it is there, or name that again"
        )


async def _copy(
    connection: "Connection", database: Database, schema: str, table: str, progress: Progress
) -> int:
    names = [
        row[1]
        for row in database.read(
            lambda other: other.execute(f"PRAGMA table_info({table})").fetchall()
        )
    ]
    count, total = 0, database.read(lambda other: _rows(other, table))
    for page in _pages(database, table):
        records = [_converted(names, row) for row in page]
        await connection.copy_records_to_table(
            table, schema_name=schema, columns=names, records=records
        )
        count += len(records)
        progress(table, count, total)
    return count


async def _bring_notes(connection: "Connection", database: Database, sql: Statements) -> None:
    """Copy what the ledger has written down; what other zone data computed is looked at again."""
    notes: dict[str, str] = dict(database.read(lambda other: other.execute(_NOTES).fetchall()))
    if notes.get(TZDATA) != await connection.fetchval(sql["get_meta"], TZDATA):
        await connection.execute(sql["wake_zoned"])
    for name, value in notes.items():
        if name not in _ITS_OWN:
            await connection.execute(sql["bring_note"], name, value)


def _rows(connection: sqlite3.Connection, table: str) -> int:
    (found,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - ours
    return int(found)


def _pages(database: Database, table: str) -> Iterator[list[tuple[Value, ...]]]:
    # The file is ours, so that one reading of it is one view, however many pages it takes.
    cursor = database.connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - our own name
    while page := cursor.fetchmany(_PAGE):
        yield page


def _converted(names: list[str], row: tuple[Value, ...]) -> tuple[Value, ...]:
    values = [_value(name, value) for name, value in zip(names, row, strict=True)]
    if "lease_until" in names and row[names.index("lease_until")] is not None:
        place = names.index("lease_until")
        if row[names.index("owner")] is not None:  # what no worker holds goes on
            values[place] = _LOST_MS
    return tuple(values)


def _value(name: str, value: Value) -> Value:
    if name in _BOOLEANS:
        return bool(value)
    if value is None or not name.endswith(("_at", "_until")):
        return value
    return from_text(str(value))


async def _compare(connection: "Connection", database: Database, place: str, schema: str) -> None:
    """Both must say the same about how many periods came to which end."""
    query = _SUMMARY.format(f"{schema}.schedule_runs")
    here = {tuple(row) for row in await connection.fetch(query)}
    rows = database.read(_summary)
    if here != rows:
        raise StoreError(
            "does not hold what was copied", where=place, hint="this is a defect; please report it"
        )


def _summary(connection: sqlite3.Connection) -> set[tuple[Value, ...]]:
    return set(connection.execute(_SUMMARY.format("schedule_runs")).fetchall())
