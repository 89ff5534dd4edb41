"""
Opening: which periods have come since the last look?

A period opens with its window, so that a schedule's cursor never goes back: every period up to the
cursor has a row of its own or lies in exactly one range. What a long outage left behind becomes
ranges; the last few overdue periods, and the newest, are left to be judged one by one. Where all of
them run, as many are opened as there is room for in their line.

A window may have been open when its definition came into force. Its period is owed when its chosen
instant was still ahead. Else it is withdrawn; and when its nominal instant too was before the
schedule, it leaves nothing. A jitter is no window: what it has drawn is moved to the definition.

Spec: ENGINE-2, ENGINE-3, ENGINE-7, ENGINE-9, ENGINE-11 to ENGINE-13, POLICY-11, ASK-7.
"""

from collections import deque
from collections.abc import Iterable
from itertools import groupby, islice, takewhile
from typing import NamedTuple

from gnomon.core.engine.due import Candidate, Due, Limits
from gnomon.core.engine.line import room, runs_all
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, period_key, range_key
from gnomon.core.policy import last_too_late
from gnomon.core.schedule import Catchup, Schedule

__all__ = ["Opening", "open_periods", "passed_over", "was_before"]


class Opening(NamedTuple):
    """What has come since the last look."""

    cursor: int
    """The last nominal instant that is planned now."""
    periods: list[Candidate]
    """What is to be judged."""
    facts: list[Fact]
    """What is over without being judged."""


def open_periods(due: Due, now_ms: int, limits: Limits) -> Opening:
    """The periods whose window has opened since the cursor."""
    schedule, cursor = due.schedule, due.cursor
    newest = schedule.recurrence.latest_epoch((now_ms + schedule.lead_ms) // 1000)
    if newest is None or newest <= cursor:
        return Opening(cursor, [], [])
    facts: list[Fact] = []
    nominals: Iterable[int] = (newest,)  # the usual case: the worker looked in time
    first = schedule.recurrence.next_epoch(cursor)
    if first is not None and first * 1000 < due.effective_ms:
        # Windows that were open when the schedule was saved; what is left is for the next look.
        before = min(newest, (due.effective_ms - 1) // 1000)
        nominals = takewhile(before.__ge__, schedule.recurrence.iterate_epochs(cursor))
    elif first != newest:
        for until, outcome, reason in _passes(due, newest, now_ms, limits):
            ranges, cursor, whole = _pass_over(schedule, cursor, until, outcome, reason, limits)
            facts += ranges
            if not whole:
                return Opening(cursor, [], facts)
        nominals = takewhile(newest.__ge__, schedule.recurrence.iterate_epochs(cursor))
        first = schedule.recurrence.next_epoch(cursor)
    opened = list[Candidate]()
    if first is None:
        return Opening(cursor, opened, facts)
    for nominal in islice(nominals, room(due, first, now_ms, limits)):
        cursor = nominal
        one = _open(due, nominal)
        if isinstance(one, Fact):
            facts.append(one)
        elif one is not None:
            opened.append(one)
    return Opening(cursor, opened, facts)


def _open(due: Due, nominal: int) -> Candidate | Fact | None:
    """A period that is to be judged, or what is known of it already; None when it is not owed."""
    schedule, fire_ms = due.schedule, due.schedule.chosen_ms(nominal)
    key = period_key(schedule.schedule_id, nominal)
    if nominal in due.skips:
        return _settled(key, nominal, Outcome.SKIPPED, Reason.REQUESTED)
    if was_before(schedule, nominal, fire_ms, due.effective_ms):
        return None
    if fire_ms is None:
        return _settled(key, nominal, Outcome.UNSCHEDULABLE, Reason.CONSTRAINTS)
    if fire_ms < due.effective_ms and not schedule.jitter_ms:
        return _settled(key, nominal, Outcome.SKIPPED, Reason.WITHDRAWN)
    fire_ms = max(fire_ms, due.effective_ms)
    return Candidate(key, nominal, fire_ms, False, 0, False, 0, 0, False, is_new=True)


def was_before(schedule: Schedule, nominal: int, chosen_ms: int | None, saved_ms: int) -> bool:
    """Whether a period was over when its schedule was first saved, as far as it is concerned."""
    if nominal * 1000 >= saved_ms:
        return False
    window_end_ms = nominal * 1000 + schedule.tail_ms - schedule.jitter_ms
    return (window_end_ms if chosen_ms is None else chosen_ms) < saved_ms


def _settled(key: str, nominal: int, outcome: Outcome, reason: Reason) -> Fact:
    return Fact(key, nominal, nominal * 1000, State.DONE, outcome, reason, is_new=True)


def passed_over(schedule: Schedule) -> tuple[Outcome, Reason]:
    """What becomes of overdue periods that do not count, though none of them is too late."""
    if schedule.policy.catchup is Catchup.RECENT:
        return Outcome.SKIPPED, Reason.CATCHUP_LIMIT
    return Outcome.MISSED, Reason.OUTAGE


def _passes(
    due: Due, newest: int, now_ms: int, limits: Limits
) -> list[tuple[int, Outcome, Reason]]:
    """
    Up to which nominal instant periods become a range, and why, one range after the other.

    They hold what is certain without asking when a period was chosen to run. The last few overdue
    periods, and the newest, are left to be judged one by one.
    """
    schedule, deadline = due.schedule, due.schedule.policy.deadline
    paused = (due.swallowed_ms - schedule.tail_ms - 1) // 1000
    too_late = late = -1
    if deadline is not None:
        too_late = last_too_late(schedule.tail_ms, deadline, now_ms=now_ms)
    if not runs_all(schedule):
        late = (now_ms - limits.on_time_ms - schedule.tail_ms - 1) // 1000
    floor = max(due.cursor, paused)
    if schedule.policy.catchup is Catchup.RECENT:  # what is too late does not count as recent
        too_late = min(too_late, newest - 1)
        until = _before_last(schedule, min(late, newest), max(floor, too_late), limits)
    else:
        until = _before_last(schedule, min(max(late, too_late), newest - 1), floor, limits)
        too_late = min(too_late, until)
    return [
        (paused, Outcome.SKIPPED, Reason.PAUSED),
        (too_late, Outcome.MISSED, Reason.DEADLINE),
        (until, *passed_over(schedule)),
    ]


def _before_last(schedule: Schedule, until: int, floor: int, limits: Limits) -> int:
    """The instant before the last few periods up to `until`; there is nothing up to `floor`."""
    for _ in range(limits.one_by_one_max):
        if until <= floor:
            break
        until = (schedule.recurrence.latest_epoch(until) or 0) - 1
    return until


def _pass_over(
    schedule: Schedule, cursor: int, until: int, outcome: Outcome, reason: Reason, limits: Limits
) -> tuple[list[Fact], int, bool]:
    """
    The periods after `cursor` up to `until` as one range, or more where some of them could not have
    run at all; the cursor after it; and whether that was all, because a range has a greatest size.
    """
    first = schedule.recurrence.next_epoch(cursor)
    if first is None or first > until:
        return [], cursor, True
    within = takewhile(until.__ge__, schedule.recurrence.iterate_epochs(cursor))
    if reason is Reason.PAUSED or not schedule.decider.is_constrained:
        ((count, last),) = deque(enumerate(islice(within, limits.count_max), 1), maxlen=1)
        ranges = [_range(schedule, first, last, count, outcome, reason)]
        return ranges, last, count < limits.count_max
    # Which of them could not have run has to be asked of each, so only so many are taken up.
    choose, total, ranges = schedule.decider.choose, 0, []
    for never, group in groupby(islice(within, limits.asked_max), lambda one: choose(one) is None):
        nominals = list(group)
        last, total = nominals[-1], total + len(nominals)
        becomes = (Outcome.UNSCHEDULABLE, Reason.CONSTRAINTS) if never else (outcome, reason)
        ranges.append(_range(schedule, nominals[0], last, len(nominals), *becomes))
    return ranges, last, total < limits.asked_max


def _range(
    schedule: Schedule, first: int, last: int, count: int, outcome: Outcome, reason: Reason
) -> Fact:
    return Fact(
        range_key(schedule.schedule_id, first), first, first * 1000, State.DONE, outcome, reason,
        is_new=True, last_nominal=last, periods=count,
    )  # fmt: skip
