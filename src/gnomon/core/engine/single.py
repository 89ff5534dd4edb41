"""
The usual case: one new period, seen in time, with nothing in its way.

What happens then is what the long way round would say, found with fewer questions: the next period
of the schedule has come, its chosen instant is now or was a moment ago, and nothing waits, runs, is
lost or paused. In every other case there is no answer here, and nothing has been decided.

Spec: ENGINE-1, ENGINE-2, ENGINE-4.
"""

from gnomon.core.engine.terms import Change, Due, Launch, Limits
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact, period_key

__all__ = ["plan_single"]


def plan_single(due: Due, now_ms: int, limits: Limits) -> Change | None:
    """The plan for a schedule of which one period is due and on time; None for any other."""
    schedule, version, cursor, pause, waiting, in_flight, lost, effective_ms, revision, skips = due
    if pause is not None or waiting or in_flight or lost or skips:
        return None
    next_epoch, lead_ms = schedule.recurrence.next_epoch, schedule.lead_ms
    nominal = next_epoch(cursor)
    if nominal is None:
        return None
    following = next_epoch(nominal)
    wake_ms = None if following is None else following * 1000 - lead_ms
    fire_ms = schedule.chosen_ms(nominal)
    if fire_ms is None or (wake_ms is not None and wake_ms <= now_ms):
        return None
    fire_ms = max(fire_ms, effective_ms)
    if not now_ms - limits.on_time_ms <= fire_ms <= now_ms:
        return None
    if schedule.policy.deadline is not None and now_ms // 1000 > fire_ms // 1000:
        return None  # it may be too late
    key = period_key(schedule.schedule_id, nominal)
    facts = [Fact(key, nominal, fire_ms, State.CLAIMED, None, None, 1, True)]
    launches = [Launch(key, nominal, fire_ms, 1)]
    return Change(
        schedule, version, nominal, following, wake_ms, facts, launches, [], False, revision
    )
