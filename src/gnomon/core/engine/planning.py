"""
Planning: the order in which the engine decides.

Lost runs first, because they count as in flight; then, unless a pause lasts, the periods that have
opened and the policies; then what somebody asked for, and who starts. Applying a plan twice applies
it once, because a plan carries the version of the schedule it was made from. Work per call is
bounded by `Limits`; what is left over is found by the next call, because the cursor has not passed
it.

Spec: ENGINE-1, ENGINE-4, ENGINE-7, ASK-3, ASK-4.
"""

from collections.abc import Iterable

from gnomon.core.engine.asked import Asked, plan_backfill, without_backfill
from gnomon.core.engine.judging import judge, keeping_their_turn, start
from gnomon.core.engine.lost import settle_lost
from gnomon.core.engine.opening import open_periods
from gnomon.core.engine.single import plan_single
from gnomon.core.engine.terms import USUAL, Candidate, Change, Due, Launch, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, Waiting, is_backfill, is_manual
from gnomon.core.schedule import Overlap, PauseRule

__all__ = ["plan", "plan_any"]


def plan(dues: Iterable[Due], *, now_ms: int, limits: Limits = USUAL) -> list[Change]:
    """What is to become of each schedule at `now_ms`."""
    return [plan_single(due, now_ms, limits) or plan_any(due, now_ms, limits) for due in dues]


def plan_any(due: Due, now_ms: int, limits: Limits) -> Change:
    """What is to become of a schedule, whatever state it is in."""
    schedule, pause = due.schedule, due.pause
    facts: list[Fact] = []
    is_paused = pause is not None and pause.lasts(now_ms)
    asked = Asked.of(due.waiting)
    again, back = settle_lost(due, facts, limits, paused=is_paused)
    cursor, paused_ms = due.cursor, 0
    wanting, later = list[Candidate](), list[Candidate]()
    made_up, instants = list[Launch](), list[int]()
    if not is_paused:
        paused_ms = _paused_ms(due)
        cursor, opened = open_periods(due, paused_ms, facts, now_ms, limits)
        candidates = _spared(asked.periods, opened, paused_ms, facts)
        ready = [one for one in candidates if one.queued or one.fire_ms <= now_ms]
        later = [one for one in candidates if not one.queued and one.fire_ms > now_ms]
        wanting = judge(schedule, ready, later, facts, now_ms, limits)
        if asked.backfill:
            busy = sum(map(is_backfill, [*(one.key for one in again), *back]))
            made_up, instants = plan_backfill(due, asked.backfill, busy, facts, now_ms, limits)
    wanting += [one for one in asked.manual if one.queued or one.fire_ms <= now_ms]
    later_by_hand = [one for one in asked.manual if not one.queued and one.fire_ms > now_ms]
    ours = [one for one in again if not is_backfill(one.key)]
    seen = without_backfill(due)
    waiting = sum(not is_backfill(key) for key in back)
    waiting += keeping_their_turn(schedule, later + later_by_hand)
    started, left = start(seen, wanting, len(ours), waiting, facts, limits)
    facts += [one.becomes(State.PLANNED) for one in later if one.is_new]
    replaces = (started or ours) and schedule.policy.overlap is Overlap.REPLACE
    following = schedule.recurrence.next_epoch(cursor)
    instants += [one.fire_ms for one in (*later, *later_by_hand)]
    if pause is not None and is_paused:
        instants += [] if pause.until_ms is None else [pause.until_ms]
        left = left or any(map(is_manual, back))
    else:
        instants += [] if following is None else [following * 1000 - schedule.lead_ms]
        left = left or bool(back)
    wake_ms = min(instants, default=None)
    return Change(
        schedule,
        due.version,
        cursor,
        following,
        now_ms if left else wake_ms,
        facts,
        # What replaces others stands last.
        [*made_up, *(one for one in again if is_backfill(one.key)), *ours, *started],
        list(seen.in_flight) if replaces else [],
        pause is not None and not is_paused and (wake_ms is None or wake_ms >= paused_ms),
        due.revision,
    )


def _paused_ms(due: Due) -> int:
    """Before which instant a pause that is over swallows the periods; 0 when none does."""
    if due.pause is None or due.schedule.policy.pause is PauseRule.HOLD:
        return 0
    return due.pause.until_ms or 0


def _spared(
    waiting: list[Waiting], opened: list[Candidate], paused_ms: int, facts: list[Fact]
) -> list[Candidate]:
    """What waits and what has opened, without what a pause has swallowed."""
    spared = []
    for one in [*(Candidate(*wait, is_new=False) for wait in waiting), *opened]:
        if one.fire_ms < paused_ms and not one.launches:
            facts.append(one.becomes(State.DONE, Outcome.SKIPPED, Reason.PAUSED))
        else:
            spared.append(one)
    return spared
