"""
The pulses that a trace leaves out: which minutes began, and what was due in them.

They follow from the wall clock that the events carry, the zone of the header and the cron texts of
the registrations. Between two events the wall clock runs with `t`. The first minute is the one in
which the trace begins, so that a task that is new in it is due.

What of a clock that was set is known, and what is in doubt, is the business of `trace_clock`. A due
that is in doubt is put right before the next start of its task: the start was asked for then, and
nothing was owed if there is none.

A cron text is read as `posix`, or else as `standard`, and daylight saving time is `strict`, as in
the declarative scheduler. A text that is neither does not say when it is due: every start of such a
task was asked for, and none is owed.

Spec: CHECK-4, CHECK-6.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from gnomon.cli.trace_clock import TraceClock, Whether, is_step
from gnomon.core.recurrence import Recurrence, cron
from gnomon.errors import DefinitionError
from gnomon.theory.pulses import retry_pulses
from gnomon.trace import CallId, Event, Header, Kind, Registration

__all__ = ["PULSES_MAX", "RETRY_MIN_MS", "with_pulses"]

RETRY_MIN_MS = 1_000
"""The declarative scheduler waits this long before a retry, however short the delay."""

PULSES_MAX = 50_000_000
"""Minutes and dues of one trace; a clock that jumped by centuries is not followed there."""

_DIALECTS = ("posix", "standard")
_RANK = {Kind.MINUTE_START: 0, Kind.DUE: 1, Kind.RETRY_DUE: 2}
_EVENT_RANK = 3


class _Placed(NamedTuple):
    """An event and where it belongs: by its time, then by how often the clock was set before."""

    t: int
    era: int
    rank: int
    event: Event


def with_pulses(
    header: Header, events: Sequence[Event], *, is_cut: bool = False
) -> Iterator[Event]:
    """
    The events with the minutes, dues and retries that belong among them.

    `is_cut` says that there was more before them: what a task owes is in doubt until it has started
    or ended, because it may have been running.
    """
    eras = _eras(events)
    streams = (
        _limited(_pulses(header, events, eras, is_cut=is_cut)),
        _retries(events, eras),
        (_Placed(one.t, era, _EVENT_RANK, one) for one, era in zip(events, eras, strict=True)),
    )
    for placed in heapq.merge(*streams, key=lambda one: one[:3]):
        yield placed.event


def _limited(pulses: Iterator[_Placed]) -> Iterator[_Placed]:
    yield from islice(pulses, PULSES_MAX)
    if (beyond := next(pulses, None)) is not None:
        raise DefinitionError(
            f"spans more than {PULSES_MAX:,} minutes and dues", where="wall",
            got=beyond.event.wall_ms, hint="look for a clock that jumped, or split the trace",
        )  # fmt: skip


def _eras(events: Sequence[Event]) -> list[int]:
    """For each event, how often the clock was seen to have been set by then."""
    found, era = [], 0
    known: Event | None = None
    for event in events:
        if event.wall_ms is not None:
            era += known is not None and is_step(known, event)
            known = event
        found.append(era)
    return found


def _retries(events: Sequence[Event], eras: Sequence[int]) -> Iterator[_Placed]:
    times = [one.t for one in events]
    for retry in retry_pulses(events, delay_min_ms=RETRY_MIN_MS):
        place = bisect_left(times, retry.t)
        if place < len(times):
            yield _Placed(retry.t, eras[place], _RANK[retry.kind], retry)


def _pulses(
    header: Header, events: Sequence[Event], eras: Sequence[int], *, is_cut: bool
) -> Iterator[_Placed]:
    """Each minute that began, followed by what was due in it."""
    dues, clock = _Dues(header.zone, events), TraceClock(is_cut=is_cut)
    doubt = _Doubt(dues, is_cut=is_cut)
    for event, era in zip(events, eras, strict=True):
        for minute_ms, t, whether in clock.follow(event):
            minute = Event(Kind.MINUTE_START, t, wall_ms=minute_ms)
            yield _Placed(t, era, _RANK[minute.kind], minute)
            for due in dues.at(minute_ms, t) if whether is not Whether.NO else ():
                if not doubt.has(due, whether):
                    yield _Placed(t, era, _RANK[due.kind], due)
        for due in doubt.hear(event):
            yield _Placed(event.t, era, _RANK[due.kind], due._replace(t=event.t))


class _Doubt:
    """The dues that may or may not have been there, by the name and the cron text of the task."""

    def __init__(self, dues: "_Dues", *, is_cut: bool) -> None:
        self._never_known = dues.unknown
        self._doubtful = dues.of_all() if is_cut else {}
        self._unseen = set(self._doubtful)
        """The tasks of which the trace does not say whether they are running."""
        self._open: dict[CallId, tuple[Registration, ...]] = {}
        self._texts: dict[str, str] = {}
        """The cron texts of the tasks that are registered."""

    def has(self, due: Event, whether: Whether) -> bool:
        """Whether this one is in doubt, and kept; a certain one takes the place of one that is."""
        of_task = self._doubtful.setdefault(due.task, {})
        if whether is Whether.MAYBE or due.task in self._unseen:
            of_task[due.cron] = due
            return True
        of_task.pop(due.cron, None)
        return False

    def hear(self, event: Event) -> Iterator[Event]:
        """The dues that were there, since a run was started that asks for one."""
        match event.kind:
            case Kind.INIT_START:
                self._open[event.call] = event.registrations
            case Kind.INIT_SUCCESS:
                listed = self._open.pop(event.call, ())
                self._texts = {one.name: one.cron for one in listed}
            case Kind.RUN_START:
                yield from self._asked(event.task)
        self._unseen.discard(event.task)

    def _asked(self, task: str) -> Iterator[Event]:
        # What a run that began before the trace has left owed is asked for by the next one.
        kept = task in self._unseen
        doubtful = self._doubtful.get(task, {}) if kept else self._doubtful.pop(task, {})
        found = self._never_known.get(task, {}) | doubtful
        if (text := self._texts.get(task)) in found:
            yield found[text]


class _Dues:
    """What is due at each minute, for every task that a trace registers."""

    def __init__(self, zone: str, events: Sequence[Event]) -> None:
        tasks = {
            (one.name, one.cron): None
            for event in events
            if event.kind is Kind.INIT_START
            for one in event.registrations
        }
        readings = {text: _read(text, zone) for _, text in tasks}
        self._recurrences = {
            task: found for task in tasks if (found := readings[task[1]]) is not None
        }
        self.unknown: dict[str, dict[str, Event]] = {}
        """Of each task the dues, for all that is known, by texts that do not say when."""
        for name, text in tasks:
            if readings[text] is None:
                self.unknown.setdefault(name, {})[text] = Event(Kind.DUE, 0, name, cron=text)
        self._next: dict[tuple[str, str], int | None] = {}
        self._asked = 0

    def of_all(self) -> dict[str, dict[str, Event]]:
        """A due of every task, by its name and cron text."""
        found: dict[str, dict[str, Event]] = {}
        for name, text in self._recurrences:
            found.setdefault(name, {})[text] = Event(Kind.DUE, 0, name, cron=text)
        return found

    def at(self, minute_ms: int, t: int) -> Iterator[Event]:
        """Every task whose cron text matches the minute; quick in order of time."""
        second = minute_ms // 1_000
        if second < self._asked:  # the clock was set back
            self._next.clear()
        self._asked = second
        for task, recurrence in self._recurrences.items():
            coming = self._next[task] if task in self._next else recurrence.next_epoch(second - 1)
            while coming is not None and coming < second:
                coming = recurrence.next_epoch(coming)
            self._next[task] = coming
            if coming == second:
                yield Event(Kind.DUE, t, task[0], cron=task[1], wall_ms=minute_ms)


def _read(text: str, zone: str) -> Recurrence | None:
    for dialect in _DIALECTS:
        try:
            return cron(text, zone=zone, dialect=dialect, dst="strict")
        except DefinitionError as error:
            if error.where == "zone":
                raise
    return None
