"""
What people ask of a ledger on PostgreSQL: run it now, make up for these, leave that out, end this.

Each takes the row of its schedule first, so that two callers that ask for the same ask once. The
workers are told when the transaction is committed.

Spec: ASK-1, ASK-2, ASK-7 to ASK-10.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gnomon.core.ledger.period import Fact
from gnomon.ports import By, RunRow
from gnomon.shell.store.asking import (
    Triggered,
    backfill_facts,
    manual_fact,
    next_ahead,
    read_skips,
    write_skips,
)
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.history import run_of
from gnomon.shell.store.postgres.commitment import insert_facts
from gnomon.shell.store.postgres.logbook import logged
from gnomon.shell.store.postgres.reading import definitions
from gnomon.shell.store.postgres.report import notify
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.postgres.transaction import PostgresTransaction

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["backfill", "kill", "run", "skip_next", "trigger"]


async def trigger(
    connection: "Connection", sql: Statements, schedule_id: str, *, name: str, now_ms: int,
    nominal: int | None = None, params: str | None = None,
) -> Triggered:  # fmt: skip
    fact = manual_fact(schedule_id, name, now_ms, nominal)
    added = await _add(connection, sql, schedule_id, [fact], now_ms)
    if added is None:
        return Triggered()
    if added and params is not None:
        await connection.execute(sql["give_params"], fact.key, params)
    return Triggered(await run(connection, sql, fact.key), added > 0)


async def backfill(
    connection: "Connection", sql: Statements, schedule_id: str, *, name: str,
    nominals: Sequence[int], now_ms: int,
) -> int | None:  # fmt: skip
    facts = backfill_facts(schedule_id, name, nominals, now_ms)
    return await _add(connection, sql, schedule_id, facts.values(), now_ms)


async def skip_next(
    connection: "Connection", sql: Statements, cache: DefinitionCache, schedule_id: str, *,
    now_ms: int,
) -> int | None:  # fmt: skip
    head = await _head(connection, sql, schedule_id)
    if head is None:
        return None
    revision, cursor, text = head
    waiting = await connection.fetchrow(sql["next_waiting"], schedule_id, now_ms)
    if waiting is not None:
        await connection.execute(sql["leave_out"], waiting[0], now_ms)
        await connection.execute(sql["new_versions"], [schedule_id], now_ms)
        return int(waiting[1]) // 1000
    skips = read_skips(text, cursor)
    found, errors = await definitions(connection, sql, cache, [(schedule_id, revision)])
    for error in errors:
        raise error
    nominal = next_ahead(found[schedule_id].schedule, cursor, skips, now_ms=now_ms)
    if nominal is not None:
        text = write_skips([*skips, nominal])
        await connection.execute(sql["set_skips"], schedule_id, text, now_ms)
    return nominal


async def kill(
    connection: "Connection", sql: Statements, key: str, *, by: By, now_ms: int
) -> RunRow | None:
    # A run in flight is taken before its schedule, as by its end; what waits is taken after it.
    schedule_id = await connection.fetchval(sql["take_in_flight"], key)
    if schedule_id is None:
        schedule_id = await connection.fetchval(sql["schedule_of_run"], key)
    return await logged(
        connection, sql, by, "kill", schedule_id or "", now_ms, nothing=None,
        work=lambda: _kill(connection, sql, schedule_id, key, by, now_ms),
        changed=lambda row: row is not None and row.kill_ms == now_ms,
    )  # fmt: skip


async def _kill(
    connection: "Connection", sql: Statements, schedule_id: str, key: str, by: By, now_ms: int
) -> RunRow | None:
    if await connection.fetchval(sql["ask_to_end"], key, by.subject, now_ms):
        await connection.execute(sql["end_waiting"], key, now_ms)
        # A plan that starts it, made before and not yet committed, does not count any more.
        await connection.execute(sql["wake"], [schedule_id], [now_ms], now_ms)
    await notify(connection, sql)
    return await run(connection, sql, key)


async def run(connection: "Connection", sql: Statements, key: str) -> RunRow | None:
    return await run_of(PostgresTransaction(connection, sql), key)


async def _add(
    connection: "Connection", sql: Statements, schedule_id: str, facts: Iterable[Fact], now_ms: int
) -> int | None:
    """Add what is not there yet; how many that are, None when there is no such schedule."""
    head = await _head(connection, sql, schedule_id)
    if head is None:
        return None
    rows = await connection.fetch(sql["known_keys"], [fact.key for fact in facts])
    known = {row[0] for row in rows}
    new = [(fact, schedule_id, head[0]) for fact in facts if fact.key not in known]
    if new:
        await insert_facts(connection, sql, new, now_ms)
        await connection.execute(sql["wake"], [schedule_id], [now_ms], now_ms)
        await notify(connection, sql)
    return len(new)


async def _head(
    connection: "Connection", sql: Statements, schedule_id: str
) -> tuple[int, int, str] | None:
    """Take a schedule: its revision, cursor and what is left out; None when it is not there."""
    row = await connection.fetchrow(sql["asked_head"], schedule_id)
    return None if row is None else (row[0], row[1] // 1000, row[2])
