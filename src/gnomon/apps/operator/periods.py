"""
Which periods of a KronJob are due, which are over, and when does the next one come?

The engine's own rules open periods and judge them: the deadline, the newest 32 of those that are
late, the newest one under `replace`. Nothing is kept between two looks but the status, so that a
period that is only planned costs no write: it is computed again.

Instants are epoch seconds; `now` is an argument.

Spec: OPERATOR-7 to OPERATOR-12.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from gnomon.apps.operator.definition import Definition, read_timing
from gnomon.apps.operator.status import (
    ACTIVE_MAX,
    ConditionKind,
    Entry,
    Lapsed,
    Opened,
    Range,
    Record,
    Status,
    add_entries,
)
from gnomon.core.engine.due import USUAL, Due
from gnomon.core.engine.opening import open_periods
from gnomon.core.ledger.lifecycle import Outcome, Reason
from gnomon.core.policy import is_too_late, kept
from gnomon.core.schedule import Catchup, Overlap, Schedule
from gnomon.errors import DefinitionError

__all__ = ["AHEAD_KEPT_S", "TOLERANCE_S", "TOO_MANY_ACTIVE", "Outlook", "first_status", "following",
           "handled", "look", "take_up"]  # fmt: skip

TOLERANCE_S = 2
"""By how much the clock of an operator may differ from the server's."""
AHEAD_KEPT_S = 3 * TOLERANCE_S
"""So long after its nominal instant a handled period is named, for timings that start just now."""
OPENED_MAX = 1_000
TOO_MANY_ACTIVE = "too_many_active"

_SOON = 5_000  # periods looked at to find the next chosen one


class Outlook(NamedTuple):
    """What there is to do for the periods of a KronJob."""

    status: Status
    """With what is over recorded; the same object when nothing is."""
    eligible: Sequence[Opened]
    """What may start now, oldest first."""
    wake: int | None
    """When the next period becomes eligible, or is to be judged."""


def first_status(definition: Definition, *, created: int, generation: int, now: int) -> Status:
    """
    The status of a KronJob that has none: it begins after the second of its creation.

    Which spec was in force before an edit that no operator has seen is unknown; then it begins now.
    """
    since = created if generation <= 1 else max(created, now)
    lead = definition.schedule.decider.window.lead
    return Status(
        generation=generation, revision=max(now, 1), since=since, timing=definition.timing,
        cursor=since + TOLERANCE_S + lead,
    )  # fmt: skip


def take_up(
    identity: str, status: Status, definition: Definition, *, generation: int, now: int
) -> Status:
    """
    The status under a new generation of the spec.

    What had opened under the old timing is over when it is too late, and stays open otherwise; the
    new timing opens nothing before now.
    """
    if status.timing == definition.timing:
        return replace(status, generation=generation)
    status = _let_go(identity, status, definition, now)
    lead = definition.schedule.decider.window.lead
    return replace(
        status, generation=generation, revision=max(status.revision + 1, now), since=now,
        timing=definition.timing, cursor=now + lead,
    )  # fmt: skip


def look(status: Status, definition: Definition, *, now: int) -> Outlook:
    """What is over by now, what may start, and when to look again; while suspended, nothing."""
    if definition.suspend:
        return Outlook(status, (), None)
    schedule = definition.schedule
    over: list[Entry] = []
    if status.lapsed is not None:
        over.append(_span(*status.lapsed, Outcome.MISSED, Reason.DEADLINE.value, now))
    opened, cursor, entries = _open(status, schedule, now)
    over += [_blamed(one, status, schedule) for one in entries]
    failing = status.has(ConditionKind.LAUNCH_FAILING)
    missed = Reason.LAUNCH_FAILED if failing else Reason.DEADLINE
    eligible, wake = _judge([*status.opened, *opened], definition, over, missed, now)
    if schedule.policy.overlap is Overlap.ALLOW and len(status.active) >= ACTIVE_MAX:
        over += [_record(one, Outcome.SKIPPED, TOO_MANY_ACTIVE, now) for one in eligible]
        eligible = []
    if over:
        named = [one.period for one in over if isinstance(one, Record)]
        status = replace(status, lapsed=None, cursor=max(status.cursor, cursor))
        status = add_entries(status, over, records_max=definition.records_max)
        status = handled(status, schedule, named, now=now)
    return Outlook(status, eligible, wake)


def handled(status: Status, schedule: Schedule, periods: Sequence[int], *, now: int) -> Status:
    """The status in which these periods are handled, and the cursor as far as it can go."""
    done = set(periods)
    ahead, cursor = {*status.ahead, *done}, status.cursor
    while (after := schedule.recurrence.next_epoch(cursor)) is not None and after in ahead:
        cursor = after
    return replace(
        status,
        opened=tuple(one for one in status.opened if one.period not in done),
        ahead=tuple(sorted(one for one in ahead if one > min(cursor, now - AHEAD_KEPT_S))),
        cursor=cursor,
    )


def following(status: Status, definition: Definition, *, now: int) -> tuple[int, int] | None:
    """The next period that will be eligible, and its chosen instant."""
    if definition.suspend:
        return None
    schedule = definition.schedule
    lead, named = schedule.decider.window.lead, {one.period for one in status.opened}
    best: tuple[int, int] | None = None
    for one in status.opened:
        if one.chosen is not None and (best is None or one.chosen < best[1]):
            best = one.period, one.chosen
    nominal = schedule.recurrence.next_epoch(status.cursor)
    for _ in range(_SOON):
        if nominal is None or (best is not None and nominal - lead >= best[1]):
            break
        if nominal not in status.ahead and nominal not in named:
            chosen = schedule.decider.choose(nominal)
            if chosen is not None and (best is None or chosen < best[1]):
                best = nominal, chosen
        nominal = schedule.recurrence.next_epoch(nominal)
    return best


def _open(status: Status, schedule: Schedule, now: int) -> tuple[list[Opened], int, list[Entry]]:
    """The periods that are open by now, the cursor after what is over, and what that is."""
    due = Due(schedule=schedule, version=0, cursor=status.cursor)
    opening = open_periods(due, now * 1000, USUAL)
    over: list[Entry] = []
    cursor, ahead = status.cursor, set(status.ahead)
    named = {one.period for one in status.opened}
    for fact in opening.facts:
        assert fact.outcome is not None
        assert fact.reason is not None
        if not fact.last_nominal:
            if fact.nominal not in ahead and fact.nominal not in named:
                over.append(
                    Record(fact.nominal, fact.outcome, now, fact.reason.value,
                           seed_hash=_seed_hash(schedule, fact.nominal))
                )  # fmt: skip
            continue
        cursor = max(cursor, fact.last_nominal)
        size = fact.periods - sum(1 for one in ahead | named if fact.nominal <= one <= cursor)
        if size > 0:
            reason = fact.reason.value
            over.append(_span(fact.nominal, fact.last_nominal, size, fact.outcome, reason, now))
    return [
        Opened(one.nominal, one.fire_ms // 1000, "")
        for one in opening.periods
        if one.nominal not in ahead and one.nominal not in named
    ], cursor, over  # fmt: skip


def _blamed(one: Entry, status: Status, schedule: Schedule) -> Entry:
    """A missed period could not start if, before its deadline, no Job could be made."""
    if not isinstance(one, Record) or one.reason != Reason.DEADLINE:
        return one
    deadline = schedule.policy.deadline
    assert deadline is not None, "a KronJob has one"
    over = one.period + schedule.decider.window.span + deadline.total_seconds()
    failing = any(
        condition.kind == ConditionKind.LAUNCH_FAILING and condition.since <= over
        for condition in status.conditions
    )
    return one._replace(reason=Reason.LAUNCH_FAILED.value) if failing else one


def _judge(
    open_now: Sequence[Opened], definition: Definition, over: list[Entry], missed: Reason, now: int
) -> tuple[list[Opened], int | None]:
    """Of the periods that are open: what may start, and the instant of the next; the rest is
    over."""
    schedule, deadline = definition.schedule, definition.schedule.policy.deadline
    eligible: list[Opened] = []
    wake = _next_opening(schedule, now)
    for one in sorted(open_now):
        if one.chosen is None:
            over.append(_record(one, Outcome.UNSCHEDULABLE, Reason.CONSTRAINTS.value, now))
        elif one.chosen > now:
            wake = one.chosen if wake is None else min(wake, one.chosen)
        elif is_too_late(one.chosen * 1000, deadline, now_ms=now * 1000):
            over.append(_record(_known(one, schedule), Outcome.MISSED, missed.value, now))
        else:
            eligible.append(_known(one, schedule))
    fires = [one.chosen * 1000 for one in eligible if one.chosen is not None]
    counts = kept(
        Catchup.RECENT, fires, now_ms=now * 1000, on_time_ms=USUAL.on_time_ms,
        grace_ms=USUAL.grace_ms, recent_max=USUAL.one_by_one_max,
    )  # fmt: skip
    paired = list(zip(eligible, counts, strict=True))
    over += [
        _record(one, Outcome.SKIPPED, Reason.CATCHUP_LIMIT.value, now)
        for one, counted in paired if not counted
    ]  # fmt: skip
    eligible = [one for one, counted in paired if counted]
    if schedule.policy.overlap is Overlap.REPLACE:
        over += [
            _record(one, Outcome.SKIPPED, Reason.SUPERSEDED.value, now) for one in eligible[:-1]
        ]
        eligible = eligible[-1:]
    return eligible, wake


def _next_opening(schedule: Schedule, now: int) -> int | None:
    """When the window of the first period after those that are open opens."""
    lead = schedule.decider.window.lead
    nominal = schedule.recurrence.next_epoch(now + lead)
    return None if nominal is None else nominal - lead


def _let_go(identity: str, status: Status, definition: Definition, now: int) -> Status:
    """What becomes of the periods that had opened under the timing that is replaced."""
    try:
        old = read_timing(identity, status.timing, definition.schedule.policy)
    except DefinitionError:  # a zone that a newer zone data no longer has
        return status
    opened, cursor, over = _open(status, old, now)
    status = replace(status, cursor=max(status.cursor, cursor))
    deadline = definition.schedule.policy.deadline
    staying = [*status.opened, *(_known(one, old) for one in opened)]
    for one in over:
        if isinstance(one, Record) and one.outcome is Outcome.UNSCHEDULABLE:
            staying.append(Opened(one.period, None, one.seed_hash))  # recorded when it goes on
    gone = [one for one in over if one.outcome is not Outcome.UNSCHEDULABLE]
    if not definition.suspend:
        status = add_entries(status, gone, records_max=definition.records_max)
        return _bounded(status, old, staying, definition, now)
    late = [
        one for one in staying
        if one.chosen is not None and is_too_late(one.chosen * 1000, deadline, now_ms=now * 1000)
    ]  # fmt: skip
    lapsed = status.lapsed
    for first, last, size in [*map(_extent, gone), *((one.period, one.period, 1) for one in late)]:
        least, most, sum_of = lapsed or (first, last, 0)
        lapsed = Lapsed(min(least, first), max(most, last), sum_of + size)
    status = replace(status, lapsed=lapsed)
    status = handled(status, old, [one.period for one in late], now=now)
    return _bounded(status, old, [one for one in staying if one not in late], definition, now)


def _bounded(
    status: Status, old: Schedule, staying: list[Opened], definition: Definition, now: int
) -> Status:
    """So many periods stay open at most, the newest; the others are skipped."""
    staying.sort()
    dropped = staying[:-OPENED_MAX]
    status = replace(status, opened=tuple(staying[-OPENED_MAX:]))
    if dropped:
        reason = Reason.CATCHUP_LIMIT.value
        entries = [_record(one, Outcome.SKIPPED, reason, now) for one in dropped]
        status = add_entries(status, entries, records_max=definition.records_max)
        status = handled(status, old, [one.period for one in dropped], now=now)
    return status


def _record(one: Opened, outcome: Outcome, reason: str, now: int) -> Record:
    return Record(one.period, outcome, now, reason, one.chosen, one.seed_hash)


def _span(first: int, last: int, size: int, outcome: Outcome, reason: str, now: int) -> Entry:
    """A range; one period is no range."""
    if first == last:
        return Record(first, outcome, now, reason)
    return Range(first, last, size, outcome, now, reason)


def _extent(one: Entry) -> tuple[int, int, int]:
    return (
        (one.first, one.last, one.size) if isinstance(one, Range) else (one.period, one.period, 1)
    )


def _known(one: Opened, schedule: Schedule) -> Opened:
    """With its seed hash, which is made only for periods that something becomes of."""
    return one if one.seed_hash else one._replace(seed_hash=_seed_hash(schedule, one.period))


def _seed_hash(schedule: Schedule, nominal: int) -> str:
    return schedule.decider.decide(nominal).seed_hash
