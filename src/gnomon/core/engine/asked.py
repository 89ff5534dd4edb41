"""
What somebody asked for: which of those runs start now?

A run by hand starts whether the schedule is paused or not, and is never too late; only overlap is
judged, because it counts as in flight like a period's run. Of several that want to start at once
the period goes first, so that no period is used up by what was asked for.

Backfilled runs have a lane of their own. They do not count as in flight for periods, nor periods
for them; they run oldest first, one at a time, or a few where the schedule allows overlap. A pause
holds them back.

Spec: ASK-3 to ASK-6.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gnomon.core.engine.terms import Candidate, Due, Launch, Limits
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact, Waiting, is_backfill, is_manual
from gnomon.core.schedule import Overlap

__all__ = ["Asked", "plan_backfill", "without_backfill"]


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


def without_backfill(due: Due) -> Due:
    """What is in flight as far as periods are concerned."""
    return due._replace(in_flight=[run for run in due.in_flight if not is_backfill(run.key)])


def plan_backfill(
    due: Due, waiting: list[Candidate], again: int, facts: list[Fact], now_ms: int, limits: Limits
) -> tuple[list[Launch], list[int]]:
    """What of a backfill starts now, and when to look at the rest unless an end comes first."""
    allowed = limits.backfills_max if due.schedule.policy.overlap is Overlap.ALLOW else 1
    busy = again + sum(1 for run in due.in_flight if is_backfill(run.key))
    ready = sorted((one for one in waiting if one.fire_ms <= now_ms), key=_by_turn)
    launches = []
    for one in ready[: max(allowed - busy, 0)]:
        tries = one.launches + 1
        facts.append(one.becomes(State.CLAIMED, launches=tries))
        launches.append(Launch(one.key, one.nominal, one.fire_ms, tries))
    return launches, [one.fire_ms for one in waiting if one.fire_ms > now_ms]


def _by_turn(one: Candidate) -> tuple[bool, int, str]:
    """Those who had their turn already, then the others; each oldest first."""
    return not one.launches, one.nominal, one.key
