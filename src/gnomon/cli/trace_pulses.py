"""
The pulses that a trace leaves out: which minutes began, and what was due in them.

They follow from the wall clock that the events carry, the zone of the header and the cron texts of
the registrations. Between two events the wall clock runs with `t`; where it jumped ahead, the
minutes in between are put where the jump was; where it went back, no minute begins a second time.
The first minute is the one in which the trace begins, so that a task that is new in it is due.

A cron text is read as `posix`, or else as `standard`, and daylight saving time is `strict`, as in
the declarative scheduler. A text that is neither has no dues.

Spec: CHECK-4.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from gnomon.core.recurrence import Recurrence, cron
from gnomon.errors import DefinitionError
from gnomon.theory.pulses import merge, retry_pulses
from gnomon.trace import Event, Header, Kind

__all__ = ["PULSES_MAX", "RETRY_MIN_MS", "with_pulses"]

RETRY_MIN_MS = 1_000
"""The declarative scheduler waits this long before a retry, however short the delay."""

PULSES_MAX = 50_000_000
"""Minutes and dues of one trace; a clock that jumped by centuries is not followed there."""

_MINUTE_MS = 60_000
_DIALECTS = ("posix", "standard")


def with_pulses(header: Header, events: Sequence[Event]) -> Iterator[Event]:
    """The events with the minutes, dues and retries that belong among them."""
    last_t = events[-1].t if events else 0
    retries = (one for one in retry_pulses(events, delay_min_ms=RETRY_MIN_MS) if one.t <= last_t)
    return merge(events, _limited(_minutes(header, events)), retries)


def _limited(pulses: Iterator[Event]) -> Iterator[Event]:
    yield from islice(pulses, PULSES_MAX)
    if (beyond := next(pulses, None)) is not None:
        raise DefinitionError(
            f"spans more than {PULSES_MAX:,} minutes and dues", where="wall", got=beyond.wall_ms,
            hint="look for a clock that jumped, or split the trace",
        )  # fmt: skip


def _minutes(header: Header, events: Sequence[Event]) -> Iterator[Event]:
    """Each minute that began, followed by what was due in it."""
    dues = _Dues(header.zone, events)
    reached: int | None = None  # the wall clock up to which all minutes have begun
    before_t = 0
    for event in events:
        if event.wall_ms is not None:
            if reached is None:
                reached = event.wall_ms - event.wall_ms % _MINUTE_MS - 1
            for minute_ms in _minutes_between(reached, event.wall_ms):
                t = min(max(event.t - (event.wall_ms - minute_ms), before_t), event.t)
                yield Event(Kind.MINUTE_START, t, wall_ms=minute_ms)
                yield from dues.at(minute_ms, t)
            reached = max(reached, event.wall_ms)
        before_t = event.t


def _minutes_between(after_ms: int, until_ms: int) -> range:
    first = after_ms - after_ms % _MINUTE_MS + _MINUTE_MS
    return range(first, until_ms + 1, _MINUTE_MS)


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
        self._next: dict[tuple[str, str], int | None] = {}

    def at(self, minute_ms: int, t: int) -> Iterator[Event]:
        """Every task whose cron text matches the minute; to be asked in order of time."""
        second = minute_ms // 1_000
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
