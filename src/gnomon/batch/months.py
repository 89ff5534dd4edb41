"""
The months of the horizon, and what the parts of a day rule mean in a month of each kind.

A month is of one of 28 kinds: the weekday it begins on, and its length. In a mask of days, bit 0 is
the first of the month. What `L`, `nW` and `d#n` mean in a month is asked of the core, bit by bit.

Spec: BATCH-1.
"""

from collections.abc import Callable, Sequence

import numpy as np

from gnomon.batch.lanes import Ints, Shorts
from gnomon.core.civil.calendar import (
    KINDS,
    YEAR_FIRST,
    YEAR_KIND,
    YEAR_LAST,
    YEAR_START,
    month_lengths,
)
from gnomon.core.cron.days import year_mask
from gnomon.core.cron.expression import EVERY_DAY, EVERY_MONTH, EVERY_WEEKDAY, DayRule

__all__ = [
    "MONTH_KIND",
    "MONTH_NUMBER",
    "MONTH_START",
    "SPECIAL_DAY",
    "SPECIAL_WEEKDAY",
    "WEEKDAYS",
    "WHOLE",
    "SpecialDays",
    "day_rule",
    "weekday_rule",
]

SPECIAL_DAY = 32
"""The position of the lowest bit in the day field that depends on the month."""
SPECIAL_WEEKDAY = 8
"""The same for the weekday field."""

_MONTH_KINDS = 28


class SpecialDays:
    """Sets of days that depend on the month: one field, of several rules."""

    def __init__(self, fields: Sequence[int], rule: Callable[[int], DayRule]) -> None:
        columns: Ints = np.array(fields, np.int64).reshape(-1, 1)
        used = int(np.bitwise_or.reduce(columns, axis=None))
        self._masks: Shorts = np.zeros((len(fields), _MONTH_KINDS), np.int32)
        for bit in range(used.bit_length()):
            if used >> bit & 1:
                self._masks |= np.where(columns >> bit & 1 != 0, _meaning(rule(bit)), 0)

    def masks(self, which: Shorts, kind: Shorts) -> Shorts:
        """The days of a month of this kind, for some of the rules."""
        return self._masks[which, kind]


def day_rule(bit: int) -> DayRule:
    """The rule that holds one special bit of the day field and no other restriction."""
    return DayRule(1 << SPECIAL_DAY + bit, EVERY_MONTH, EVERY_WEEKDAY, False)


def weekday_rule(bit: int) -> DayRule:
    """The rule that holds one special bit of the weekday field and no other restriction."""
    return DayRule(EVERY_DAY, EVERY_MONTH, 1 << SPECIAL_WEEKDAY + bit, False)


def _meaning(rule: DayRule) -> Shorts:
    """The rule's days in a month of each kind."""
    meaning = np.zeros(_MONTH_KINDS, np.int32)
    for year_kind in range(KINDS):
        mask = year_mask(rule, year_kind)
        for start, kind in _months_of(year_kind):
            meaning[kind] = mask >> start & _whole(kind)
    return meaning


def _months_of(year_kind: int) -> list[tuple[int, int]]:
    """For each month of a year: the days of the year before it, and its kind."""
    months, start, weekday = [], 0, year_kind // 2
    for length in month_lengths(bool(year_kind % 2)):
        months.append((start, weekday * 4 + length - 28))
        start += length
        weekday = (weekday + length) % 7
    return months


def _whole(kind: int) -> int:
    return (1 << 28 + kind % 4) - 1


def _weekdays(mask: int, first: int) -> int:
    """The days of a month that begins on the weekday `first` whose weekday is in the mask."""
    return sum(1 << day for day in range(31) if mask >> (first + day) % 7 & 1)


_MONTHS = [
    (YEAR_START[year] + start, kind)
    for year in range(YEAR_FIRST, YEAR_LAST + 1)
    for start, kind in _months_of(YEAR_KIND[year])
]

MONTH_START: Shorts = np.array([start for start, _ in _MONTHS], np.int32)
"""The number of each month's first day, from January of `YEAR_FIRST`."""

MONTH_NUMBER: Shorts = np.array([place % 12 + 1 for place in range(len(_MONTHS))], np.int32)
"""1 for January to 12 for December."""

MONTH_KIND: Shorts = np.array([kind for _, kind in _MONTHS], np.int32)
"""Each month's kind: four times the weekday of its first day, plus its length over 28."""

WHOLE: Shorts = np.array([_whole(kind) for kind in range(_MONTH_KINDS)], np.int32)
"""All days of a month of each kind."""

WEEKDAYS: Shorts = np.array(
    [_weekdays(mask, first) for mask in range(128) for first in range(7)], np.int32
)
"""At seven times a mask of weekdays plus a month's first weekday: the days up to the 31st."""
