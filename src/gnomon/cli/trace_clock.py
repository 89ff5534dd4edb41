"""
What the clock on the wall showed to the scheduler of a trace: which minutes began, and when.

The events alone tell. Of the minutes that the clock leapt over, each begins at the latest instant
at which it can have been passed, so that nothing is late that need not be. Set back, the clock may
show minutes that the scheduler has seen, in which nothing is due again, and minutes that it leapt
over or that passed while the scheduler was down, which are due like others.

Between two events a step may have come early or late. The trace does not say what the clock may
have shown before it or after it, and what is due there is in doubt. So is what passes while the
scheduler only waits for its runs to end, because it need not look at the clock then. Steps that
cancel each other out between two events do not show.

Spec: CHECK-4, CHECK-6.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from gnomon.trace import Event, Kind

__all__ = ["STEP_MS", "Begun", "TraceClock", "Whether", "is_step"]

STEP_MS = 1_000
"""A clock that has gone this much further than `t`, or less far, was set."""

_MINUTE_MS = 60_000


class Whether(Enum):
    """Whether what a minute asks for is due in it."""

    YES = auto()
    MAYBE = auto()
    NO = auto()
    """The scheduler has seen the minute before."""


class Begun(NamedTuple):
    """A minute that began."""

    minute_ms: int
    t: int
    is_due: Whether


def is_step(before: Event, event: Event) -> bool:
    """Whether the clock was set between two events that both say what it showed."""
    return abs(_gain_ms(before, event)) > STEP_MS


class TraceClock:
    """Hears the events of a trace, one after the other; `is_cut` says that there were others."""

    def __init__(self, *, is_cut: bool = False) -> None:
        self._is_cut = is_cut
        self._seen, self._doubted = _Minutes(), _Minutes()
        self._known: Event | None = None
        """The last event that says what the clock showed."""
        self._before_t = 0
        self._is_down = self._is_stopping = False

    def follow(self, event: Event) -> Iterator[Begun]:
        """The minutes that began since the event before, in order of time."""
        if event.wall_ms is not None:
            if self._known is None:
                yield from self._begin(event, event.wall_ms)
            else:
                yield from self._go_on(self._known, event)
            self._known = event
        self._before_t = event.t
        if event.kind in (Kind.STOP_END, Kind.CRASH, Kind.INIT_START):
            self._is_down, self._is_stopping = event.kind is not Kind.INIT_START, False
        elif event.kind is Kind.STOP_START:
            self._is_stopping = True

    def _begin(self, event: Event, wall_ms: int) -> Iterator[Begun]:
        minute_ms = _minute(wall_ms)
        whether = Whether.MAYBE if self._is_cut else Whether.YES
        yield Begun(minute_ms, max(event.t - (wall_ms - minute_ms), 0), whether)
        self._seen.add(minute_ms, minute_ms)

    def _go_on(self, known: Event, event: Event) -> Iterator[Begun]:
        was_ms, wall_ms = _wall(known), _wall(event)
        first_ms, last_ms, passed = _minute(was_ms), _minute(wall_ms), event.t - known.t
        is_step, is_back = abs(_gain_ms(known, event)) > STEP_MS, last_ms < first_ms
        blind = self._is_down or event.kind is Kind.CRASH
        if is_step and not blind and _gain_ms(known, event) < 0:
            # Minutes before the present one may have been shown once more.
            earliest_ms = max(_minute(wall_ms - passed), 0)
            for minute_ms in _between(earliest_ms, min(first_ms, last_ms)):
                if minute_ms not in self._seen:
                    yield Begun(minute_ms, self._before_t, Whether.MAYBE)
        for minute_ms in [last_ms] if is_back else _between(first_ms + _MINUTE_MS, last_ms, 1):
            yield Begun(minute_ms, self._t_of(minute_ms, known, event), self._whether(minute_ms))
        if is_step and not blind:
            self._doubted.add(first_ms, _minute(was_ms + passed))
            self._doubted.add(_minute(wall_ms - passed), last_ms)
        is_followed = not blind and _gain_ms(known, event) <= STEP_MS and not is_back
        if is_followed and self._is_stopping:
            self._doubted.add(first_ms, last_ms)
            is_followed = False
        self._seen.add(first_ms if is_followed else last_ms, last_ms)

    def _t_of(self, minute_ms: int, known: Event, event: Event) -> int:
        """The latest instant at which the clock can have come to this minute."""
        if _wall(event) < _wall(known):
            return event.t
        if _gain_ms(known, event) > STEP_MS:
            t = known.t + (minute_ms - _wall(known))
        else:
            t = event.t - (_wall(event) - minute_ms)
        return min(max(t, self._before_t), event.t)

    def _whether(self, minute_ms: int) -> Whether:
        if minute_ms in self._seen:
            return Whether.NO
        return Whether.MAYBE if minute_ms in self._doubted else Whether.YES


class _Minutes:
    """A set of minutes, as stretches."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def __contains__(self, minute_ms: int) -> bool:
        place = bisect_right(self._firsts, minute_ms)
        return place > 0 and minute_ms <= self._lasts[place - 1]

    def add(self, first_ms: int, last_ms: int) -> None:
        """Both, and all between them."""
        begin = bisect_left(self._lasts, first_ms - _MINUTE_MS)
        end = bisect_right(self._firsts, last_ms + _MINUTE_MS)
        if begin < end:
            first_ms = min(first_ms, self._firsts[begin])
            last_ms = max(last_ms, self._lasts[end - 1])
        self._firsts[begin:end] = [first_ms]
        self._lasts[begin:end] = [last_ms]


def _between(first_ms: int, end_ms: int, more: int = 0) -> range:
    """The minutes from the first on that come before the end, or with 1 more up to it."""
    return range(first_ms, end_ms + more, _MINUTE_MS)


def _gain_ms(before: Event, event: Event) -> int:
    """How much further the wall clock has gone than `t`."""
    return (_wall(event) - _wall(before)) - (event.t - before.t)


def _wall(event: Event) -> int:
    assert event.wall_ms is not None
    return event.wall_ms


def _minute(at_ms: int) -> int:
    return at_ms - at_ms % _MINUTE_MS
