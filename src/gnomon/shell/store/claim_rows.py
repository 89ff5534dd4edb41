"""
Which changes of a commit hold, and what do they come to, whatever the store?

A change counts only if its schedule still has the version it was planned from; if every row it
changes may take that step; and if a run it takes from a lost worker is lost still, and has not
begun since. Otherwise another writer was faster, and the change is dropped as a whole.

Spec: LEDGER-4, LEDGER-7.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import (
    IN_FLIGHT,
    STEPS,
    WAITING,
    Outcome,
    Reason,
    State,
    status_of,
)
from gnomon.core.ledger.period import Fact, InFlight, is_backfill
from gnomon.ports import Claim

__all__ = [
    "Written",
    "as_written",
    "claims_of",
    "may_follow",
    "next_fence",
    "status_word",
    "with_current_version",
    "without_known_keys",
]

_ALLOWED = {(before.value, after.value) for (before, _), after in STEPS.items()} | {
    (state.value, state.value) for state in WAITING
}

_RUNNING = State.RUNNING.value

_new = tuple.__new__  # a named tuple in half the time that its own constructor takes


_HELD = frozenset(state.value for state in IN_FLIGHT)


class Written(NamedTuple):
    """A row that is there."""

    state: str
    fence: int
    is_held: bool | None
    """Whether it has a lease that is not over."""
    outcome: str | None


def with_current_version(changes: Iterable[Change], current: dict[str, int]) -> list[Change]:
    """The changes that were planned from the present version; `current` is used up."""
    # Taken out, because a second change of one schedule is planned from the past.
    return [
        change
        for change in changes
        if current.pop(change.schedule.schedule_id, None) == change.version
    ]


def may_follow(change: Change, written: Mapping[str, Written]) -> bool:
    """Whether every row that a change rewrites may take that step."""
    for fact in change.facts:
        if fact.is_new:
            continue
        row = written.get(fact.key)
        if row is None or (row.state, fact.state.value) not in _ALLOWED:
            return False
        if row.is_held:
            return False  # its worker has been heard of since
        if row.state == _RUNNING and fact.outcome is None:
            return False  # planned as never started, and its late worker has started it since
    return True


def without_known_keys(changes: Iterable[Change], known: Collection[str]) -> list[Change]:
    """Without the changes that would add a key which exists."""
    return [
        change
        for change in changes
        if not any(fact.is_new and fact.key in known for fact in change.facts)
    ]


def as_written(changes: Sequence[Change], written: Mapping[str, Written]) -> list[Change]:
    """The changes with their facts as the rows will have them."""
    if all(row.outcome is None for row in written.values()):
        return list(changes)
    return [
        change._replace(
            facts=[
                fact if fact.is_new else _standing(fact, written[fact.key]) for fact in change.facts
            ]
        )
        for change in changes
    ]


def _standing(fact: Fact, row: Written) -> Fact:
    """What was executed once and is not started again, stays that."""
    if row.outcome is None or fact.state is not State.DONE:
        return fact
    reason = fact.reason if fact.outcome is Outcome.EXECUTED else Reason.UNCERTAIN
    return fact._replace(outcome=Outcome.EXECUTED, reason=reason)


def next_fence(fact: Fact, row: Written) -> int:
    """A claim has a new number; so has what is taken from a worker, who may still have a say."""
    is_taken = row.state in _HELD and fact.state is State.PLANNED
    return row.fence + (fact.state is State.CLAIMED or is_taken)


def status_word(fact: Fact) -> str | None:
    """The word for readers; a run that was given up on without a word is not a success."""
    status = status_of(fact.state, fact.outcome, failed=fact.reason is not None, reason=fact.reason)
    return None if status is None else status.value


def claims_of(changes: Iterable[Change], written: Mapping[str, Written]) -> list[Claim]:
    """The claims that changes have won."""
    claims: list[Claim] = []
    claimed, none = State.CLAIMED, frozenset[str]()
    for schedule, _, _, _, _, facts, replaced, _, _ in changes:
        before = len(claims)
        for key, nominal, fire_ms, state, _, _, launches, is_new, _, _, chosen_ms in facts:
            if state is claimed:
                fence = 1 if is_new else written[key].fence + 1
                values = schedule, key, nominal, fire_ms, launches, fence, (), none, chosen_ms
                claims.append(_new(Claim, values))
        if replaced:
            _let_replace(claims, before, replaced)
    return claims


def _let_replace(claims: list[Claim], first: int, replaced: Sequence[InFlight]) -> None:
    """Where the engine replaces it has started something: the last of it that is no backfill."""
    place = max(place for place in range(first, len(claims)) if not is_backfill(claims[place].key))
    claims[place] = claims[place]._replace(
        replaces=tuple((run.key, run.fence) for run in replaced),
        detached=frozenset(run.key for run in replaced if run.detached),
    )
