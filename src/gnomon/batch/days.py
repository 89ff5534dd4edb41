"""
The distinct day rules of a table, and the next matching day of each.

In a given month a rule is a mask of days, so the next matching day is a higher bit of this month's
mask or the lowest bit of a later one. Most rules match this month or the next; the search goes on
with those that do not.

Spec: BATCH-1.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from gnomon.batch.lanes import FAR, Lanes, Places, Shorts, low_bit, pair
from gnomon.batch.months import (
    MONTH_KIND,
    MONTH_NUMBER,
    MONTH_START,
    SPECIAL_DAY,
    SPECIAL_WEEKDAY,
    WEEKDAYS,
    WHOLE,
    SpecialDays,
    day_rule,
    weekday_rule,
)
from gnomon.core.civil.calendar import DAY
from gnomon.core.cron.expression import EVERY_DAY, EVERY_WEEKDAY, DayRule

__all__ = ["Rules"]

_REMEMBERED_MAX = 4

_Numbers = TypeVar("_Numbers", Shorts, Places)


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
        self._special_days = SpecialDays([rule.day >> SPECIAL_DAY for rule in special], day_rule)
        self._special_weekdays = SpecialDays(
            [rule.weekday >> SPECIAL_WEEKDAY for rule in special], weekday_rule
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
        month = np.searchsorted(MONTH_START, day, "right") - 1
        today = day - MONTH_START[month]
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
            month = month + low_bit(rules.months >> MONTH_NUMBER[month] >> 1) + 1
            known = np.flatnonzero(month < len(MONTH_START))
            rules, places, month = rules.at(known), places[known], month[known]
            masks = self._masks(rules, month)
            hit = np.flatnonzero(masks)
            yield places[hit], MONTH_START[month[hit]] + low_bit(masks[hit])
            rest = np.flatnonzero(masks == 0)
            rules, places, month = rules.at(rest), places[rest], month[rest]

    def _masks(self, rules: _Columns, month: Places) -> Shorts:
        """The matching days of a month."""
        kind = MONTH_KIND[month]
        days, weekdays = rules.days, WEEKDAYS.take(rules.weeks + kind // 4)
        if self._any_special:
            days = days.copy()
            places = np.flatnonzero(rules.special >= 0)
            which, kinds = rules.special[places], _at(kind, places)
            days[places] |= self._special_days.masks(which, kinds)
            weekdays[places] |= self._special_weekdays.masks(which, kinds)
        masks = (days | weekdays) & rules.either
        masks |= days & weekdays
        masks &= WHOLE[kind]
        masks &= -(rules.months >> MONTH_NUMBER[month] & 1)
        return masks


def _at(values: _Numbers, places: Places) -> _Numbers:
    """The values at these places; a single value is at every place."""
    return values[places] if values.ndim else np.broadcast_to(values, places.shape)


def _is_special(rule: DayRule) -> bool:
    return rule.day > EVERY_DAY or rule.weekday > EVERY_WEEKDAY


def _column(values: Iterable[int]) -> Shorts:
    return np.fromiter(values, np.int32)
