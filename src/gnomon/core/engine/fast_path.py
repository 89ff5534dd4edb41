"""
The usual case: one new period, seen in time, with nothing in its way.

What happens then is what the long way round would say, found with fewer questions: the next period
of the schedule has come, its chosen instant is now or was a moment ago, and nothing waits, runs, is
lost or paused. In every other case there is no answer here, and nothing has been decided.

Of the schedules that are due at one instant many have their recurrence in common, so what it was
asked once it is not asked again.

Spec: ENGINE-1, ENGINE-2, ENGINE-4.
"""

from gnomon.core.engine.due import Change, Due, Limits
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact, period_key
from gnomon.core.recurrence import Recurrence

__all__ = ["Nominals", "plan_single"]

Nominals = dict[tuple[int, int], tuple[int | None, int | None, Recurrence]]
"""
By the identity of a recurrence and a cursor, the two nominal instants after it. The recurrence is
there too, because an identity is its own only as long as it lives.
"""
_new = tuple.__new__  # a named tuple in half the time that its own constructor takes


def plan_single(due: Due, now_ms: int, limits: Limits, known: Nominals) -> Change | None:
    """The plan for a schedule of which one period is due and on time; None for any other."""
    schedule, version, cursor, pause, waiting, in_flight, lost, effective_ms, revision, skips, _ = (
        due
    )
    if pause is not None or waiting or in_flight or lost or skips:
        return None
    recurrence = schedule.recurrence
    place = id(recurrence), cursor
    nominal, following, _ = known.get(place) or _ask(recurrence, place, known)
    if nominal is None:
        return None
    wake_ms = None if following is None else following * 1000 - schedule.lead_ms
    fire_ms = schedule.chosen_ms(nominal)
    if fire_ms is None or (wake_ms is not None and wake_ms <= now_ms):
        return None
    if fire_ms < effective_ms:
        if not schedule.jitter_ms:
            return None  # its second is from before the definition
        fire_ms = effective_ms
    if not now_ms - limits.on_time_ms <= fire_ms <= now_ms:
        return None
    if schedule.policy.deadline is not None and now_ms // 1000 > fire_ms // 1000:
        return None  # it may be too late
    key = period_key(schedule.schedule_id, nominal)
    fact = _new(Fact, (key, nominal, fire_ms, State.CLAIMED, None, None, 1, True, 0, 1, 0))
    return _new(
        Change, (schedule, version, nominal, following, wake_ms, [fact], (), False, revision)
    )


def _ask(
    recurrence: Recurrence, place: tuple[int, int], known: Nominals
) -> tuple[int | None, int | None, Recurrence]:
    nominal = recurrence.next_epoch(place[1])
    following = None if nominal is None else recurrence.next_epoch(nominal)
    known[place] = answer = nominal, following, recurrence
    return answer
