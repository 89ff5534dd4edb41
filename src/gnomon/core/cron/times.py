"""
Which seconds of a day match: the time fields of an expression, searched in both directions.

A time of day is a number of seconds, 0 to 86399.

Spec: CRON-2, CRON-5.
"""

from array import array
from collections.abc import Sequence
from weakref import WeakValueDictionary

from gnomon.core.civil.calendar import DAY
from gnomon.core.cron.expression import ON_THE_MINUTE, Expression

__all__ = ["Times", "next_times"]

_TABLES: "WeakValueDictionary[tuple[int, int], array[int]]" = WeakValueDictionary()


class Times:
    """The matching times of a day."""

    __slots__ = ("first", "hour", "last", "minute", "second")

    def __init__(self, expression: Expression) -> None:
        self.second = expression.second
        self.minute = expression.minute
        self.hour = expression.hour
        self.first = (_low(self.hour) * 60 + _low(self.minute)) * 60 + _low(self.second)
        self.last = (_high(self.hour) * 60 + _high(self.minute)) * 60 + _high(self.second)

    def after(self, time: int) -> int | None:
        """The least match later than `time`."""
        return self._at_or_after(time + 1) if time < self.last else None

    def at_or_before(self, time: int) -> int | None:
        """The greatest match no later than `time`."""
        if time < self.first:
            return None
        hour, minute, second = time // 3600, time // 60 % 60, time % 60
        if self.hour >> hour & 1:
            seconds = self.second & (2 << second) - 1
            if self.minute >> minute & 1 and seconds:
                return time - second + _high(seconds)
            if minutes := self.minute & (1 << minute) - 1:
                return (hour * 60 + _high(minutes)) * 60 + _high(self.second)
        hours = self.hour & (1 << hour) - 1
        return (_high(hours) * 60 + _high(self.minute)) * 60 + _high(self.second)

    @property
    def count(self) -> int:
        """How many matches a day has."""
        return self.hour.bit_count() * self.minute.bit_count() * self.second.bit_count()

    def blocks(self, size: int) -> list[list[int]]:
        """Every match of a day, in order: in one list of at most `size`, or hour by hour."""
        seconds = _values(self.second)
        within_hour = [
            minute * 60 + second for minute in _values(self.minute) for second in seconds
        ]
        hours = [hour * 3600 for hour in _values(self.hour)]
        if self.count <= size:
            return [[hour + time for hour in hours for time in within_hour]]
        return [[hour + time for time in within_hour] for hour in hours]

    def _at_or_after(self, time: int) -> int:
        hour, minute, second = time // 3600, time // 60 % 60, time % 60
        if self.hour >> hour & 1:
            seconds = self.second >> second
            if self.minute >> minute & 1 and seconds:
                return time + _low(seconds)
            if minutes := self.minute >> minute + 1:
                return (hour * 60 + minute + 1 + _low(minutes)) * 60 + _low(self.second)
        hours = self.hour >> hour + 1
        return ((hour + 1 + _low(hours)) * 60 + _low(self.minute)) * 60 + _low(self.second)


def next_times(times: Times) -> Sequence[int]:
    """
    For each minute of the day, the next match after the minute begins.

    After the last match of a day that is the first of the next day, counted on beyond midnight.
    Only for times on the minute. Tables are shared while in use, so that many schedules with the
    same times cost one.
    """
    assert times.second == ON_THE_MINUTE
    table = _TABLES.get((times.minute, times.hour))
    if table is None:
        matches = [time for block in times.blocks(1440) for time in block]
        table, reached = array("i"), 0
        for match in [*matches, matches[0] + DAY]:
            minutes = min(match, DAY) // 60
            table.extend([match] * (minutes - reached))
            reached = minutes
        _TABLES[times.minute, times.hour] = table
    return table


def _values(mask: int) -> list[int]:
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def _low(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _high(mask: int) -> int:
    return mask.bit_length() - 1
