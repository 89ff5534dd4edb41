"""
How are the days of an expression said in English, and which is the simplest rule for them?

The phrase follows the time of day: "on weekdays", "on the 1st and 15th of the month", "on the 1st
of the month or on Mondays". Days of the month come first, then weekdays; between them stands "or",
because either suffices. The months are part of the phrase, or close it when there is an "or".

Different day fields can mean the same days: `1-31` is `*`, `L` in January is `31`, the first to the
fifth Monday are all Mondays. `simplest` answers with one rule for each set of days, so that what is
written about it depends on the meaning alone. It works on samples: a rule treats all months of a
length alike, so January, April and February, beginning on every weekday, show everything a rule
does. A term (one bit of a day field) may be used when it matches no day that the rule does not;
terms are taken, simplest first, until they cover the rule, and then those that others made
superfluous are dropped.

Spec: DESC-1 to DESC-4.
"""

from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from gnomon.core.civil.calendar import KINDS
from gnomon.core.cron.days import year_mask
from gnomon.core.cron.expression import (
    EVERY_DAY,
    EVERY_MONTH,
    EVERY_WEEKDAY,
    LAST_DAY,
    LAST_WORKDAY,
    DayRule,
    last_weekday_bit,
    nearest_workday_bit,
    nth_weekday_bit,
)
from gnomon.core.cron.number_words import join, ordinal, progression, runs, spans, values

__all__ = ["say_days", "simplest"]

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_NTH = ("first", "second", "third", "fourth", "fifth")
_MONDAY_TO_FRIDAY = 0b0111110
_WORKDAY = "weekday (Monday to Friday)"
_WORKDAYS = "weekdays (Monday to Friday)"

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


def say_days(rule: DayRule) -> str:
    """
    The phrase for the simplest rule for these days; it may be just "every day".

    A rule whose two fields must both match is said as the one field, "but only" the other.
    """
    rule = simplest(rule)
    if rule.either and rule.day == EVERY_DAY:
        return "every day" if rule.month == EVERY_MONTH else f"every day {_in_months(rule.month)}"
    if not rule.either:
        both = f"{_days(rule.day)} of the month, but only {_weekdays(rule.weekday)}"
        return _closed(both, rule.month)
    if not rule.weekday:
        return _days_of_months(rule.day, rule.month)
    if not rule.day:
        return _weekdays_of_months(rule.weekday, rule.month)
    either = f"{_days(rule.day)} of the month or {_weekdays(rule.weekday)}"
    return _closed(either, rule.month)


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


def _closed(phrase: str, months: int) -> str:
    return phrase if months == EVERY_MONTH else f"{phrase}, {_in_months(months)}"


def _days_of_months(day_field: int, months: int) -> str:
    days, names = values(day_field), values(months)
    if day_field < EVERY_DAY and len(days) == len(names) == 1:
        return f"on {days[0]} {_MONTHS[names[0] - 1]}"
    return f"{_days(day_field)} {_of_months(months)}"


def _weekdays_of_months(weekday_field: int, months: int) -> str:
    if weekday_field <= EVERY_WEEKDAY and months != EVERY_MONTH:
        return f"{_weekdays(weekday_field)} {_in_months(months)}"
    if not weekday_field & EVERY_WEEKDAY:
        return f"on {_nth_weekdays(weekday_field)} {_of_months(months)}"
    return _closed(_weekdays(weekday_field), months)


def _days(day_field: int) -> str:
    """Days of the month, to be followed by the month."""
    plain = values(day_field & EVERY_DAY)
    if day_field <= EVERY_DAY and len(runs(plain)) == 1 and len(plain) > 2:
        return f"from the {ordinal(plain[0])} to the {ordinal(plain[-1])}"
    parts = []
    if found := progression(plain):
        first, last = ordinal(found.first), ordinal(found.last)
        parts.append(f"every {ordinal(found.step)} day from the {first} to the {last}")
    elif plain:
        parts.append(f"the {spans(plain, ordinal)}")
    if day_field & LAST_DAY:
        parts.append("the last day")
    if day_field & LAST_WORKDAY:
        parts.append(f"the last {_WORKDAY}")
    # At the end, or what follows would read as more days to be near to.
    nearest = [day for day in range(1, 32) if day_field & nearest_workday_bit(day)]
    if nearest:
        workday = _WORKDAY if len(nearest) == 1 else _WORKDAYS
        parts.append(f"the {workday} nearest the {spans(nearest, ordinal)}")
    return f"on {join(parts)}"


def _weekdays(weekday_field: int) -> str:
    plain = _plain_weekdays(weekday_field & EVERY_WEEKDAY)
    if weekday_field <= EVERY_WEEKDAY:
        return plain
    special = f"on {_nth_weekdays(weekday_field)} of the month"
    return f"{plain} and {special}" if plain else special


def _plain_weekdays(mask: int) -> str:
    if mask == _MONDAY_TO_FRIDAY:
        return "on weekdays"
    numbers = values(mask)
    if found := _circular_run(numbers, 0, 7):
        return f"from {_WEEKDAYS[found[0]]} to {_WEEKDAYS[found[1]]}"
    # A week begins on Monday, except for those who begin it on Sunday, whom this does not hurt.
    ordered = sorted(numbers, key=lambda weekday: (weekday - 1) % 7)
    names = [f"{_WEEKDAYS[weekday]}s" for weekday in ordered]
    return f"on {join(names)}" if names else ""


def _nth_weekdays(weekday_field: int) -> str:
    parts = []
    for weekday in (1, 2, 3, 4, 5, 6, 0):
        nths = (nth for nth in range(1, 6) if weekday_field & nth_weekday_bit(weekday, nth))
        which = [_NTH[nth - 1] for nth in nths]
        if weekday_field & last_weekday_bit(weekday):
            which.append("last")
        if which:
            parts.append(f"the {join(which)} {_WEEKDAYS[weekday]}")
    return join(parts)


def _of_months(months: int) -> str:
    if months == EVERY_MONTH:
        return "of the month"
    phrase = _months(months)
    return f"of each month {phrase}" if phrase.startswith("from") else f"of {phrase}"


def _in_months(months: int) -> str:
    phrase = _months(months)
    return phrase if phrase.startswith("from") else f"in {phrase}"


def _months(months: int) -> str:
    numbers = values(months)
    if len(numbers) == 11:
        missing = next(month for month in range(1, 13) if month not in numbers)
        return f"every month except {_MONTHS[missing - 1]}"
    if found := _circular_run(numbers, 1, 12):
        return f"from {_MONTHS[found[0] - 1]} to {_MONTHS[found[1] - 1]}"
    return join([_MONTHS[month - 1] for month in numbers])


def _circular_run(numbers: list[int], low: int, count: int) -> tuple[int, int] | None:
    """The ends of a single run of three or more, which may pass the end of the week or year."""
    ends = [number for number in numbers if (number - low + 1) % count + low not in numbers]
    starts = [number for number in numbers if (number - low - 1) % count + low not in numbers]
    return (starts[0], ends[0]) if len(numbers) > 2 and len(starts) == 1 else None


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
