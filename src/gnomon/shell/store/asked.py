"""
What people ask of a ledger: run it now, make up for these, leave that out, end this.

What such a request comes to is decided in `asking`; here it is written down, and the schedule is
looked at again. Each takes the row of its schedule first, so that two callers that ask for the same
ask once. A run that never began is ended here; one in flight, or that may be, is marked for the
worker that holds it, or can end it. The workers are told when the transaction is committed.

Spec: ASK-1, ASK-2, ASK-7 to ASK-10.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

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
from gnomon.shell.store.logbook import logged
from gnomon.shell.store.new_runs import add_runs
from gnomon.shell.store.transaction import Transaction

__all__ = ["AskedHead", "backfill", "kill", "skip_next", "taken", "trigger"]


class AskedHead(NamedTuple):
    """A schedule that something is asked of."""

    revision: int
    cursor_at: int
    skips: str


class _WaitingRow(NamedTuple):
    idempotency_key: str
    run_at: int


class _KeyRow(NamedTuple):
    idempotency_key: str


class _IdRow(NamedTuple):
    schedule_id: str


async def trigger(
    transaction: Transaction, schedule_id: str, *, name: str, now_ms: int,
    nominal: int | None = None, params: str | None = None,
) -> Triggered:  # fmt: skip
    fact = manual_fact(schedule_id, name, now_ms, nominal)
    added = await _add(transaction, schedule_id, [fact], now_ms)
    if added is None:
        return Triggered()
    if added and params is not None:
        await transaction.run("give_params", key=fact.key, params=params)
    return Triggered(await run_of(transaction, fact.key), added > 0)


async def backfill(
    transaction: Transaction, schedule_id: str, *, name: str, nominals: Sequence[int], now_ms: int
) -> int | None:
    facts = backfill_facts(schedule_id, name, nominals, now_ms)
    return await _add(transaction, schedule_id, facts.values(), now_ms)


async def skip_next(
    transaction: Transaction, cache: DefinitionCache, schedule_id: str, *, now_ms: int
) -> int | None:
    head = await taken(transaction, schedule_id)
    if head is None:
        return None
    waiting = await transaction.rows(_WaitingRow, "next_waiting", id=schedule_id, now_at=now_ms)
    if waiting:
        ((key, run_ms),) = waiting
        await transaction.run("leave_out", key=key, now_at=now_ms)
        await transaction.run("new_versions", ids=[schedule_id], now_at=now_ms)
        return run_ms // 1000
    cursor = head.cursor_at // 1000
    skips = read_skips(head.skips, cursor)
    found, errors = await cache.find_in(transaction, [(schedule_id, head.revision)])
    for error in errors:
        raise error
    nominal = next_ahead(found[schedule_id].schedule, cursor, skips, now_ms=now_ms)
    if nominal is not None:
        text = write_skips([*skips, nominal])
        await transaction.run("set_skips", id=schedule_id, skips=text, now_at=now_ms)
    return nominal


async def kill(transaction: Transaction, key: str, *, by: By, now_ms: int) -> RunRow | None:
    # A run in flight is taken before its schedule, as by its end; what waits is taken after it.
    rows = await transaction.rows(_IdRow, "take_in_flight", key=key)
    rows = rows or await transaction.rows(_IdRow, "schedule_of_run", key=key)
    schedule_id = rows[0].schedule_id if rows else ""

    async def work() -> RunRow | None:
        if await transaction.run("ask_to_end", key=key, by=by.subject, now_at=now_ms):
            await transaction.run("end_waiting", key=key, now_at=now_ms)
            # A plan that starts it, made before and not yet committed, does not count any more.
            await transaction.run("wake_now", id=schedule_id, now_at=now_ms)
        await transaction.tell_workers()
        return await run_of(transaction, key)

    return await logged(
        transaction, by, "kill", schedule_id, now_ms, nothing=None, work=work,
        changed=lambda row: row is not None and row.kill_ms == now_ms,
    )  # fmt: skip


async def taken(transaction: Transaction, schedule_id: str) -> AskedHead | None:
    """Take a schedule: its revision, cursor and what is left out; None when it is not there."""
    rows = await transaction.rows(AskedHead, "asked_head", id=schedule_id)
    return rows[0] if rows else None


async def _add(
    transaction: Transaction, schedule_id: str, facts: Iterable[Fact], now_ms: int
) -> int | None:
    """Add what is not there yet; how many that are, None when there is no such schedule."""
    head = await taken(transaction, schedule_id)
    if head is None:
        return None
    facts = list(facts)
    rows = await transaction.rows(_KeyRow, "known_keys", keys=[fact.key for fact in facts])
    known = {row.idempotency_key for row in rows}
    new = [(fact, schedule_id, head.revision) for fact in facts if fact.key not in known]
    if new:
        await add_runs(transaction, new, now_ms)
        await transaction.run("wake_now", id=schedule_id, now_at=now_ms)
        await transaction.tell_workers()
    return len(new)
