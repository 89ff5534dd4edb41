"""
The distinct times of day of a table, and the next match of each.

A time of day is in parts, each kept once: which seconds, minutes and hours match. The times of one
group of schedules lie side by side, as they are asked about the same local time.

Spec: BATCH-1.
"""

import numpy as np

from gnomon.batch.lanes import (
    Ints,
    Lanes,
    Shorts,
    following,
    least,
    low_bit,
    pair,
    same,
)

__all__ = ["TimesOfDay"]

_REMEMBERED_MAX = 8


class TimesOfDay:
    """The distinct times of day, as masks of seconds, minutes and hours."""

    def __init__(self, seconds: Ints, minutes: Ints, hours: Ints) -> None:
        self._seconds, second = _distinct(seconds)
        self._minutes, minute = _distinct(minutes)
        self._hours, self._hour = _distinct(hours)
        # What matches within an hour: a pair of the two, so that few are left to search.
        pairs, self._within = _distinct(minute.astype(np.int64) << 32 | second)
        self._minute, self._second = pairs >> 32, pairs & (1 << 32) - 1
        self._within_first: Shorts = (
            low_bit(self._minutes)[self._minute] * 60 + low_bit(self._seconds)[self._second]
        )
        self._first: Shorts = (
            low_bit(self._hours)[self._hour] * 3600 + self._within_first[self._within]
        )
        self._remembered: dict[int, Lanes] = {}

    def later(self, which: slice, time: int) -> Lanes:
        """(later, first) of some of the times: the next match after `time` that day, the first."""
        sums = self._within_lanes(time % 3600).take(self._within[which])
        sums += _high(self._hours, time // 3600, 3600).take(self._hour[which])
        return pair(least(sums), self._first[which])

    def later_each(self, ids: Shorts, time: Ints) -> Lanes:
        """The same for single times, each with its own `time`."""
        within, hours = self._within[ids], self._hours[self._hour[ids]]
        minutes, seconds = self._minutes[self._minute[within]], self._seconds[self._second[within]]
        sums = _low(seconds, time % 60)
        sums += _high(minutes, time // 60 % 60, 60)
        sums = pair(least(sums), self._within_first[within])
        sums += _high(hours, time // 3600, 3600)
        return pair(least(sums), self._first[ids])

    def _within_lanes(self, rest: int) -> Lanes:
        # Groups whose offsets differ by whole hours share this.
        lanes = self._remembered.get(rest)
        if lanes is None:
            if len(self._remembered) >= _REMEMBERED_MAX:
                self._remembered.clear()
            sums = _low(self._seconds, rest % 60).take(self._second)
            sums += _high(self._minutes, rest // 60, 60).take(self._minute)
            lanes = self._remembered[rest] = pair(least(sums), self._within_first)
        return lanes


def _low(masks: Ints, digit: int | Ints) -> Lanes:
    """(later, first) of the lowest digit."""
    return pair(following(masks, digit, 1), low_bit(masks))


def _high(masks: Ints, digit: int | Ints, unit: int) -> Lanes:
    """(same, next) of a higher digit."""
    return pair(same(masks, digit, unit), following(masks, digit, unit))


def _distinct(values: Ints) -> tuple[Ints, Shorts]:
    """The distinct values, and for each value its number among them."""
    distinct, numbers = np.unique(values, return_inverse=True)
    return distinct, numbers.astype(np.int32)
