"""
Committing changes on PostgreSQL: the guard, the facts, the claims.

Rows that another worker has are not waited for: that worker is faster. Most changes claim one new
period, and one statement checks, advances and claims them all. Of others that only add rows the
version of the schedule's row says if they hold; the rest take the rows they rewrite before they are
judged. Each kind of row is written by one statement, whatever their number. A new key that exists
already makes the whole transaction begin again; that hardly ever happens, so it is not looked for
beforehand.

Spec: LEDGER-4, LEDGER-6, LEDGER-7, PG-1, PG-2.
"""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import asyncpg

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact
from gnomon.ports import Claim, Committed
from gnomon.shell.store.claim_rows import (
    Written,
    as_written,
    claims_of,
    may_follow,
    next_fence,
    status_word,
    with_current_version,
    without_known_keys,
)
from gnomon.shell.store.postgres.kinds import Kinds, joined
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["KeyExistsError", "Sorted", "Turn", "commit", "sort_out"]

_MS = timedelta(milliseconds=1)


class KeyExistsError(Exception):
    """A key that was to be added is there; the transaction is to be made again, with care."""


class Turn(NamedTuple):
    """What is the same for all changes of one commit."""

    owner: str
    confirmed: bool
    now_ms: int
    lease_now_ms: int | None


class Sorted(NamedTuple):
    """The changes of one commit by how they are written."""

    single: dict[str, Change]
    """Those that claim one new period and nothing else, by schedule."""
    plain: dict[str, Change]
    """Others that only add rows."""
    others: list[Change]
    careful: bool
    resumes: bool
    """Whether one of them ends a pause."""

    @property
    def is_one_statement(self) -> bool:
        """Whether one statement writes them all, so that it need not be told where to begin."""
        return not (self.plain or self.others or self.resumes)


def sort_out(changes: Sequence[Change], *, careful: bool) -> Sorted:
    """How each change is to be written; all of them with care, where a key has turned up."""
    single: dict[str, Change] = {}
    plain: dict[str, Change] = {}
    others: list[Change] = []
    resumes, claimed = False, State.CLAIMED
    for change in changes:
        schedule, _, _, _, _, facts, _, ends_pause, _ = change
        resumes = resumes or ends_pause
        if careful or not _only_adds(facts):
            others.append(change)
            continue
        # A second one of the same schedule is planned from the past.
        schedule_id = schedule.schedule_id
        if schedule_id not in single and schedule_id not in plain:
            is_claim = len(facts) == 1 and facts[0].state is claimed
            (single if is_claim else plain)[schedule_id] = change
    return Sorted(single, plain, others, careful, resumes)


async def commit(
    connection: "Connection", sql: Statements, changes: Sorted, turn: Turn
) -> Committed:
    """Write the changes that still hold; return them and their claims."""
    single, plain, others, careful, resumes = changes
    claimed, claims = await _claim_single(connection, sql, single, turn) if single else ([], [])
    winners = await _advance_plain(connection, sql, plain, turn) if plain else []
    written: dict[str, Written] = {}
    if others:
        more, written = await _guarded(connection, sql, others, turn, careful=careful)
        await _advance(connection, sql, more, turn)
        winners += more
    await _write_facts(connection, sql, winners, written, turn)
    claims += claims_of(winners, written)
    winners = claimed + winners
    if resumes:
        resumed = [change.schedule.schedule_id for change in winners if change.resumes]
        await connection.execute(sql["end_pause"], resumed)
    return Committed(winners, claims)


async def _insert_facts(
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


def _only_adds(facts: Sequence[Fact]) -> bool:
    for fact in facts:  # noqa: SIM110 - a generator would take three times as long
        if not fact.is_new:
            return False
    return True


async def _claim_single(
    connection: "Connection", sql: Statements, changes: dict[str, Change], turn: Turn
) -> tuple[list[Change], list[Claim]]:
    """Advance and claim what is free and has its version still, all by one statement."""
    keys, versions, numbers, kinds = [], [], [], Kinds()
    known: dict[tuple[int | timedelta | None, ...], str] = {}
    for schedule, version, cursor, following, wake_ms, (fact,), *_, revision in changes.values():
        key, nominal, fire_ms, _, _, _, launches, *_ = fact
        keys.append(key)
        versions.append(str(version))
        lease = schedule.policy.lease
        kind = cursor, following, wake_ms, nominal, fire_ms, launches, revision, lease
        number = known.get(kind)
        if number is None:
            next_ms = None if following is None else following * 1000
            number = known[kind] = str(kinds.number(
                cursor * 1000, next_ms, wake_ms, nominal * 1000, fire_ms, launches, revision,
                lease // _MS,
            ))  # fmt: skip
        numbers.append(number)
    asked = connection.fetch(
        sql["claim_free"], *joined(changes, versions, keys, numbers), *kinds.columns(), *turn
    )
    try:
        # What all of them would win is put together while the database is at work.
        lost, claims = await asyncio.gather(asked, _claims_of(changes.values()))
    except asyncpg.UniqueViolationError:
        raise KeyExistsError from None
    if not lost:
        return list(changes.values()), claims
    losers = {row[0] for row in lost}
    winners = [change for schedule_id, change in changes.items() if schedule_id not in losers]
    return winners, claims_of(winners, {})


async def _claims_of(changes: Iterable[Change]) -> list[Claim]:
    return claims_of(changes, {})


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
    return as_written(winners, written), written


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
                updates.append(_update(fact, written, lease_ms))
            elif fact.state is State.CLAIMED:
                kind = fact.nominal * 1000, fact.fire_ms, fact.launches, revision, lease_ms
                claims.append((fact.key, schedule_id, kinds.number(*kind)))
            else:
                others.append((fact, schedule_id, revision))
    if claims:
        await _insert(
            connection, sql["insert_claims"], *zip(*claims, strict=True), *kinds.columns(), *turn
        )
    await _insert_facts(connection, sql, others, turn.now_ms)
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
