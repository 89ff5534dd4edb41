"""
The engine: what happens next to the periods of a schedule?

`plan` looks at the schedules that are due, with their waiting and running periods, and says which
facts to write and, once they are written, what to start and what to end. It decides, nothing else
does; it reads no clock and touches no store. Applying a plan twice applies it once, because a plan
carries the version of the schedule it was made from.

A period is planned when its window opens, so that a schedule's cursor never goes back: every period
up to the cursor has a row of its own or lies in exactly one range. Work per call is bounded by
`Limits`; what is left over is found by the next call, because the cursor has not passed it.

Spec: ENGINE-1 to ENGINE-9.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, InFlight, Waiting, period_key, range_key
from gnomon.core.policy.catchup import kept, spread
from gnomon.core.policy.deadline import is_too_late, last_too_late
from gnomon.core.policy.overlap import Turn, turns
from gnomon.core.schedule import Catchup, Overlap, PauseRule, Schedule, Uncertain

__all__ = ["USUAL", "Change", "Due", "Launch", "Limits", "Lost", "Pause", "plan"]


class Limits(NamedTuple):
    """How much one call does for one schedule, and what it takes for late."""

    catchup_max: int = 100
    """Overdue periods opened, and periods started, at a time."""
    queue_max: int = 100
    open_max: int = 5_000
    """Periods opened at a time."""
    one_by_one_max: int = 32
    """Overdue periods that get a row each; more become one range."""
    count_max: int = 1_000_000
    """Periods that one range stands for."""
    on_time_ms: int = 2_000
    """How long after its chosen instant a period still counts as seen in time."""
    grace_ms: int = 61_000
    """How old the newest overdue period may be under the catch-up policy `none`."""
    lookahead_ms: int = 60_000
    """Over how long overdue periods are spread."""


USUAL = Limits()


class Pause(NamedTuple):
    """A schedule starts nothing, until an instant or until further notice."""

    until_ms: int | None = None


class Lost(NamedTuple):
    """A run that its worker has not been heard of in time."""

    run: InFlight
    never_started: bool
    """Whether it is certain that the launcher did not start it."""


class Due(NamedTuple):
    """A schedule with what is known about its periods."""

    schedule: Schedule
    version: int
    cursor: int
    """The last nominal instant that has been planned."""
    pause: Pause | None = None
    waiting: Sequence[Waiting] = ()
    in_flight: Sequence[InFlight] = ()
    lost: Sequence[Lost] = ()
    effective_ms: int = 0
    """Since when the definition is in force; nothing it opens runs before."""


class Launch(NamedTuple):
    """A run to start, once its claim is committed."""

    key: str
    nominal: int
    fire_ms: int
    launches: int
    """Which try this is, from 1."""


class Change(NamedTuple):
    """What is to become of one schedule: written as a whole or not at all."""

    schedule: Schedule
    version: int
    cursor: int
    wake_ms: int | None
    """When to look at the schedule again; None when only an event can change anything."""
    facts: list[Fact]
    launches: list[Launch]
    replaced: list[InFlight]
    """Runs to end before anything is started."""
    resumes: bool
    """Whether a pause is over."""


class _Candidate(NamedTuple):
    key: str
    nominal: int
    fire_ms: int
    queued: bool
    launches: int
    is_new: bool

    def becomes(self, state: State, outcome: Outcome | None = None, reason: Reason | None = None,
                *, launches: int | None = None) -> Fact:  # fmt: skip
        tries = self.launches if launches is None else launches
        return Fact(
            self.key, self.nominal, self.fire_ms, state, outcome, reason, tries, self.is_new
        )


def plan(dues: Iterable[Due], *, now_ms: int, limits: Limits = USUAL) -> list[Change]:
    """What is to become of each schedule at `now_ms`."""
    return [_plan_one(due, now_ms, limits) for due in dues]


def _plan_one(due: Due, now_ms: int, limits: Limits) -> Change:
    schedule, pause = due.schedule, due.pause
    facts: list[Fact] = []
    again, back = _settle_lost(due, facts)
    if pause is not None and (pause.until_ms is None or pause.until_ms > now_ms):
        return Change(
            schedule, due.version, due.cursor, pause.until_ms, facts, again, [], resumes=False
        )
    paused_ms = _paused_ms(due)
    cursor, opened = _open(due, paused_ms, facts, now_ms, limits)
    candidates = [_Candidate(*wait, is_new=False) for wait in due.waiting] + opened
    passed = [one for one in candidates if one.fire_ms < paused_ms]
    facts += [one.becomes(State.DONE, Outcome.SKIPPED, Reason.PAUSED) for one in passed]
    candidates = [one for one in candidates if one.fire_ms >= paused_ms]
    ready = [one for one in candidates if one.queued or one.fire_ms <= now_ms]
    later = [one for one in candidates if not one.queued and one.fire_ms > now_ms]
    wanting = _judge(schedule, ready, later, facts, now_ms, limits)
    started, left = _start(due, wanting, len(again), back, facts, limits)
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
        now_ms if left or back else wake_ms,
        facts,
        again + started,
        list(due.in_flight) if replaces else [],
        resumes=pause is not None and (wake_ms is None or wake_ms >= paused_ms),
    )


def _settle_lost(due: Due, facts: list[Fact]) -> tuple[list[Launch], int]:
    """Runs whose worker is gone: those to start again, and how many go back to being planned."""
    again, back = [], 0
    newest = _newest_to_run(due)
    for run, never_started in due.lost:
        fact = Fact(run.key, run.nominal, run.fire_ms, State.PLANNED, launches=run.launches)
        if never_started and run.state is State.CLAIMED:
            facts.append(fact)
            back += 1
            continue
        fact = fact._replace(state=State.DONE, outcome=Outcome.EXECUTED)  # it may have been
        if due.schedule.policy.uncertain is Uncertain.ABANDON:
            facts.append(fact._replace(reason=Reason.UNCERTAIN))
        elif run.nominal < newest:
            facts.append(fact._replace(reason=Reason.REPLACED))
        else:
            tries = run.launches + 1
            facts.append(fact._replace(state=State.CLAIMED, launches=tries))
            again.append(Launch(run.key, run.nominal, run.fire_ms, tries))
    return again, back


def _newest_to_run(due: Due) -> int:
    """Under `replace`, the nominal instant before which nothing is started again; else 0."""
    if due.schedule.policy.overlap is not Overlap.REPLACE:
        return 0
    lost = [lost.run.nominal for lost in due.lost if not lost.never_started]
    return max([*lost, *(run.nominal for run in due.in_flight)], default=0)


def _paused_ms(due: Due) -> int:
    """Before which instant a pause that is over swallows the periods; 0 when none does."""
    if due.pause is None or due.schedule.policy.pause is PauseRule.HOLD:
        return 0
    return due.pause.until_ms or 0


def _open(
    due: Due, paused_ms: int, facts: list[Fact], now_ms: int, limits: Limits
) -> tuple[int, list[_Candidate]]:
    """The periods whose window has opened since the cursor, and the cursor after them."""
    schedule, cursor = due.schedule, due.cursor
    newest = schedule.recurrence.latest_epoch((now_ms + schedule.lead_ms) // 1000)
    if newest is None or newest <= cursor:
        return cursor, []
    nominals: Iterable[int] = (newest,)  # the usual case: somebody looked in time
    if schedule.recurrence.next_epoch(cursor) != newest:
        for passes in _passes(schedule, cursor, newest, paused_ms, now_ms, limits):
            cursor, whole = _pass_over(schedule, cursor, *passes, facts, limits)
            if not whole:
                return cursor, []
        most = limits.catchup_max if _runs_all(schedule) else limits.open_max
        within = takewhile(newest.__ge__, schedule.recurrence.iterate_epochs(cursor))
        nominals = islice(within, most)
    opened = []
    for nominal in nominals:
        cursor = nominal
        key = period_key(schedule.schedule_id, nominal)
        fire_ms = schedule.chosen_ms(nominal)
        if fire_ms is None:
            facts.append(
                Fact(key, nominal, nominal * 1000, State.DONE, Outcome.UNSCHEDULABLE,
                     Reason.CONSTRAINTS, is_new=True)
            )  # fmt: skip
        else:
            fire_ms = max(fire_ms, due.effective_ms)
            opened.append(_Candidate(key, nominal, fire_ms, False, 0, is_new=True))
    return cursor, opened


def _passes(
    schedule: Schedule, cursor: int, newest: int, paused_ms: int, now_ms: int, limits: Limits
) -> list[tuple[int, Outcome, Reason]]:
    """
    Up to which nominal instant periods become a range, and why, one range after the other.

    They hold what is certain without asking when a period was chosen to run. The last few overdue
    periods, and the newest, are left to be judged one by one.
    """
    deadline, paused = schedule.policy.deadline, (paused_ms - schedule.tail_ms - 1) // 1000
    late = too_late = -1
    if deadline is not None:
        too_late = last_too_late(schedule.tail_ms, deadline, now_ms=now_ms)
    if not _runs_all(schedule):
        late = (now_ms - limits.on_time_ms - schedule.tail_ms - 1) // 1000
    until, floor = min(max(late, too_late), newest - 1), max(cursor, paused)
    for _ in range(limits.one_by_one_max):
        if until <= floor:
            break
        until = (schedule.recurrence.latest_epoch(until) or 0) - 1
    return [
        (paused, Outcome.SKIPPED, Reason.PAUSED),
        (min(too_late, until), Outcome.MISSED, Reason.DEADLINE),
        (until, Outcome.MISSED, Reason.OUTAGE),
    ]


def _runs_all(schedule: Schedule) -> bool:
    return schedule.policy.catchup in (Catchup.FIRE_IMMEDIATELY, Catchup.SPREAD)


def _pass_over(
    schedule: Schedule, cursor: int, until: int, outcome: Outcome, reason: Reason,
    facts: list[Fact], limits: Limits,
) -> tuple[int, bool]:  # fmt: skip
    """
    Record the periods after `cursor` up to `until` as one range.

    Return the cursor after it, and whether that was all; a range has a greatest size.
    """
    first = schedule.recurrence.next_epoch(cursor)
    if first is None or first > until:
        return cursor, True
    nominals = schedule.recurrence.iterate_epochs(cursor)
    within = takewhile(until.__ge__, nominals)
    ((count, last),) = deque(enumerate(islice(within, limits.count_max), 1), maxlen=1)
    facts.append(
        Fact(range_key(schedule.schedule_id, first), first, first * 1000, State.DONE, outcome,
             reason, is_new=True, last_nominal=last, periods=count)
    )  # fmt: skip
    return last, count < limits.count_max


def _judge(
    schedule: Schedule, ready: list[_Candidate], later: list[_Candidate], facts: list[Fact],
    now_ms: int, limits: Limits,
) -> list[_Candidate]:  # fmt: skip
    """Those that want to start, oldest first; the others are missed, or put off into `later`."""
    policy = schedule.policy
    wanting = [one for one in ready if one.queued]
    fresh = []
    for one in ready:
        if one.queued:
            continue
        if is_too_late(_counts_from_ms(schedule, one), policy.deadline, now_ms=now_ms):
            facts.append(one.becomes(State.DONE, Outcome.MISSED, Reason.DEADLINE))
        elif one.launches:
            wanting.append(one)
        else:
            fresh.append(one)
    fresh.sort(key=_by_nominal)
    verdicts = kept(
        policy.catchup, [one.fire_ms for one in fresh],
        now_ms=now_ms, on_time_ms=limits.on_time_ms, grace_ms=limits.grace_ms,
    )  # fmt: skip
    missed = [one for one, counts in zip(fresh, verdicts, strict=True) if not counts]
    facts += [one.becomes(State.DONE, Outcome.MISSED, Reason.OUTAGE) for one in missed]
    fresh = [one for one, counts in zip(fresh, verdicts, strict=True) if counts]
    if policy.catchup is Catchup.SPREAD:
        fresh = _spread(fresh, later, facts, now_ms, limits)
    newest_wins = policy.overlap is Overlap.REPLACE
    return sorted(wanting + fresh, key=_by_nominal if newest_wins else _by_turn)


def _counts_from_ms(schedule: Schedule, one: _Candidate) -> int:
    """From when on a period is late: its chosen instant, and not that of a further try."""
    chosen_ms = schedule.chosen_ms(one.nominal) if one.launches else None
    return one.fire_ms if chosen_ms is None else min(chosen_ms, one.fire_ms)


def _spread(
    fresh: list[_Candidate], later: list[_Candidate], facts: list[Fact], now_ms: int, limits: Limits
) -> list[_Candidate]:
    """Late periods get a new instant ahead, once, which is written down."""
    late = [one for one in fresh if one.fire_ms < now_ms - limits.on_time_ms]
    if not late:
        return fresh
    instants = spread(len(late), now_ms=now_ms, over_ms=limits.lookahead_ms)
    at_once = [one for one in fresh if one.fire_ms >= now_ms - limits.on_time_ms]
    for one, fire_ms in zip(late, instants, strict=True):
        moved = one._replace(fire_ms=fire_ms)
        if fire_ms <= now_ms:
            at_once.append(moved)
        else:
            later.append(moved)
            if not one.is_new:
                facts.append(moved.becomes(State.PLANNED))
    return at_once


def _start(
    due: Due, wanting: list[_Candidate], again: int, back: int, facts: list[Fact], limits: Limits
) -> tuple[list[Launch], bool]:
    """Who starts; and whether somebody could not, but can when asked again."""
    launches, left = [], False
    for one, turn in zip(wanting, _turns(due, wanting, again, back, limits), strict=True):
        match turn:
            case Turn.START:
                tries = one.launches + 1
                facts.append(one.becomes(State.CLAIMED, launches=tries))
                launches.append(Launch(one.key, one.nominal, one.fire_ms, tries))
            case Turn.WAIT:
                left = True
                if one.is_new:
                    facts.append(one.becomes(State.PLANNED))
            case Turn.QUEUE:
                if not one.queued:
                    facts.append(one.becomes(State.QUEUED))
            case Turn.FULL if one.queued:
                pass  # who is in the queue already keeps the place
            case _:
                facts.append(one.becomes(State.DONE, Outcome.SKIPPED, _WHY[turn]))
    return launches, left


def _turns(
    due: Due, wanting: list[_Candidate], again: int, back: int, limits: Limits
) -> list[Turn]:
    overlap = due.schedule.policy.overlap
    if overlap is Overlap.REPLACE and wanting:
        if again:  # what is being started again can be ended only when it is there
            return [Turn.WAIT] * len(wanting)
        running = max((run.nominal for run in due.in_flight), default=0)
        if wanting[-1].launches and wanting[-1].nominal < running:
            return [Turn.SUPERSEDED] * len(wanting)
    return turns(
        overlap, len(wanting), in_flight=len(due.in_flight) + again + back,
        starts_max=limits.catchup_max, queue_max=limits.queue_max,
    )  # fmt: skip


def _by_nominal(one: _Candidate) -> int:
    return one.nominal


def _by_turn(one: _Candidate) -> tuple[bool, bool, int]:
    """Those who had their turn already, then the queue, then the others; each oldest first."""
    return not one.launches, not one.queued, one.nominal


_WHY = {
    Turn.SKIP: Reason.OVERLAP,
    Turn.FULL: Reason.QUEUE_FULL,
    Turn.SUPERSEDED: Reason.SUPERSEDED,
}
