"""
Committing changes: the guard, the facts, the claims.

A change counts only if its schedule still has the version it was planned from; if every row it
changes may take that step; if a run it takes from a lost worker is lost still; and if no key it
adds is there already. Otherwise another writer was faster, and the change is dropped as a whole.
That hardly ever happens, so all changes are written at once, and only when one of them does not
hold is the transaction begun again, with a look at each. Most of what comes due at one instant is
alike in all but its key, and is written by one statement.

Spec: LEDGER-4, LEDGER-6, LEDGER-7.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact
from gnomon.core.schedule import Policy
from gnomon.ports import Committed
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
from gnomon.shell.store.database import begin_again
from gnomon.shell.store.instant_text import maybe_to_text, to_text
from gnomon.shell.store.queries import named

__all__ = ["Parameters", "commit", "insert_runs", "new_row"]

Parameters = tuple[str | int | None, ...]
"""The values of one statement."""

_SQL = named("ledger.sql")
_MS = timedelta(milliseconds=1)

_Alike = tuple[int, int, str, int]
"""Nominal and chosen instant, lease and revision: what many claims of one turn have in common."""
_Place = tuple[int, int | None, int | None]
"""Cursor, the nominal instant after it, and wake: the same of many schedules."""


class _Turn:
    """What is the same for all changes of one commit."""

    __slots__ = ("_leases", "confirmed", "now", "now_ms", "owner")

    def __init__(self, owner: str, confirmed: bool, now_ms: int) -> None:
        self.owner = owner
        self.confirmed = int(confirmed)
        self.now_ms = now_ms
        self.now = to_text(now_ms)
        self._leases: dict[timedelta, str] = {}

    def lease_until(self, policy: Policy) -> str:
        lease = policy.lease
        text = self._leases.get(lease)
        if text is None:
            text = self._leases[lease] = to_text(self.now_ms + lease // _MS)
        return text


def commit(
    connection: sqlite3.Connection, changes: Sequence[Change], *, owner: str, confirmed: bool,
    now_ms: int,
) -> Committed:  # fmt: skip
    """Write the changes that still hold; return them and their claims."""
    turn = _Turn(owner, confirmed, now_ms)
    rewritten = _rewritten(changes)
    written = _written(connection, rewritten, turn)
    may, held = True, changes
    if rewritten:
        may = all(may_follow(change, written) for change in changes)
        held = as_written(changes, written) if may else changes
    if not (may and _write(connection, held, written, turn)):
        begin_again(connection)
        changes = _with_current_version(connection, changes)
        written = _written(connection, _rewritten(changes), turn)
        changes = [change for change in changes if may_follow(change, written)]
        held = as_written(_without_known_keys(connection, changes), written)
        _write(connection, held, written, turn)
    return Committed(held, claims_of(held, written))


def insert_runs(connection: sqlite3.Connection, rows: Iterable[Parameters]) -> None:
    connection.executemany(_SQL["insert_run"], rows)


def new_row(fact: Fact, schedule_id: str, revision: int, now: str) -> Parameters:
    """The row of a new fact that is not a claim."""
    is_done = fact.state is State.DONE
    return (
        fact.key, schedule_id, to_text(fact.nominal * 1000), status_word(fact), now, now,
        to_text(fact.last_nominal * 1000) if fact.last_nominal else None, fact.periods,
        to_text(fact.fire_ms), fact.state.value, fact.outcome and fact.outcome.value,
        fact.reason and fact.reason.value, fact.launches, 0, None, None, 0, revision,
        now if is_done else None,
    )  # fmt: skip


def _rewritten(changes: Iterable[Change]) -> list[str]:
    """The keys of the rows that are to be changed."""
    return [fact.key for change in changes for fact in change.facts if not fact.is_new]


def _written(
    connection: sqlite3.Connection, keys: Sequence[str], turn: _Turn
) -> dict[str, Written]:
    """The rows that are to be changed, as they are."""
    if not keys:
        return {}
    rows = connection.execute(_SQL["written_runs"], {"keys": json.dumps(keys)})
    return {
        key: Written(state, fence, lease is not None and lease >= turn.now, outcome)
        for key, state, fence, lease, outcome in rows
    }


def _write(
    connection: sqlite3.Connection, changes: Sequence[Change], written: dict[str, Written],
    turn: _Turn,
) -> bool:  # fmt: skip
    """Write all of these; False when one does not hold, and then nothing is to be committed."""
    if _advance(connection, changes, turn.now) != len(changes):
        return False
    try:
        _write_facts(connection, changes, written, turn)
    except sqlite3.IntegrityError:
        return False  # a new key is there already
    return True


def _with_current_version(
    connection: sqlite3.Connection, changes: Sequence[Change]
) -> list[Change]:
    ids = json.dumps([change.schedule.schedule_id for change in changes])
    rows = connection.execute(_SQL["versions"], {"ids": ids}).fetchall()
    return with_current_version(changes, dict(rows))


def _without_known_keys(connection: sqlite3.Connection, changes: Sequence[Change]) -> list[Change]:
    keys = [fact.key for change in changes for fact in change.facts if fact.is_new]
    rows = connection.execute(_SQL["written_runs"], {"keys": json.dumps(keys)})
    return without_known_keys(changes, {row[0] for row in rows})


def _write_facts(
    connection: sqlite3.Connection, changes: Sequence[Change], written: dict[str, Written],
    turn: _Turn,
) -> None:  # fmt: skip
    claims: defaultdict[_Alike, dict[str, str]] = defaultdict(dict)
    inserts: list[Parameters] = []
    updates: list[Parameters] = []
    policy, lease_until = None, ""
    claimed = State.CLAIMED
    for schedule, _, _, _, _, facts, _, _, revision in changes:
        if schedule.policy is not policy:  # most have theirs in common
            policy = schedule.policy
            lease_until = turn.lease_until(policy)
        for fact in facts:
            key, nominal, fire_ms, state, _, _, _, is_new, _, _, _ = fact
            if not is_new:
                updates.append(_update(fact, written[key], lease_until, turn))
            elif state is claimed:
                claims[nominal, fire_ms, lease_until, revision][schedule.schedule_id] = key
            else:
                inserts.append(new_row(fact, schedule.schedule_id, revision, turn.now))
    for (nominal, fire_ms, lease_until, revision), keys in claims.items():
        values = {
            "run_at": to_text(nominal * 1000), "fire_at": to_text(fire_ms), "lease": lease_until,
            "revision": revision, "owner": turn.owner, "confirmed": turn.confirmed,
            "now": turn.now, "keys": json.dumps(keys),
        }  # fmt: skip
        connection.execute(_SQL["insert_claims"], values)
    insert_runs(connection, inserts)
    connection.executemany(_SQL["change_run"], updates)


def _update(fact: Fact, row: Written, lease_until: str, turn: _Turn) -> Parameters:
    is_claim = fact.state is State.CLAIMED
    return (
        fact.state.value,
        fact.outcome and fact.outcome.value,
        fact.reason and fact.reason.value,
        status_word(fact),
        to_text(fact.fire_ms),
        fact.launches,
        next_fence(fact, row),
        turn.owner if is_claim else None,
        lease_until if is_claim else None,
        turn.confirmed if is_claim else 0,
        turn.now if fact.state is State.DONE else None,
        turn.now,
        fact.key,
    )


def _advance(connection: sqlite3.Connection, changes: Sequence[Change], now: str) -> int:
    """Move the schedules on that still have their version; say how many."""
    alike: defaultdict[_Place, dict[str, int]] = defaultdict(dict)
    for schedule, version, cursor, following, wake_ms, _, _, _, _ in changes:
        alike[cursor, following, wake_ms][schedule.schedule_id] = version
    moved = 0
    for (cursor, following, wake_ms), versions in alike.items():
        values = {
            "cursor": to_text(cursor * 1000), "wake": maybe_to_text(wake_ms), "now": now,
            "following": None if following is None else to_text(following * 1000),
            "versions": json.dumps(versions),
        }  # fmt: skip
        moved += connection.execute(_SQL["advance"], values).rowcount
    resumed = [(change.schedule.schedule_id,) for change in changes if change.resumes]
    connection.executemany(_SQL["end_pause"], resumed)
    return moved
