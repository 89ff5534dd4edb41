"""
The plan: what happens next to the periods of a schedule, from top to bottom.

Runs that a caller asked to end and runs that are lost come first, because they count as in flight.
Then, unless a pause lasts, the periods that have opened, and the policies: what is too late, what
still counts, who has a place in line. Then what a caller asked for, what overlap says, who starts.
Each step is a function from facts to facts.

Applying a plan twice applies it once, because a plan carries the version of the schedule it was
made from. Work per call is bounded by `Limits`; the next call finds what is left over, because the
cursor has not passed it.

Spec: ENGINE-1, ENGINE-4, ENGINE-7, ASK-3 to ASK-6.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon.core.engine.due import USUAL, Candidate, Change, Due, Limits, Lineup
from gnomon.core.engine.fast_path import Nominals, plan_single
from gnomon.core.engine.judging import by_time, judge, start
from gnomon.core.engine.line import is_full
from gnomon.core.engine.maybe_running import (
    LostRuns,
    bury_lost,
    give_way,
    settle_killed,
    settle_lost,
    waited_for,
    without_hopeless,
)
from gnomon.core.engine.opening import Opening, open_periods
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact, Waiting, is_backfill, is_manual
from gnomon.core.schedule import Overlap

__all__ = ["plan", "plan_any"]


def plan(dues: Iterable[Due], *, now_ms: int, limits: Limits = USUAL) -> list[Change]:
    """What is to become of each schedule at `now_ms`."""
    known: Nominals = {}
    return [
        plan_single(due, now_ms, limits, known) or plan_any(due, now_ms, limits) for due in dues
    ]


def plan_any(due: Due, now_ms: int, limits: Limits) -> Change:
    """What is to become of a schedule, whatever state it is in."""
    if due.deleted:
        return bury_lost(due)
    due, killed = settle_killed(due, now_ms, limits)
    lost = settle_lost(due, now_ms, limits)
    asked = _Asked.of(due.waiting)
    if due.is_paused(now_ms):
        opening = Opening(due.cursor, [], [])
        lineup = Lineup([], [], asked.periods, [])
        backfill = _Backfill([], [])
    else:
        opening = open_periods(due, now_ms, limits)
        open_now = [*asked.periods, *opening.periods]
        lineup = judge(due, open_now, opening.cursor, now_ms, limits)
        backfill = _start_backfill(due, asked.backfill, lost, now_ms, limits)
    lineup = _with_manual(lineup, asked.manual, now_ms)
    lineup = without_hopeless(due, lineup, now_ms, limits)
    lineup = give_way(due, lineup, lost, now_ms)
    started = start(due, lineup, lost, now_ms, limits)
    planned = [one.becomes(State.PLANNED) for one in lineup.later if one.is_new]
    following = due.schedule.recurrence.next_epoch(opening.cursor)
    wake_ms = _next_look_ms(due, following, lineup, backfill, now_ms, limits)
    return Change(
        due.schedule,
        due.version,
        opening.cursor,
        following,
        now_ms if started.some_left or _may_go_at_once(due, lost, now_ms) else wake_ms,
        killed
        + lost.facts
        + opening.facts
        + lineup.facts
        + backfill.facts
        + started.facts
        + planned,
        started.replaced,
        _resumes(due, wake_ms, now_ms),
        due.revision,
    )


class _Asked(NamedTuple):
    """The waiting rows of a schedule, by what they stand for."""

    periods: list[Candidate]
    manual: list[Candidate]
    backfill: list[Candidate]

    @classmethod
    def of(cls, waiting: Sequence[Waiting]) -> "_Asked":
        asked = cls([], [], [])
        for one in waiting:
            kind = asked.periods
            if is_manual(one.key):
                kind = asked.manual
            elif is_backfill(one.key):
                kind = asked.backfill
            kind.append(Candidate(*one, is_new=False))
        return asked


class _Backfill(NamedTuple):
    """What of a backfill starts, and when to look at the rest, unless an end comes first."""

    instants: list[int]
    facts: list[Fact]


def _start_backfill(
    due: Due, waiting: list[Candidate], lost: LostRuns, now_ms: int, limits: Limits
) -> _Backfill:
    """
    Backfilled runs have a lane of their own: they do not hold up periods, nor periods them.

    They run oldest first, one at a time, or a few where the schedule allows overlap. One that may
    be running has its place in the lane while it waits for its next try.
    """
    if not waiting:
        return _Backfill([], [])
    allowed = limits.backfills_max if due.schedule.policy.overlap is Overlap.ALLOW else 1
    later = [one for one in waiting if one.fire_ms > now_ms]
    ready = sorted((one for one in waiting if one.fire_ms <= now_ms), key=_by_turn)
    busy = sum(map(is_backfill, [*lost.again, *lost.back]))
    busy += sum(is_backfill(run.key) for run in due.in_flight)
    busy += sum(one.may_have_run for one in later)
    return _Backfill(
        [one.fire_ms for one in later],
        [one.claimed() for one in ready[: max(allowed - busy, 0)]],
    )


def _with_manual(lineup: Lineup, manual: list[Candidate], now_ms: int) -> Lineup:
    """
    The runs that a caller asked for join: paused or not, and never too late.

    Only overlap is judged, because such a run counts as in flight like a period's.
    """
    if not manual:
        return lineup
    ready, later = by_time(manual, now_ms)
    return lineup._replace(ready=lineup.ready + ready, later=lineup.later + later)


def _next_look_ms(
    due: Due,
    following: int | None,
    lineup: Lineup,
    backfill: _Backfill,
    now_ms: int,
    limits: Limits,
) -> int | None:
    """When something becomes due by itself."""
    instants = waited_for(due) + backfill.instants + [one.fire_ms for one in lineup.later]
    if due.is_paused(now_ms):
        if due.pause is not None and due.pause.until_ms is not None:
            instants.append(due.pause.until_ms)
    elif following is not None and not is_full(
        due.schedule, following, lineup.later, now_ms, limits
    ):
        instants.append(following * 1000 - due.schedule.lead_ms)
    return min(instants, default=None)


def _may_go_at_once(due: Due, lost: LostRuns, now_ms: int) -> bool:
    """Whether a lost run that never began can be planned in the next call."""
    return any(map(is_manual, lost.back)) if due.is_paused(now_ms) else bool(lost.back)


def _resumes(due: Due, wake_ms: int | None, now_ms: int) -> bool:
    """Whether a pause is over, and nothing that it swallows is still to come."""
    if due.pause is None or due.is_paused(now_ms):
        return False
    return wake_ms is None or wake_ms >= due.swallowed_ms


def _by_turn(one: Candidate) -> tuple[bool, bool, int, str]:
    """What may be running, what had a turn already, then the others; each oldest first."""
    return not one.may_have_run, not one.launches, one.nominal, one.key
