"""
What `gnomon doctor`, `history` and `migrate-store` say about a ledger on PostgreSQL.

Spec: CLI-32, CLI-33, CLI-38 to CLI-41.
"""

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path

from gnomon.cli.ledger_view import NOT_EXAMINED, History, counted, findings_text, read_history
from gnomon.cli.problem import printable, store_problem
from gnomon.cli.screen import Json, render_json, say
from gnomon.compose.shared_database import SharedDatabase
from gnomon.errors import IncompatibleStateError, StoreError
from gnomon.shell.store.belonging import check_move
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.postgres.examination import Held, SharedExamination, examine_shared
from gnomon.shell.store.postgres.fault import looking
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.moving import Moved, move, says_moved
from gnomon.shell.store.postgres.presence import WorkerRow
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = ["move_text", "shared_doctor_text", "shared_history"]

_SQLITE = b"SQLite format 3\0"


def shared_doctor_text(database: SharedDatabase, *, as_json: bool) -> tuple[str, bool]:
    """The report on a ledger and its workers, and whether all is well."""
    with looking(database.schema):
        found = asyncio.run(
            examine_shared(database.url, schema=database.schema, pooler=database.pooler)
        )
    if as_json:
        return _json(found, database), not found.findings
    rows = [
        ("database", printable(database.place)),
        ("schema", f"{found.schema} (newest known: {found.schema_known})"),
        ("schedules", counted(found.schedules)),
        ("rows", counted(found.runs)),
        *_worker_lines(found),
    ]
    return findings_text(rows, found.findings)


def shared_history(database: SharedDatabase, name: str | None, limit: int) -> History:
    """The newest rows of one schedule, or of every schedule."""

    async def read() -> History:
        ledger = await PostgresLedger.look_into(
            database.url, schema=database.schema, options=database.options
        )
        try:
            return await read_history(ledger, database.place, name, limit)
        finally:
            await ledger.close()

    with looking(database.schema):
        return asyncio.run(read())


def move_text(store: Path, database: SharedDatabase) -> str:
    """Move a ledger from a file to a database, and say what was moved."""
    if not store.is_file():
        raise StoreError("is not there", where=str(store), hint="name the file of a ledger")
    _refuse_schedules(store)

    copied: dict[str, str] = {}

    def show(table: str, count: int, total: int) -> None:
        copied[table] = f"{count:,} of {total:,}"
        say(f"{table}: {copied[table]}", err=True)

    async def do() -> Moved:
        await _expect_its_door(store, database)
        schema, pooler = database.schema, database.pooler
        return await move(store, database.url, show, schema=schema, pooler=pooler)

    try:
        moved = asyncio.run(do())
    except KeyboardInterrupt:
        with contextlib.suppress(StoreError):  # of a file that cannot be read nothing has moved
            say(store_problem(_interrupted(store, copied)), err=True, nl=False)
        raise
    counts = ", ".join(f"{count:,} {table}" for table, count in moved.rows.items())
    if not moved.is_new:
        return f"It was there already: {counts}.\n"
    return f"Moved: {counts}. The file stays as it is, and is not run any more.\n"


async def _expect_its_door(store: Path, database: SharedDatabase) -> None:
    """Refuse a schema that another door has begun to use; it has no rows yet to be refused for."""
    async with contextlib.AsyncExitStack() as stack:
        try:
            here = SqliteLedger.look_into(store)
            stack.push_async_callback(here.close)
            there = await PostgresLedger.look_into(
                database.url, schema=database.schema, options=database.options
            )
            stack.push_async_callback(there.close)
        except (StoreError, IncompatibleStateError):
            return  # there is none yet, or the move says what is wrong
        hint = "name another schema with --schema"
        await check_move(here, there, name=store.name, place=database.place, hint=hint)


def _refuse_schedules(file: Path) -> None:
    """Say which file is meant when a file of schedules is named in the place of its ledger."""
    if file.suffix.lower() not in (".toml", ".yaml", ".yml"):
        return
    with file.open("rb") as content:
        if content.read(len(_SQLITE)) == _SQLITE:
            return  # a ledger may have any name
    ledger = file.with_suffix(".sqlite3")
    missing = "" if ledger.is_file() else ", which is not there, unless --store named another"
    raise StoreError(
        "is a file of schedules, and no ledger",
        where=str(file),
        hint=f"its ledger is {ledger}{missing}",
    )


def _interrupted(store: Path, copied: Mapping[str, str]) -> StoreError:
    """What a user who interrupted a move needs to know; the file knows how far it came."""
    if says_moved(store):
        return StoreError(
            "was interrupted at the very end of its move; it is not run any more, so that nothing "
            "is owed twice, and the database has all of it or nothing",
            where=str(store),
            hint="run the same command again: it says that everything is there, or moves it",
        )
    done = ", ".join(f"{table} {count}" for table, count in copied.items()) or "nothing"
    return StoreError(
        f"was interrupted in its move, with {done} copied; all of that was taken back, nothing has "
        "moved, and nothing is owed twice",
        where=str(store),
        hint="run the same command again to move everything; until then the file is the ledger",
    )


def _worker_lines(found: SharedExamination) -> list[tuple[str, str]]:
    if found.workers is None:
        return [("workers", NOT_EXAMINED)]
    return [("worker", printable(_line(one, found.held.get(one.owner)))) for one in found.workers]


def _line(worker: WorkerRow, held: Held | None) -> str:
    ago = f"heard of {worker.silent_ms // 1000} s ago"
    if not worker.is_silent:
        return f"{worker.owner}: {worker.state}, {_runs(worker.holding)} in hand, {ago}"
    # What it said last is long past; what is under its name in the ledger is not.
    now = "holds nothing any more" if held is None else f"still holds {_runs(held.runs)}"
    return f"{worker.owner}: silent, {now}, {ago}"


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"


def _json(found: SharedExamination, database: SharedDatabase) -> str:
    workers: Json = None
    if found.workers is not None:
        workers = [_worker(one, found.held.get(one.owner)) for one in found.workers]
    return render_json(
        {
            "database": found.place,
            "schemaName": database.schema,
            "schema": found.schema,
            "schemaKnown": found.schema_known,
            "schedules": found.schedules,
            "rows": found.runs,
            "workers": workers,
            "findings": [finding._asdict() for finding in found.findings],
        }
    )


def _worker(worker: WorkerRow, held: Held | None) -> dict[str, Json]:
    return {
        "owner": worker.owner,
        "host": worker.host,
        "pid": worker.pid,
        "state": "silent" if worker.is_silent else worker.state,
        "started": to_text(worker.started_ms),
        "seen": to_text(worker.seen_ms),
        "silentMs": worker.silent_ms,
        "aheadMs": worker.ahead_ms,
        "holding": worker.holding,
        "silent": worker.is_silent,
        "held": 0 if held is None else held.runs,
        "counters": dict(worker.counters),
    }
