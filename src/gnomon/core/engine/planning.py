"""
Planning: the order in which the engine decides.

Lost runs first, because they count as in flight; then a pause, which ends it there; then the
periods that have opened, the policies, and who starts. Applying a plan twice applies it once,
because a plan carries the version of the schedule it was made from. Work per call is bounded by
`Limits`; what is left over is found by the next call, because the cursor has not passed it.

Spec: ENGINE-1, ENGINE-4, ENGINE-7.
"""

from collections.abc import Iterable

from gnomon.core.engine.judging import judge, keeping_their_turn, start
from gnomon.core.engine.lost import settle_lost
from gnomon.core.engine.opening import open_periods
from gnomon.core.engine.single import Nominals, plan_single
from gnomon.core.engine.terms import USUAL, Candidate, Change, Due, Limits
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact
from gnomon.core.schedule import Overlap, PauseRule

__all__ = ["plan", "plan_any"]


def plan(dues: Iterable[Due], *, now_ms: int, limits: Limits = USUAL) -> list[Change]:
    """What is to become of each schedule at `now_ms`."""
    known: Nominals = {}
    return [
        plan_single(due, now_ms, limits, known) or plan_any(due, now_ms, limits) for due in dues
    ]


def plan_any(due: Due, now_ms: int, limits: Limits) -> Change:
    """What is to become of a schedule, whatever state it is in."""
    schedule, pause = due.schedule, due.pause
    facts: list[Fact] = []
    is_paused = pause is not None and pause.lasts(now_ms)
    again, back = settle_lost(due, facts, limits, paused=is_paused)
    if is_paused:
        following = schedule.recurrence.next_epoch(due.cursor)
        until_ms = None if pause is None else pause.until_ms
        return Change(
            schedule, due.version, due.cursor, following, until_ms, facts, (), False, due.revision
        )
    paused_ms = _paused_ms(due)
    cursor, opened = open_periods(due, paused_ms, facts, now_ms, limits)
    candidates = _spared(due, opened, paused_ms, facts)
    ready = [one for one in candidates if one.queued or one.fire_ms <= now_ms]
    later = [one for one in candidates if not one.queued and one.fire_ms > now_ms]
    wanting = judge(schedule, ready, later, facts, now_ms, limits)
    waiting = back + keeping_their_turn(schedule, later)
    started, left = start(due, wanting, again, waiting, facts, limits)
    facts += [one.becomes(State.PLANNED) for one in later if one.is_new]
    replaces = (started or again) and schedule.policy.overlap is Overlap.REPLACE
    instants, following = [one.fire_ms for one in later], schedule.recurrence.next_epoch(cursor)
    if following is not None:
        instants.append(following * 1000 - schedule.lead_ms)
    wake_ms = min(instants, default=None)
    return Change(
        schedule,
        due.version,
        cursor,
        following,
        now_ms if left or back else wake_ms,
        facts,
        due.in_flight if replaces else (),
        pause is not None and (wake_ms is None or wake_ms >= paused_ms),
        due.revision,
    )


def _paused_ms(due: Due) -> int:
    """Before which instant a pause that is over swallows the periods; 0 when none does."""
    if due.pause is None or due.schedule.policy.pause is PauseRule.HOLD:
        return 0
    return due.pause.until_ms or 0


def _spared(
    due: Due, opened: list[Candidate], paused_ms: int, facts: list[Fact]
) -> list[Candidate]:
    """What waits and what has opened, without what a pause has swallowed."""
    spared = []
    for one in [*(Candidate(*wait, is_new=False) for wait in due.waiting), *opened]:
        if one.fire_ms < paused_ms and not one.launches:
            facts.append(one.becomes(State.DONE, Outcome.SKIPPED, Reason.PAUSED))
        else:
            spared.append(one)
    return spared
