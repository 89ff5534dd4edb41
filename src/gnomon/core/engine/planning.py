"""
Planning: the order in which the engine decides.

Runs that are to be ended and runs that are lost come first, because they count as in flight; then,
unless a pause lasts, the periods that have opened and the policies; then what callers asked for,
and who starts. Applying a plan twice applies it once, because a plan carries the version of the
schedule it was made from. Work per call is bounded by `Limits`; what is left over is found by the
next call, because the cursor has not passed it.

Spec: ENGINE-1, ENGINE-4, ENGINE-7, ASK-3, ASK-4.
"""

from collections.abc import Iterable

from gnomon.core.engine.asked import Asked, plan_backfill
from gnomon.core.engine.ending import settle_killed, waited_for
from gnomon.core.engine.judging import judge, keeping_their_turn, start
from gnomon.core.engine.line import is_full
from gnomon.core.engine.lost import bury_lost, settle_lost
from gnomon.core.engine.opening import open_periods
from gnomon.core.engine.single import Nominals, plan_single
from gnomon.core.engine.terms import USUAL, Candidate, Change, Due, Limits
from gnomon.core.engine.unsure import give_way, with_unsure, without_hopeless
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, Waiting, is_backfill, is_manual
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
    if due.deleted:
        return bury_lost(due)
    due, ending = settle_killed(due, now_ms, limits)
    schedule, pause = due.schedule, due.pause
    facts: list[Fact] = []
    is_paused = pause is not None and pause.lasts(now_ms)
    asked = Asked.of(due.waiting)
    again, back = settle_lost(due, facts, limits, paused=is_paused)
    cursor, paused_ms = due.cursor, 0
    wanting, later, instants = list[Candidate](), list[Candidate](), waited_for(due)
    held = [Candidate(*wait, is_new=False) for wait in asked.periods] if is_paused else []
    if not is_paused:
        paused_ms = _paused_ms(due)
        cursor, opened = open_periods(due, paused_ms, facts, now_ms, limits)
        candidates = _spared(asked.periods, opened, paused_ms, facts)
        ready = [one for one in candidates if one.queued or one.fire_ms <= now_ms]
        later = [one for one in candidates if not one.queued and one.fire_ms > now_ms]
        wanting = judge(due, ready, later, cursor, facts, now_ms, limits)
        if asked.backfill:
            busy = sum(map(is_backfill, [*again, *back]))
            instants += plan_backfill(due, asked.backfill, busy, facts, now_ms, limits)
    wanting += [one for one in asked.manual if one.queued or one.fire_ms <= now_ms]
    later += [one for one in asked.manual if not one.queued and one.fire_ms > now_ms]
    ours = sum(not is_backfill(key) for key in again)
    soon = ours + (_gone_back(facts) if is_paused else 0)
    if due.waiting:
        wanting, later, held = without_hopeless(due, (wanting, later, held), facts, now_ms, limits)
        wanting = give_way(
            with_unsure(due, later + held), wanting, later, soon, facts, now_ms
        )  # which may add to what is later
    seen = with_unsure(due, later + held)
    # What has certainly not begun has its turn again, but in a pause that has to wait.
    first = [key for key in back if is_manual(key) or not (is_paused or is_backfill(key))]
    waiting = len(first) + keeping_their_turn(schedule, wanting, later)
    started, left = start(seen, wanting, soon, waiting, facts, limits)
    facts += [one.becomes(State.PLANNED) for one in later if one.is_new]
    replaces = (started or ours) and schedule.policy.overlap is Overlap.REPLACE
    following = schedule.recurrence.next_epoch(cursor)
    instants += [one.fire_ms for one in later]
    if pause is not None and is_paused:
        instants += [] if pause.until_ms is None else [pause.until_ms]
        left = left or any(map(is_manual, back))
    else:
        if following is not None and not is_full(schedule, following, later, now_ms, limits):
            instants.append(following * 1000 - schedule.lead_ms)
        left = left or bool(back)
    wake_ms = min(instants, default=None)
    return Change(
        schedule,
        due.version,
        cursor,
        following,
        now_ms if left else wake_ms,
        ending + facts,
        tuple(seen.in_flight) if replaces else (),
        pause is not None and not is_paused and (wake_ms is None or wake_ms >= paused_ms),
        due.revision,
    )


def _gone_back(facts: list[Fact]) -> int:
    """How many lost runs that may be running wait for the end of a pause from now on."""
    return sum(
        fact.state is State.PLANNED
        and fact.outcome is Outcome.EXECUTED
        and not is_backfill(fact.key)
        for fact in facts
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
