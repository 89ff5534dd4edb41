"""
Before the court: what a scheduler wrote, with the pulses that it was not asked about.

The court hears three things: what the clock showed whenever the scheduler looked at it, what was
written and when, and that the process died. From the first it knows which minutes have begun for
the scheduler, each placed where the clock first showed it. What a dead process had seen and not
written is lost. A clock that was set and set again within half a minute, before the scheduler
looked, showed nothing in between. A minute that was once shown does not begin again; one that the
clock leapt over is owed with the leap, and begins all the same when the clock, set back, shows it.
In a minute that comes again nothing is due. The rest is the theory's: each entry becomes an event,
in its order, among minutes, dues and retries.

Spec: SIM-12, SIM-13.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from gnomon.simulation.declarative.minutes import Minutes
from gnomon.simulation.kit.notes import Complaint
from gnomon.theory import Monitor, Report
from gnomon.trace import CallId, Event, Header, Kind, Registration, Reinitialize, Witnesses

__all__ = ["MINUTE_MS", "Court", "Mark"]

MINUTE_MS = 60_000
RETRY_MIN_MS = 1_000
"""A retry is never due earlier than this after its failure, however short the delay."""
LOOK_MS = 30_000
"""No scheduler has to look at the clock more often than this."""

LEAP_MIN = 180
"""Of more minutes than this that come at once, only the first for each cron text is told."""

_NEVER_MS = -(10**18)


class Mark(NamedTuple):
    """When something was decided, and what the clock had shown by then."""

    at: int
    wall_ms: int
    minute: int
    """The minute it showed last."""
    top: int
    """The last minute that was shown without a gap from there on."""
    shown: int
    """How many minutes were shown, each once."""
    begun: int
    """How many minutes had begun."""


class _Begun(NamedTuple):
    """A minute that has begun for the scheduler."""

    at: int
    minute: int
    number: int
    is_due: bool
    """Whether what it asks for is due; not when it comes again."""


class Court:
    """Hears one world, from its beginning to its end."""

    def __init__(
        self, header: Header, minutes: Minutes, tasks: Sequence[tuple[str, str]], *,
        lag_ms: int, hear: Callable[[Event], None],
    ) -> None:  # fmt: skip
        self.complaints: list[Complaint] = []
        self.events = 0
        self.registered: dict[str, Registration] = {}
        """The list in force, or that was when the scheduler was last up."""
        self._monitor = Monitor(header, witnesses=Witnesses(0.0, 0.0, lag_ms))
        self._may_reconcile = header.reinitialize is Reinitialize.RECONCILE
        self._minutes = minutes
        self._names: dict[str, list[str]] = {}
        for name, text in dict.fromkeys(tasks):
            self._names.setdefault(text, []).append(name)
        self._hear = hear
        self._base: Mark | None = None
        """The decision that was written last; None as long as nothing is written."""
        self._seen: set[int] = set()
        self._log: list[int] = []
        """The minutes that were shown, in the order in which they were."""
        self._minute = self._top = -1
        self._begun = 0
        self._stretches: list[tuple[int, int]] = []
        """Where the clock began to run evenly, since the base."""
        self._is_seen = False
        """Whether the scheduler has looked since the latest of them began."""
        self._shown: deque[_Begun] = deque()
        self._owner = (0, 0)
        self._former = (0, 0)
        self._last_t = 0
        self._open: dict[CallId, tuple[Registration, ...]] = {}
        self._delays: dict[str, int] = {}
        self._retries: list[tuple[int, str]] = []

    def shown(self, at: int, wall_ms: int) -> None:
        """The scheduler has looked at the clock."""
        self._is_seen = True
        minute = wall_ms // MINUTE_MS
        if minute == self._minute:
            return
        if self._minute < 0:  # the minute in which it begins is the first
            self._top = minute - 1
            self._stretches = [(at, wall_ms)]
        for passed in self._leapt(minute):
            self._begin(passed, self._first_shown(passed * MINUTE_MS, at))
        if minute in self._seen:
            self._begin(minute, at, is_due=False)
        else:
            since = self._stretches[-1:] if minute < self._top else self._stretches
            self._begin(minute, self._first_shown(minute * MINUTE_MS, at, since))
            self._seen.add(minute)
            self._log.append(minute)
        self._minute = self._top = minute
        while self._top + 1 in self._seen:
            self._top += 1

    @property
    def passed(self) -> frozenset[int]:
        """The minutes that the scheduler has seen, counted from 1970: they do not come again."""
        return frozenset(self._seen)

    def stepped(self, at: int, wall_ms: int) -> None:
        """The clock was set."""
        if self._stretches and not self._is_seen and at - self._stretches[-1][0] < LOOK_MS:
            self._stretches[-1] = (self._stretches[-1][0], _NEVER_MS)
        self._stretches.append((at, wall_ms))
        self._is_seen = False

    def mark(self, at: int, wall_ms: int) -> Mark:
        """Something is about to be written, from what is known now."""
        return Mark(at, wall_ms, self._minute, self._top, len(self._log), self._begun)

    def owned(self, mark: Mark, t: int) -> None:
        """There is a new owner, whose time was `t` then."""
        self._former, self._owner = self._owner, (mark.at, t)

    def written(self, event: Event) -> None:
        """The journal has this event now."""
        self._pulse(event.t)
        if event.t < self._last_t:
            self._complain("time goes back", event.task, f"{event} after t {self._last_t}")
        self._note(event)
        self._see(event)

    def settled(self, mark: Mark) -> None:
        """All that was decided then is written."""
        self._base = mark
        later = [one for one in self._stretches if one[0] > mark.at]
        self._stretches = [(mark.at, mark.wall_ms), *later]
        self._is_seen = self._is_seen or not later

    def died(self) -> None:
        """The process is dead: what it knew and had not written is lost."""
        base = self._base or Mark(0, 0, -1, -1, 0, 0)
        self._minute, self._top = base.minute, base.top
        self._seen -= set(self._log[base.shown :])
        del self._log[base.shown :]
        while self._shown and self._shown[-1].number > base.begun:
            self._shown.pop()

    def close(self, at: int, wall_ms: int) -> Report:
        """The scheduler was stopped, and nothing more happens."""
        self.shown(at, wall_ms)
        self._pulse(self._t(at))
        if not self._monitor.situation().is_complete:
            self._complain("not at rest", "", "the trace ends before the end of stop()")
        return self._monitor.verdicts()

    def _leapt(self, minute: int) -> Iterator[int]:
        """The minutes before this one that were not shown; of many, those with something new."""
        found: set[str] = set()
        is_leap = minute - self._top > LEAP_MIN
        for passed in range(self._top + 1, minute):
            if passed in self._seen:
                continue
            texts = self._minutes.due(passed * 60) if is_leap else ()
            if not (is_leap and found.issuperset(texts)):
                yield passed
            found.update(texts)

    def _begin(self, minute: int, at: int, *, is_due: bool = True) -> None:
        self._begun += 1
        self._shown.append(_Begun(at, minute, self._begun, is_due))

    def _first_shown(
        self, minute_ms: int, now_at: int, since: Sequence[tuple[int, int]] = ()
    ) -> int:
        for (at, wall_ms), (end_at, _) in pairwise([*(since or self._stretches), (now_at, 0)]):
            if minute_ms <= wall_ms + end_at - at:
                return at + max(minute_ms - wall_ms, 0)
        return now_at

    def _t(self, at: int) -> int:
        owner_at, owner_t = self._owner
        if at >= owner_at:
            return owner_t + at - owner_at
        former_at, former_t = self._former
        return min(max(former_t + at - former_at, self._last_t), owner_t)

    def _pulse(self, until_t: int) -> None:
        """Everything that came by itself up to here: minutes, dues and retries."""
        shown, retries = self._shown, self._retries
        while shown or retries:
            minute_t = self._t(shown[0].at) if shown else until_t + 1
            if retries and retries[0][0] < minute_t:
                if retries[0][0] > until_t:
                    return
                t, task = heappop(retries)
                self._see(Event(Kind.RETRY_DUE, t, task))
            elif minute_t > until_t:
                return
            else:
                self._begin_minute(minute_t, shown.popleft())

    def _begin_minute(self, t: int, begun: _Begun) -> None:
        self._see(Event(Kind.MINUTE_START, t, wall_ms=begun.minute * MINUTE_MS))
        for text in self._minutes.due(begun.minute * 60) if begun.is_due else ():
            for name in self._names[text]:
                self._see(Event(Kind.DUE, t, name, cron=text))

    def _note(self, event: Event) -> None:
        match event.kind:
            case Kind.RUN_START:
                task = self.registered.get(event.task)
                self._delays[event.task] = RETRY_MIN_MS if task is None else task.retry_ms
            case Kind.RUN_SUCCESS:
                pass
            case Kind.INIT_START:
                self._open[event.call] = event.registrations
            case Kind.INIT_SUCCESS:
                listed = self._open.pop(event.call, ())
                self.registered = {one.name: one for one in listed}
            case Kind.RUN_FAILURE:
                delay_ms = max(self._delays.get(event.task, 0), RETRY_MIN_MS)
                heappush(self._retries, (event.t + delay_ms, event.task))
            case Kind.CRASH:
                self._open.clear()

    def _see(self, event: Event) -> None:
        self.events += 1
        if event.t > self._last_t:
            self._last_t = event.t
        self._hear(event)
        for violation in self._monitor.see(event):
            if violation.axiom == "S6" and self._may_reconcile:
                continue
            self._complain(violation.axiom, violation.task, violation.explanation)

    def _complain(self, rule: str, task: str, text: str) -> None:
        self.complaints.append(Complaint(rule, task, text))
