"""
Committing changes on PostgreSQL: the guard, the facts, the claims.

Rows that another worker has are not waited for: whoever has one is faster. Most changes only add
rows; then the version of the schedule's row says if they hold, and one statement checks and
advances them all. The others take the rows they rewrite before they are judged. Each kind of row is
written by one statement, whatever their number. A new key that exists already makes
the whole transaction begin again; that hardly ever happens, so nobody looks beforehand.

Spec: LEDGER-4, LEDGER-6, LEDGER-7, PG-1, PG-2.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact
from gnomon.ports import Claim
from gnomon.shell.store.claim_rows import (
    Written,
    add_claims,
    may_follow,
    next_fence,
    standing,
    status_word,
    with_current_version,
    without_known_keys,
)
from gnomon.shell.store.postgres.kinds import Kinds
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["KeyExistsError", "Turn", "commit", "insert_facts"]

_MS = timedelta(milliseconds=1)


class KeyExistsError(Exception):
    """A key that was to be added is there; the transaction is to be made again, with care."""


class Turn(NamedTuple):
    """What is the same for all changes of one commit."""

    owner: str
    confirmed: bool
    now_ms: int
    lease_now_ms: int | None


async def commit(
    connection: "Connection", sql: Statements, changes: Sequence[Change], turn: Turn, *,
    careful: bool,
) -> tuple[list[Change], list[Claim]]:  # fmt: skip
    """Write the changes that still hold; return them and their claims."""
    plain: dict[str, Change] = {}
    others: list[Change] = []
    for change in changes:
        if careful or not all(fact.is_new for fact in change.facts):
            others.append(change)
        else:
            # A second one of the same schedule is planned from the past.
            plain.setdefault(change.schedule.schedule_id, change)
    winners = await _advance_plain(connection, sql, plain, turn) if plain else []
    written: dict[str, Written] = {}
    if others:
        more, written = await _guarded(connection, sql, others, turn, careful=careful)
        await _advance(connection, sql, more, turn)
        winners += more
    await _write_facts(connection, sql, winners, written, turn)
    resumed = [change.schedule.schedule_id for change in winners if change.resumes]
    if resumed:
        await connection.execute(sql["end_pause"], resumed)
    claims: list[Claim] = []
    for change in winners:
        add_claims(claims, change, written)
    return winners, claims


async def insert_facts(
    connection: "Connection", sql: Statements, rows: Sequence[tuple[Fact, str, int]], now_ms: int
) -> None:
    """New rows that are no claims: each fact with its schedule and revision."""
    if not rows:
        return
    values = [
        (
            fact.key, schedule_id, fact.nominal * 1000, status_word(fact),
            fact.last_nominal * 1000 if fact.last_nominal else None, fact.periods, fact.fire_ms,
            fact.state.value, fact.outcome and fact.outcome.value,
            fact.reason and fact.reason.value, fact.launches, revision,
        )
        for fact, schedule_id, revision in rows
    ]  # fmt: skip
    await _insert(connection, sql["insert_runs"], *zip(*values, strict=True), now_ms)


async def _advance_plain(
    connection: "Connection", sql: Statements, changes: dict[str, Change], turn: Turn
) -> list[Change]:
    """Advance what is free and has its version still, by one statement: those are the winners."""
    kinds = Kinds()
    versions = [change.version for change in changes.values()]
    numbers = [kinds.number(*_place(change)) for change in changes.values()]
    taken = await connection.fetch(
        sql["advance_free"], list(changes), versions, numbers, *kinds.columns(), turn.now_ms
    )
    won = {row[0] for row in taken}
    return [change for schedule_id, change in changes.items() if schedule_id in won]


async def _guarded(
    connection: "Connection", sql: Statements, changes: list[Change], turn: Turn, *, careful: bool
) -> tuple[list[Change], dict[str, Written]]:
    """The changes that hold, with the rows taken that they rewrite; and those rows."""
    ids = [change.schedule.schedule_id for change in changes]
    free = await connection.fetch(sql["take_free"], ids)
    winners = with_current_version(changes, {row[0]: row[1] for row in free})
    keys = [fact.key for change in winners for fact in change.facts if not fact.is_new]
    written: dict[str, Written] = {}
    if keys:
        found = await connection.fetch(sql["written_runs"], keys, turn.lease_now_ms)
        written = {row[0]: Written(*row[1:]) for row in found}
        winners = [change for change in winners if may_follow(change, written)]
    if careful:
        keys = [fact.key for change in winners for fact in change.facts if fact.is_new]
        known = await connection.fetch(sql["known_keys"], keys)
        winners = without_known_keys(winners, {row[0] for row in known})
    return winners, written


async def _write_facts(
    connection: "Connection", sql: Statements, winners: list[Change],
    written: dict[str, Written], turn: Turn,
) -> None:  # fmt: skip
    claims, others, updates, kinds = [], [], [], Kinds()
    for change in winners:
        schedule_id, revision = change.schedule.schedule_id, change.revision
        lease_ms = change.schedule.policy.lease // _MS
        for fact in change.facts:
            if not fact.is_new:
                updates.append(_update(standing(fact, written[fact.key]), written, lease_ms))
            elif fact.state is State.CLAIMED:
                kind = fact.nominal * 1000, fact.fire_ms, fact.launches, revision, lease_ms
                claims.append((fact.key, schedule_id, kinds.number(*kind)))
            else:
                others.append((fact, schedule_id, revision))
    if claims:
        await _insert(
            connection, sql["insert_claims"], *zip(*claims, strict=True), *kinds.columns(), *turn
        )
    await insert_facts(connection, sql, others, turn.now_ms)
    if updates:
        columns = zip(*updates, strict=True)
        await connection.execute(sql["change_runs"], *columns, *turn)


def _update(fact: Fact, written: dict[str, Written], lease_ms: int) -> tuple[str | int | None, ...]:
    is_claim = fact.state is State.CLAIMED
    return (
        fact.key, fact.state.value, fact.outcome and fact.outcome.value,
        fact.reason and fact.reason.value, status_word(fact), fact.fire_ms, fact.launches,
        next_fence(fact, written[fact.key]), lease_ms if is_claim else None,
    )  # fmt: skip


async def _advance(
    connection: "Connection", sql: Statements, winners: list[Change], turn: Turn
) -> None:
    if winners:
        rows = [(change.schedule.schedule_id, *_place(change)) for change in winners]
        await connection.execute(sql["advance"], *zip(*rows, strict=True), turn.now_ms)


def _place(change: Change) -> tuple[int, int | None, int | None]:
    """Where a schedule is after a change: its cursor, the next nominal instant, its wake."""
    next_ms = None if change.following is None else change.following * 1000
    return change.cursor * 1000, next_ms, change.wake_ms


async def _insert(connection: "Connection", statement: str, *values: object) -> None:
    try:
        await connection.execute(statement, *values)
    except asyncpg.UniqueViolationError:
        raise KeyExistsError from None
