"""
Which changes of a commit hold, and what do they come to, whatever the store?

A change counts only if its schedule still has the version it was planned from; if every row it
changes may take that step; and if a run it takes from a lost worker is lost still. Otherwise
somebody was faster, and the change is dropped as a whole.

Spec: LEDGER-4, LEDGER-7.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gnomon.core.engine import Change
from gnomon.core.ledger.lifecycle import STEPS, WAITING, Outcome, Reason, State, status_of
from gnomon.core.ledger.period import Fact
from gnomon.ports import Claim

__all__ = [
    "Winner",
    "Written",
    "claims_of",
    "may_follow",
    "standing",
    "status_word",
    "with_current_version",
    "without_known_keys",
]

Winner = tuple[Change, int]
"""A change that holds, with the revision in force."""

_ALLOWED = {(before.value, after.value) for (before, _), after in STEPS.items()} | {
    (state.value, state.value) for state in WAITING
}


class Written(NamedTuple):
    """A row that is there."""

    state: str
    fence: int
    is_held: bool | None
    """Whether it has a lease that is not over."""
    outcome: str | None


def with_current_version(
    changes: Sequence[Change], current: dict[str, tuple[int, int]]
) -> list[Winner]:
    """The changes that were planned from the present version, with the present revision."""
    winners = []
    for change in changes:
        found = current.get(change.schedule.schedule_id)
        if found is not None and found[0] == change.version:
            winners.append((change, found[1]))
            del current[change.schedule.schedule_id]  # a second one is planned from the past
    return winners


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
    return True


def without_known_keys(winners: Iterable[Winner], known: set[str]) -> list[Winner]:
    """Without the changes that would add a key which exists."""
    return [
        (change, revision)
        for change, revision in winners
        if not any(fact.is_new and fact.key in known for fact in change.facts)
    ]


def standing(fact: Fact, row: Written) -> Fact:
    """The fact as it is written: what was executed once and is not started again, stays that."""
    if row.outcome is None or fact.state is State.CLAIMED:
        return fact
    reason = fact.reason if fact.outcome is Outcome.EXECUTED else Reason.UNCERTAIN
    return fact._replace(state=State.DONE, outcome=Outcome.EXECUTED, reason=reason)


def status_word(fact: Fact) -> str | None:
    """The word for readers; a run that was given up on without a word is not a success."""
    status = status_of(fact.state, fact.outcome, failed=fact.reason is not None, reason=fact.reason)
    return None if status is None else status.value


def claims_of(change: Change, written: Mapping[str, Written]) -> Iterable[Claim]:
    """The claims that a change has won."""
    last = len(change.launches) - 1
    for index, (key, nominal, fire_ms, launches) in enumerate(change.launches):
        row = written.get(key)
        # The engine starts one run at most where it replaces, and names it last.
        replaces = (
            tuple(run.key for run in change.replaced) if change.replaced and index == last else ()
        )
        fence = 1 if row is None else row.fence + 1
        yield Claim(change.schedule, key, nominal, fire_ms, launches, fence, replaces)
