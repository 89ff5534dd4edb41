"""
Runs that a caller asked for: which of them start now?

A run by hand starts whether the schedule is paused or not, and is never too late; only overlap is
judged, because it counts as in flight like a period's run. Of several that want to start at once
the period goes first, so that no period is used up by what was asked for.

Backfilled runs have a lane of their own. They do not count as in flight for periods, nor periods
for them; they run oldest first, one at a time, or a few where the schedule allows overlap. One that
may be running has its place in the lane while it waits for its next try. A pause holds them back.

Spec: ASK-3 to ASK-6.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gnomon.core.engine.terms import Candidate, Due, Limits
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact, Waiting, is_backfill, is_manual
from gnomon.core.schedule import Overlap

__all__ = ["Asked", "plan_backfill"]


class Asked(NamedTuple):
    """The waiting rows of a schedule, by what they stand for."""

    periods: list[Waiting]
    manual: list[Candidate]
    backfill: list[Candidate]

    @classmethod
    def of(cls, waiting: Sequence[Waiting]) -> "Asked":
        asked = cls([], [], [])
        for one in waiting:
            if is_manual(one.key):
                asked.manual.append(Candidate(*one, is_new=False))
            elif is_backfill(one.key):
                asked.backfill.append(Candidate(*one, is_new=False))
            else:
                asked.periods.append(one)
        return asked


def plan_backfill(
    due: Due, waiting: list[Candidate], again: int, facts: list[Fact], now_ms: int, limits: Limits
) -> list[int]:
    """Start what of a backfill may; say when to look at the rest, unless an end comes first."""
    allowed = limits.backfills_max if due.schedule.policy.overlap is Overlap.ALLOW else 1
    later = [one for one in waiting if one.fire_ms > now_ms]
    busy = again + sum(1 for run in due.in_flight if is_backfill(run.key))
    busy += sum(one.may_have_run for one in later)
    ready = sorted((one for one in waiting if one.fire_ms <= now_ms), key=_by_turn)
    for one in ready[: max(allowed - busy, 0)]:
        facts.append(one.becomes(State.CLAIMED, launches=one.launches + 1))
    return [one.fire_ms for one in later]


def _by_turn(one: Candidate) -> tuple[bool, bool, int, str]:
    """What may be running, who had a turn already, then the others; each oldest first."""
    return not one.may_have_run, not one.launches, one.nominal, one.key
