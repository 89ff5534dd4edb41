"""
Which is the simplest rule for the same days?

Different day fields can mean the same days: `1-31` is `*`, `L` in January is `31`, the first to the
fifth Monday are all Mondays. `simplest` answers with one rule for each set of days, so that what is
written about it depends on the meaning alone.

It works on samples: a rule treats all months of a length alike, so January, April and February,
beginning on every weekday, show everything a rule does. A term (one bit of a day field) may be used
when it matches no day that the rule does not; terms are taken, simplest first, until they cover
the rule, and then those that others made superfluous are dropped.

Spec: DESC-2.
"""

from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from gnomon.core.civil.calendar import KINDS
from gnomon.core.cron.days import year_mask
from gnomon.core.cron.expression import (
    EVERY_DAY,
    EVERY_MONTH,
    LAST_DAY,
    LAST_WORKDAY,
    DayRule,
    last_weekday_bit,
    nearest_workday_bit,
    nth_weekday_bit,
)

__all__ = ["simplest"]

_JANUARY, _FEBRUARY, _APRIL = 1 << 1, 1 << 2, 1 << 4
_SAMPLES = _JANUARY | _FEBRUARY | _APRIL
_SHORT_MONTHS = _APRIL | 1 << 6 | 1 << 9 | 1 << 11
_LONG_MONTHS = EVERY_MONTH & ~_SHORT_MONTHS & ~_FEBRUARY

_YEAR_BITS = 366


class _Group(NamedTuple):
    """The months that a rule cannot tell apart."""

    months: int
    places: int
    """Every day of the month that stands for them."""


class _Term(NamedTuple):
    """One bit of a day field."""

    day: int
    weekday: int
    places: int
    """The days of the samples that it matches."""


def simplest(rule: DayRule) -> DayRule:
    """
    The rule that stands for all rules with the same days.

    In it one of day and weekday suffices, unless the days are those of two fields that must both
    match and there is no simpler way to say them; such a rule is given back as it is.
    """
    places = _places(rule)
    months = 0
    for group in _groups():
        if places & group.places:
            months |= group.months & rule.month
    return _for_every_month(places, months) or _for_months(places, months) or rule


def _for_every_month(places: int, months: int) -> DayRule | None:
    """A rule without a restriction of months, whose terms name no day of the other months."""
    wanted = everything = 0
    for group in _groups():
        everything |= group.places
        if months & group.months == group.months:
            wanted |= places & group.places
        elif months & group.months:
            return None
    return _cover(wanted, everything, EVERY_MONTH)


def _for_months(places: int, months: int) -> DayRule | None:
    allowed = 0
    for group in _groups():
        if months & group.months:
            allowed |= group.places
    return _cover(places & allowed, allowed, months)


def _cover(wanted: int, everything: int, months: int) -> DayRule | None:
    """The terms that match what is wanted out of everything, and nothing else."""
    if wanted == everything:
        return DayRule(EVERY_DAY, months, 0, True)
    chosen: list[_Term] = []
    covered = 0
    for term in _terms():
        places = term.places & everything
        if not places & ~wanted and places & ~covered:
            covered |= places
            chosen.append(term._replace(places=places))
    if covered != wanted:
        return None
    for term in tuple(chosen):
        others = [other for other in chosen if other is not term]
        if reduce(or_, (other.places for other in others), 0) == wanted:
            chosen = others
    day = reduce(or_, (term.day for term in chosen), 0)
    weekday = reduce(or_, (term.weekday for term in chosen), 0)
    return DayRule(day, months, weekday, True)


def _places(rule: DayRule, samples: int = _SAMPLES) -> int:
    """The days that a rule matches in the sample months of each kind of year."""
    rule = rule._replace(month=samples)
    return sum(year_mask(rule, kind) << kind * _YEAR_BITS for kind in range(KINDS))


@lru_cache(1)
def _groups() -> tuple[_Group, ...]:
    every_day = DayRule(EVERY_DAY, EVERY_MONTH, 0, True)
    return (
        _Group(_LONG_MONTHS, _places(every_day, _JANUARY)),
        _Group(_SHORT_MONTHS, _places(every_day, _APRIL)),
        _Group(_FEBRUARY, _places(every_day, _FEBRUARY)),
    )


@lru_cache(1)
def _terms() -> tuple[_Term, ...]:
    """Every bit of the day fields, the simplest first."""
    weekdays = [1 << weekday for weekday in range(7)]
    weekdays_of_month = [
        nth_weekday_bit(weekday, nth) for weekday in range(7) for nth in range(1, 6)
    ] + [last_weekday_bit(weekday) for weekday in range(7)]
    days = [1 << day for day in range(1, 32)]
    days_of_month = [LAST_DAY, LAST_WORKDAY] + [nearest_workday_bit(day) for day in range(1, 32)]
    bits = [
        *((0, bit) for bit in weekdays),
        *((bit, 0) for bit in days),
        *((0, bit) for bit in weekdays_of_month),
        *((bit, 0) for bit in days_of_month),
    ]
    return tuple(
        _Term(day, weekday, _places(DayRule(day, _SAMPLES, weekday, True))) for day, weekday in bits
    )
