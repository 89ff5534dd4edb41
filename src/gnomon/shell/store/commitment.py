"""
Committing changes: the guard, the facts, the claims.

A change counts only if its schedule still has the version it was planned from; if every row it
changes may take that step; if a run it takes from a lost worker is lost still; and if no key it
adds is there already. Otherwise somebody was faster, and the change is dropped as a whole.

Spec: LEDGER-4, LEDGER-6, LEDGER-7.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import timedelta

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import STEPS, WAITING, Outcome, Reason, State, status_of
from gnomon.core.ledger.period import Fact
from gnomon.ports import Claim
from gnomon.shell.store.instant_text import maybe_to_text, to_text
from gnomon.shell.store.queries import named

__all__ = ["Parameters", "commit", "insert_runs", "new_row"]

Parameters = tuple[str | int | None, ...]
"""The values of one statement."""

_SQL = named("ledger.sql")
_MS = timedelta(milliseconds=1)
_ALLOWED = {(before.value, after.value) for (before, _), after in STEPS.items()} | {
    (state.value, state.value) for state in WAITING
}

_Written = tuple[str, int, str | None, str | None]
"""State, fence, lease and outcome of a row that is there."""


_Winner = tuple[Change, int]
"""A change that holds, with the revision in force."""


class _Turn:
    """What is the same for all changes of one commit."""

    __slots__ = ("_leases", "confirmed", "now", "now_ms", "owner")

    def __init__(self, owner: str, confirmed: bool, now_ms: int) -> None:
        self.owner = owner
        self.confirmed = int(confirmed)
        self.now_ms = now_ms
        self.now = to_text(now_ms)
        self._leases: dict[timedelta, str] = {}

    def lease_until(self, lease: timedelta) -> str:
        text = self._leases.get(lease)
        if text is None:
            text = self._leases[lease] = to_text(self.now_ms + lease // _MS)
        return text


def commit(
    connection: sqlite3.Connection, changes: Sequence[Change], *, owner: str, confirmed: bool,
    now_ms: int,
) -> list[Claim]:  # fmt: skip
    """Write the changes that still hold; return their claims."""
    turn = _Turn(owner, confirmed, now_ms)
    winners = _with_current_version(connection, changes)
    written = _written(connection, (fact for change, _ in winners for fact in change.facts))
    winners = [winner for winner in winners if _may_follow(winner[0], written, turn.now)]
    connection.execute("SAVEPOINT facts")
    try:
        _write_facts(connection, winners, written, turn)
    except sqlite3.IntegrityError:
        # A new key is there already. That hardly ever happens, so nobody looks beforehand.
        connection.execute("ROLLBACK TO facts")
        winners = _without_known_keys(connection, winners)
        _write_facts(connection, winners, written, turn)
    _advance(connection, winners, turn.now)
    return [claim for change, _ in winners for claim in _claims(change, written)]


def insert_runs(connection: sqlite3.Connection, rows: Iterable[Parameters]) -> None:
    connection.executemany(_SQL["insert_run"], rows)


def new_row(fact: Fact, schedule_id: str, revision: int, now: str) -> Parameters:
    """The row of a new fact that is not a claim."""
    is_done = fact.state is State.DONE
    return (
        fact.key, schedule_id, to_text(fact.nominal * 1000), _status(fact), now, now,
        to_text(fact.last_nominal * 1000) if fact.last_nominal else None, fact.periods,
        to_text(fact.fire_ms), fact.state.value, fact.outcome and fact.outcome.value,
        fact.reason and fact.reason.value, fact.launches, 0, None, None, 0, revision,
        now if is_done else None,
    )  # fmt: skip


def _with_current_version(
    connection: sqlite3.Connection, changes: Sequence[Change]
) -> list[_Winner]:
    """The changes that were planned from the present version, with the present revision."""
    ids = json.dumps([change.schedule.schedule_id for change in changes])
    rows = connection.execute(_SQL["versions"], {"ids": ids})
    current = {schedule_id: (version, revision) for schedule_id, version, revision in rows}
    winners = []
    for change in changes:
        found = current.get(change.schedule.schedule_id)
        if found is not None and found[0] == change.version:
            winners.append((change, found[1]))
            del current[change.schedule.schedule_id]  # a second one is planned from the past
    return winners


def _written(connection: sqlite3.Connection, facts: Iterable[Fact]) -> dict[str, _Written]:
    keys = [fact.key for fact in facts if not fact.is_new]
    if not keys:
        return {}
    rows = connection.execute(_SQL["written_runs"], {"keys": json.dumps(keys)})
    return {key: (state, fence, lease, outcome) for key, state, fence, lease, outcome in rows}


def _may_follow(change: Change, written: dict[str, _Written], now: str) -> bool:
    for fact in change.facts:
        if fact.is_new:
            continue
        row = written.get(fact.key)
        if row is None or (row[0], fact.state.value) not in _ALLOWED:
            return False
        if row[2] is not None and row[2] >= now:
            return False  # its worker has been heard of since
    return True


def _without_known_keys(connection: sqlite3.Connection, winners: list[_Winner]) -> list[_Winner]:
    keys = [fact.key for change, _ in winners for fact in change.facts if fact.is_new]
    rows = connection.execute(_SQL["written_runs"], {"keys": json.dumps(keys)})
    known = {row[0] for row in rows}
    return [
        (change, revision)
        for change, revision in winners
        if not any(fact.is_new and fact.key in known for fact in change.facts)
    ]


def _write_facts(
    connection: sqlite3.Connection, winners: list[_Winner], written: dict[str, _Written],
    turn: _Turn,
) -> None:  # fmt: skip
    inserts: list[Parameters] = []
    updates: list[Parameters] = []
    for change, revision in winners:
        schedule = change.schedule
        lease_until = turn.lease_until(schedule.policy.lease)
        for fact in change.facts:
            if fact.is_new:
                inserts.append(_insert(fact, schedule.schedule_id, revision, lease_until, turn))
            else:
                updates.append(_update(fact, written[fact.key], lease_until, turn))
    insert_runs(connection, inserts)
    if updates:
        connection.executemany(_SQL["change_run"], updates)


def _insert(
    fact: Fact, schedule_id: str, revision: int, lease_until: str, turn: _Turn
) -> Parameters:
    now = turn.now
    if fact.state is not State.CLAIMED:
        return new_row(fact, schedule_id, revision, now)
    return (
        fact.key, schedule_id, to_text(fact.nominal * 1000), "ENQUEUED", now, now, None, 1,
        to_text(fact.fire_ms), "claimed", None, None, fact.launches, 1, turn.owner, lease_until,
        turn.confirmed, revision, None,
    )  # fmt: skip


def _update(fact: Fact, row: _Written, lease_until: str, turn: _Turn) -> Parameters:
    is_claim = fact.state is State.CLAIMED
    if row[3] and not is_claim:
        # It was executed once and is not started again: that outcome stands.
        reason = fact.reason if fact.outcome is Outcome.EXECUTED else Reason.UNCERTAIN
        fact = fact._replace(state=State.DONE, outcome=Outcome.EXECUTED, reason=reason)
    return (
        fact.state.value,
        fact.outcome and fact.outcome.value,
        fact.reason and fact.reason.value,
        _status(fact),
        to_text(fact.fire_ms),
        fact.launches,
        row[1] + is_claim,
        turn.owner if is_claim else None,
        lease_until if is_claim else None,
        turn.confirmed if is_claim else 0,
        turn.now if fact.state is State.DONE else None,
        turn.now,
        fact.key,
    )


def _status(fact: Fact) -> str | None:
    """The word for readers; a run that was given up on without a word is not a success."""
    status = status_of(fact.state, fact.outcome, failed=fact.reason is not None, reason=fact.reason)
    return None if status is None else status.value


def _advance(connection: sqlite3.Connection, winners: list[_Winner], now: str) -> None:
    rows = []
    for change, _ in winners:
        schedule, cursor = change.schedule, change.cursor
        following = schedule.recurrence.next_epoch(cursor)
        rows.append((
            to_text(cursor * 1000), None if following is None else to_text(following * 1000),
            maybe_to_text(change.wake_ms), now, schedule.schedule_id,
        ))  # fmt: skip
    connection.executemany(_SQL["advance"], rows)
    resumed = [(change.schedule.schedule_id,) for change, _ in winners if change.resumes]
    if resumed:
        connection.executemany(_SQL["end_pause"], resumed)


def _claims(change: Change, written: dict[str, _Written]) -> Iterable[Claim]:
    last = len(change.launches) - 1
    for index, (key, nominal, fire_ms, launches) in enumerate(change.launches):
        row = written.get(key)
        # The engine starts one run at most where it replaces, and names it last.
        replaces = (
            tuple(run.key for run in change.replaced) if change.replaced and index == last else ()
        )
        fence = 1 if row is None else row[1] + 1
        yield Claim(change.schedule, key, nominal, fire_ms, launches, fence, replaces)
