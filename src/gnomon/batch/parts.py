"""
Taking recurrences apart: which timeline, time of day and day rule each of them has.

Every distinct part gets a number, and a cron recurrence becomes a code made of two of them. The
recurrences themselves are not kept, except those of a kind that is not known here.

Recurrences that are not cron expressions are intervals, instants or of a kind not known here; each
of these answers for all its members at once. Bounds are part of an interval or an instant here; a
bounded cron expression is answered from the answer to its unbounded form (`table`).

Spec: BATCH-1, BATCH-3, BATCH-6.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from gnomon.batch.crossing import NONE, LineArrays
from gnomon.batch.days import Rules
from gnomon.batch.group import Group
from gnomon.batch.lanes import Ints, Places
from gnomon.batch.times import TimesOfDay
from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.zone import Timeline, Zone
from gnomon.core.cron.dialect import Dst
from gnomon.core.cron.expression import DayRule
from gnomon.core.recurrence import Bounded, Cron, Every, Once, Recurrence
from gnomon.errors import DefinitionError

__all__ = [
    "Arrangement",
    "Bounds",
    "DistinctParts",
    "Instants",
    "Intervals",
    "Others",
    "PartKind",
    "arrange",
]

_SHIFT = 32
_LOW = (1 << _SHIFT) - 1
_SIXTY, _HOURS = 60, 24  # bits of a mask

Bounds = tuple[int, int]
"""The first and the last second that count."""


class PartKind(IntEnum):
    """What a recurrence is, if not a plain cron expression."""

    INTERVAL = 0
    INSTANT = 1
    BOUNDED_CRON = 2
    OTHER = 3


class DistinctParts:
    """The distinct parts of the recurrences seen so far, numbered in the order they came."""

    def __init__(self) -> None:
        self.lines: dict[tuple[Timeline, bool], int] = {}
        self.times: dict[int, int] = {}
        """By one number that holds the line and the masks for second, hour and minute."""
        self.rules: dict[DayRule, int] = {}
        self.intervals: dict[tuple[Every, Bounds], int] = {}
        self.instants: dict[tuple[Once, Bounds], int] = {}
        self.bounded: dict[tuple[int, Bounds], int] = {}
        """By the code of the cron expression and the bounds."""
        self.others: list[Recurrence] = []
        self._line_of: dict[tuple[Zone, Dst, bool], int] = {}

    def code(self, recurrence: Recurrence) -> int:
        """
        A number from which the recurrence's place in the table follows.

        For cron, the number of its time and that of its day rule; else negative, made of the
        number within its kind and the kind.
        """
        if type(recurrence) is Cron:
            return self._cron_code(recurrence)
        number, kind = self._number(recurrence)
        return -1 - (number * len(PartKind) + kind)

    def _cron_code(self, cron: Cron) -> int:
        _, _, second, minute, hour, days, wildcard = cron.expression
        line = self._line_of.get((cron.zone, cron.dst, wildcard))
        if line is None:
            line = self._line(cron)
        # A number, not a tuple: a million tuples would keep the garbage collector busy.
        key = ((line << _SIXTY | second) << _HOURS | hour) << _SIXTY | minute
        time = self.times.setdefault(key, len(self.times))
        return time << _SHIFT | self.rules.setdefault(days, len(self.rules))

    def _line(self, cron: Cron) -> int:
        search = cron.search
        line = self.lines.setdefault((search.line, search.makes_up), len(self.lines))
        self._line_of[cron.zone, cron.dst, cron.expression.wildcard] = line
        return line

    def _number(self, recurrence: Recurrence) -> tuple[int, PartKind]:
        # Exact types: a subclass may answer differently.
        base, bounds = _without_bounds(recurrence)
        if type(base) is Every:
            return self.intervals.setdefault((base, bounds), len(self.intervals)), PartKind.INTERVAL
        if type(base) is Once:
            return self.instants.setdefault((base, bounds), len(self.instants)), PartKind.INSTANT
        if type(base) is Cron:
            key = self._cron_code(base), bounds
            return self.bounded.setdefault(key, len(self.bounded)), PartKind.BOUNDED_CRON
        if not isinstance(base, Recurrence):
            raise DefinitionError(
                "must hold recurrences only", where="recurrences", got=base,
                hint="make them with gnomon.cron(), every() or once()",
            )  # fmt: skip
        self.others.append(recurrence)
        return len(self.others) - 1, PartKind.OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The cron schedules of a table, group by group, each schedule once."""

    groups: list[Group]
    places: Places
    """For each code, the place of its schedule."""


def arrange(parts: DistinctParts, codes: Ints) -> Arrangement:
    """Sort the cron codes by group and time, so that what is searched together lies together."""
    minutes = _field(parts.times, 0, _SIXTY)
    hours = _field(parts.times, _SIXTY, _HOURS)
    seconds = _field(parts.times, _SIXTY + _HOURS, _SIXTY)
    lines = _field(parts.times, _SIXTY + _HOURS + _SIXTY, _SIXTY)
    order = np.argsort(lines, kind="stable")
    lines = lines[order]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    keys, places = np.unique(rank[codes >> _SHIFT] << _SHIFT | codes & _LOW, return_inverse=True)
    time_ids, rule_ids = keys >> _SHIFT, (keys & _LOW).astype(np.int32)
    times = TimesOfDay(seconds[order], minutes[order], hours[order])
    rules = Rules(list(parts.rules))
    groups = []
    for (timeline, makes_up), line in parts.lines.items():
        which = _range(lines, line, line + 1)
        rows = _range(time_ids, which.start, which.stop)
        groups.append(
            Group(
                LineArrays(timeline, makes_up=makes_up),
                times=times,
                which=which,
                rules=rules,
                time_ids=(time_ids[rows] - which.start).astype(np.int32),
                rule_ids=rule_ids[rows],
            )
        )
    return Arrangement(groups=groups, places=places)


class Intervals:
    """`every` with its bounds."""

    def __init__(self, members: Sequence[tuple[Every, Bounds]]) -> None:
        rows = [(every.interval, every.anchor, *bounds) for every, bounds in members]
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        self._interval, self._anchor, self._start, self._end = np.ascontiguousarray(columns)

    def next_all(self, after: int) -> Ints:
        passed = np.maximum(self._start - 1, after)
        found = passed + self._interval - (passed - self._anchor) % self._interval
        return np.where((found < HORIZON_END) & (found <= self._end), found, NONE)


class Instants:
    """`once` with its bounds."""

    def __init__(self, members: Sequence[tuple[Once, Bounds]]) -> None:
        self._at: Ints = np.array(
            [once.at if start <= once.at <= end else NONE for once, (start, end) in members],
            np.int64,
        )

    def next_all(self, after: int) -> Ints:
        return np.where(self._at > after, self._at, NONE)


class Others:
    """Recurrences of a kind that is not known here, asked one by one."""

    def __init__(self, members: Sequence[Recurrence]) -> None:
        self._members = members

    def next_all(self, after: int) -> Ints:
        found = [member.next_epoch(after) for member in self._members]
        return np.array([NONE if epoch is None else epoch for epoch in found], np.int64)


def _field(numbers: Iterable[int], shift: int, width: int) -> Ints:
    mask = (1 << width) - 1
    return np.fromiter((number >> shift & mask for number in numbers), np.int64)


def _range(values: Ints, low: int, high: int) -> slice:
    """Where the values from `low` to below `high` lie among sorted values."""
    return slice(*np.searchsorted(values, (low, high)).tolist())


def _without_bounds(recurrence: Recurrence) -> tuple[Recurrence, Bounds]:
    start, end = HORIZON_START, HORIZON_END - 1
    while type(recurrence) is Bounded:
        start, end = max(start, recurrence.start), min(end, recurrence.end)
        recurrence = recurrence.inner
    return recurrence, (start, end)
