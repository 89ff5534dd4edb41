"""
The line: when does each of many overdue periods have its turn?

Under `fire_immediately` and `spread` all of them run, oldest first. No more of them go within one
tick than the limit says, and under `spread` they go evenly over the time ahead. What cannot go at
once gets an instant ahead, which its row keeps: by these rows every later look knows how far the
line reaches and how it is spaced, and puts what is found then behind it. Nothing of it is moved but
by a look that comes late.

A line has a greatest length; the cursor keeps what does not fit. What is on time goes past the
line, but in a queue it waits behind what is older. Where only one run may be in flight, what goes
at one instant would be lost to overlap, so that a line that is spread keeps apart even then.

Spec: ENGINE-13, POLICY-8, POLICY-13, POLICY-14.
"""

from collections.abc import Iterable, Sequence
from itertools import islice, takewhile

from gnomon.core.engine.due import Candidate, Due, Limits, Lineup
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Waiting
from gnomon.core.policy import even_step_ms, line_up
from gnomon.core.schedule import Catchup, Overlap, Schedule

__all__ = ["fall_in", "is_full", "room", "runs_all"]


def runs_all(schedule: Schedule) -> bool:
    """Whether every overdue period runs."""
    return schedule.policy.catchup in (Catchup.FIRE_IMMEDIATELY, Catchup.SPREAD)


def room(due: Due, nominal: int, now_ms: int, limits: Limits) -> int:
    """How many periods may be opened, of which the first is `nominal`."""
    if not (runs_all(due.schedule) and _is_overdue(due.schedule, nominal, now_ms, limits)):
        return limits.open_max
    ahead = sum(one.fire_ms > now_ms and _waits_in_line(due, one) for one in due.waiting)
    return max(_length_max(limits) - ahead, 0)


def is_full(
    schedule: Schedule, following: int, later: Iterable[Candidate], now_ms: int, limits: Limits
) -> bool:
    """Whether there was no room for the period after the cursor, which is to be asked again."""
    if not (runs_all(schedule) and _is_overdue(schedule, following, now_ms, limits)):
        return False
    return sum(one.in_line for one in later) >= _length_max(limits)


def fall_in(due: Due, lineup: Lineup, cursor: int, now_ms: int, limits: Limits) -> Lineup:
    """Of fresh periods that are ready, and those in line: which go now, and when the others?"""
    overdue_ms = now_ms - limits.on_time_ms
    late = {one.key for one in lineup.ready if one.fire_ms < overdue_ms}
    ready = [one for one in lineup.ready if one.key in late or _waits_in_line(due, one)]
    ahead = [one for one in lineup.later if _waits_in_line(due, one)]
    keys = {one.key for one in (*ready, *ahead)}
    going = [one for one in lineup.ready if one.key not in keys]
    later = [one for one in lineup.later if one.key not in keys]
    if not ready:
        later += [one._replace(in_line=True) for one in ahead]
        return lineup._replace(ready=going, later=later)
    line = sorted((*ready, *ahead), key=_by_nominal)
    gaps_ms = _gaps_ms(due, line, late, cursor, now_ms, limits)
    if not (going and _is_one_by_one(due.schedule)):
        gaps_ms[0] = 0  # the first goes at once
    fires_ms = line_up(
        [one.fire_ms for one in line], gaps_ms,
        from_ms=now_ms, tick_max=limits.catchup_max, tick_ms=limits.tick_ms,
    )  # fmt: skip
    if fires_ms[-1] <= now_ms and _has_more(due.schedule, cursor, now_ms, limits):
        fires_ms[-1] = now_ms + limits.tick_ms  # the others would take this for a new tick
    spreads, facts = due.schedule.policy.catchup is Catchup.SPREAD, list(lineup.facts)
    for one, fire_ms in zip(line, fires_ms, strict=True):
        is_moved = fire_ms > now_ms or (spreads and one.key in late)
        moved = one._replace(fire_ms=fire_ms if is_moved else one.fire_ms, in_line=True)
        if fire_ms <= now_ms:
            going.append(moved)
            continue
        later.append(moved)
        if not one.is_new and fire_ms != one.fire_ms:
            facts.append(moved.becomes(State.PLANNED))
    return lineup._replace(ready=going, later=later, facts=facts)


def _gaps_ms(
    due: Due, line: Sequence[Candidate], late: set[str], cursor: int, now_ms: int, limits: Limits
) -> list[int]:
    """How far each of a line stays behind the one before it."""
    if due.schedule.policy.catchup is not Catchup.SPREAD:
        return [0] * len(line)
    step_ms = _step_ms(due, line, late, cursor, now_ms, limits)
    # What has its instant keeps it, as long as it does not go together with others.
    gap_ms, gaps_ms = step_ms // 2 if _is_one_by_one(due.schedule) else 0, list[int]()
    for one in line:
        if one.key in late:
            gap_ms = step_ms  # and so for those that come after it
        gaps_ms.append(gap_ms)
    return gaps_ms


def _step_ms(
    due: Due, line: Sequence[Candidate], late: set[str], cursor: int, now_ms: int, limits: Limits
) -> int:
    """How far apart a line that is spread goes: evenly, and on as it went before."""
    placed = [one.fire_ms for one in line if one.key not in late]
    behind = 0
    if late and len(placed) < _length_max(limits) // 2:
        fitting = limits.lookahead_ms * limits.catchup_max // limits.tick_ms
        overdue = ((now_ms - limits.on_time_ms) // 1000).__ge__
        beyond = takewhile(overdue, due.schedule.recurrence.iterate_epochs(cursor))
        behind = sum(1 for _ in islice(beyond, min(fitting, limits.count_max)))
    even_ms = even_step_ms(
        len(line) + behind,
        over_ms=limits.lookahead_ms, tick_max=limits.catchup_max, tick_ms=limits.tick_ms,
    )  # fmt: skip
    if len(placed) < 2:
        return even_ms
    least_ms = even_step_ms(1, over_ms=0, tick_max=limits.catchup_max, tick_ms=limits.tick_ms)
    went_ms = max((max(placed) - min(placed)) // (len(placed) - 1), least_ms)
    return went_ms if len(placed) >= _length_max(limits) // 2 else min(went_ms, even_ms)


def _has_more(schedule: Schedule, cursor: int, now_ms: int, limits: Limits) -> bool:
    """Whether there are overdue periods behind the cursor."""
    following = schedule.recurrence.next_epoch(cursor)
    return following is not None and _is_overdue(schedule, following, now_ms, limits)


def _is_one_by_one(schedule: Schedule) -> bool:
    """Whether of those that go at one instant only one runs."""
    return schedule.policy.overlap in (Overlap.SKIP, Overlap.REPLACE)


def _waits_in_line(due: Due, one: Waiting | Candidate) -> bool:
    """Whether it was put off: then it has another instant than its own."""
    if one.queued or one.launches:
        return False
    own_ms = due.schedule.chosen_ms(one.nominal) or 0
    return one.fire_ms not in (own_ms, max(own_ms, due.effective_ms))


def _is_overdue(schedule: Schedule, nominal: int, now_ms: int, limits: Limits) -> bool:
    """Whether a period is overdue wherever in its window it was to run."""
    return nominal * 1000 + schedule.tail_ms < now_ms - limits.on_time_ms


def _length_max(limits: Limits) -> int:
    """How many wait in line at most; at least one, when all of one tick have gone."""
    return max(limits.line_max, limits.catchup_max + 1)


def _by_nominal(one: Candidate) -> int:
    return one.nominal
