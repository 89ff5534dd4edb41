"""
The distinct day rules of a table, and the next matching day of each.

In a given month a rule is a mask of days, so the next matching day is a higher bit of this month's
mask or the lowest bit of a later one. Most rules match this month or the next; the search goes on
with those that do not.

A month is of one of 28 kinds: the weekday it begins on, and its length. In a mask of days, bit 0 is
the first of the month. What `L`, `nW` and `d#n` mean in a month is asked of the core, bit by bit.

Spec: BATCH-1.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from gnomon.batch.lanes import FAR, Ints, Lanes, Places, Shorts, low_bit, pair
from gnomon.core.civil.calendar import (
    DAY,
    KINDS,
    YEAR_FIRST,
    YEAR_KIND,
    YEAR_LAST,
    YEAR_START,
    month_lengths,
)
from gnomon.core.cron.days import year_mask
from gnomon.core.cron.expression import EVERY_DAY, EVERY_MONTH, EVERY_WEEKDAY, DayRule

__all__ = ["Rules"]

_Numbers = TypeVar("_Numbers", Shorts, Places)

_SPECIAL_DAY = 32
"""The position of the lowest bit in the day field that depends on the month."""
_SPECIAL_WEEKDAY = 8
"""The same for the weekday field."""

_MONTH_KINDS = 28
_REMEMBERED_MAX = 4


class _Columns(NamedTuple):
    """Some of the rules, as columns."""

    days: Shorts
    weeks: Shorts
    """Seven times the mask of weekdays."""
    months: Shorts
    """The months of this year, followed by those of the next."""
    either: Shorts
    """All ones where one of day and weekday suffices, else 0."""
    special: Shorts
    """The number among the rules with days that depend on the month, or -1."""

    def at(self, places: Places | Shorts) -> "_Columns":
        return _Columns(*(column.take(places) for column in self))


class Rules:
    """The distinct day rules."""

    def __init__(self, rules: Sequence[DayRule]) -> None:
        special = [rule for rule in rules if _is_special(rule)]
        self._special_days = _SpecialDays([rule.day >> _SPECIAL_DAY for rule in special], _day_rule)
        self._special_weekdays = _SpecialDays(
            [rule.weekday >> _SPECIAL_WEEKDAY for rule in special], _weekday_rule
        )
        self._any_special = bool(special)
        number = iter(range(len(special)))
        self._rules = _Columns(
            days=_column((rule.day & EVERY_DAY) >> 1 for rule in rules),
            weeks=_column((rule.weekday & EVERY_WEEKDAY) * 7 for rule in rules),
            months=_column(rule.month | rule.month << 12 for rule in rules),
            either=_column(-int(rule.either) for rule in rules),
            special=_column(next(number) if _is_special(rule) else -1 for rule in rules),
        )
        self._remembered: dict[int, Lanes] = {}

    def after(self, day: int) -> Lanes:
        """(same, next) of all rules, from `day` on: 0 if it matches, the wait for a later match."""
        # Few local days are current at a time, so groups share the answer, and questions too.
        lanes = self._remembered.get(day)
        if lanes is None:
            if len(self._remembered) >= _REMEMBERED_MAX:
                self._remembered.clear()
            lanes = self._remembered[day] = self._search(self._rules, np.array(day, np.int32))
        return lanes

    def after_each(self, ids: Shorts, day: Shorts) -> Lanes:
        """The same for single rules, each with its own `day`."""
        return self._search(self._rules.at(ids), day)

    def _search(self, rules: _Columns, day: Shorts) -> Lanes:
        month = np.searchsorted(_MONTH_START, day, "right") - 1
        today = day - _MONTH_START[month]
        masks = self._masks(rules, month)
        above = masks >> today >> 1
        wait = low_bit(above) + 1
        places = np.flatnonzero(above == 0)
        month, day = _at(month, places), np.broadcast_to(day, above.shape)
        for found, first in self._in_later_months(rules.at(places), places, month):
            wait[found] = first - day[found]
        here = np.where(masks >> today & 1 != 0, 0, FAR)
        return pair(here, np.where(wait > 0, wait * DAY, FAR))

    def _in_later_months(
        self, rules: _Columns, places: Places, month: Places
    ) -> Iterator[tuple[Places, Shorts]]:
        """Places of rules, and the first matching day after `month`, where there is one."""
        while len(places):
            month = month + low_bit(rules.months >> _MONTH_NUMBER[month] >> 1) + 1
            known = np.flatnonzero(month < len(_MONTH_START))
            rules, places, month = rules.at(known), places[known], month[known]
            masks = self._masks(rules, month)
            hit = np.flatnonzero(masks)
            yield places[hit], _MONTH_START[month[hit]] + low_bit(masks[hit])
            rest = np.flatnonzero(masks == 0)
            rules, places, month = rules.at(rest), places[rest], month[rest]

    def _masks(self, rules: _Columns, month: Places) -> Shorts:
        """The matching days of a month."""
        kind = _MONTH_KIND[month]
        days, weekdays = rules.days, _WEEKDAYS.take(rules.weeks + kind // 4)
        if self._any_special:
            days = days.copy()
            places = np.flatnonzero(rules.special >= 0)
            which, kinds = rules.special[places], _at(kind, places)
            days[places] |= self._special_days.masks(which, kinds)
            weekdays[places] |= self._special_weekdays.masks(which, kinds)
        masks = (days | weekdays) & rules.either
        masks |= days & weekdays
        masks &= _WHOLE[kind]
        masks &= -(rules.months >> _MONTH_NUMBER[month] & 1)
        return masks


class _SpecialDays:
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


def _day_rule(bit: int) -> DayRule:
    """The rule that holds one special bit of the day field and no other restriction."""
    return DayRule(1 << _SPECIAL_DAY + bit, EVERY_MONTH, EVERY_WEEKDAY, False)


def _weekday_rule(bit: int) -> DayRule:
    """The rule that holds one special bit of the weekday field and no other restriction."""
    return DayRule(EVERY_DAY, EVERY_MONTH, 1 << _SPECIAL_WEEKDAY + bit, False)


def _at(values: _Numbers, places: Places) -> _Numbers:
    """The values at these places; a single value is at every place."""
    return values[places] if values.ndim else np.broadcast_to(values, places.shape)


def _is_special(rule: DayRule) -> bool:
    return rule.day > EVERY_DAY or rule.weekday > EVERY_WEEKDAY


def _column(values: Iterable[int]) -> Shorts:
    return np.fromiter(values, np.int32)


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

_MONTH_START: Shorts = np.array([start for start, _ in _MONTHS], np.int32)
"""The number of each month's first day, from January of `YEAR_FIRST`."""

_MONTH_NUMBER: Shorts = np.array([place % 12 + 1 for place in range(len(_MONTHS))], np.int32)
"""1 for January to 12 for December."""

_MONTH_KIND: Shorts = np.array([kind for _, kind in _MONTHS], np.int32)
"""Each month's kind: four times the weekday of its first day, plus its length over 28."""

_WHOLE: Shorts = np.array([_whole(kind) for kind in range(_MONTH_KINDS)], np.int32)
"""All days of a month of each kind."""

_WEEKDAYS: Shorts = np.array(
    [_weekdays(mask, first) for mask in range(128) for first in range(7)], np.int32
)
"""At seven times a mask of weekdays plus a month's first weekday: the days up to the 31st."""
