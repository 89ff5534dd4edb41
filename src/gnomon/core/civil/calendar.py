"""
The proleptic Gregorian calendar as integers: days, years, weekdays.

A day is counted from 1970-01-01, which is day 0. Gnomon answers questions about instants from 1970
up to the end of 2200 (`HORIZON_START` to `HORIZON_END`); the tables reach one year further on both
sides, because a local time may lie a day outside the horizon of its instant.

A year is of one of fourteen kinds: the weekday of its first of January, and whether it is a leap
year. Everything that depends on the calendar alone is computed once per kind.

Spec: REC-5.
"""

from array import array

__all__ = [
    "DAY",
    "DAY_KEY",
    "HORIZON_END",
    "HORIZON_START",
    "KINDS",
    "YEAR_FIRST",
    "YEAR_KIND",
    "YEAR_LAST",
    "YEAR_START",
    "civil_from_days",
    "days_from_civil",
    "is_leap",
    "iso_week",
    "month_lengths",
    "weekday",
]

DAY = 86_400
KINDS = 14

YEAR_FIRST = 1969
YEAR_LAST = 2201


def days_from_civil(year: int, month: int, day: int) -> int:
    """The number of the day; the inverse of `civil_from_days`."""
    # Counting years from March puts the leap day last, so that month lengths follow one formula.
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return (
        era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100
        + day_of_year - 719_468
    )  # fmt: skip


def civil_from_days(days: int) -> tuple[int, int, int]:
    """The year, month and day of a day's number."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = era * 400 + year_of_era + (month <= 2)
    return year, month, day_of_year - (153 * shifted + 2) // 5 + 1


def weekday(days: int) -> int:
    """0 for Sunday to 6 for Saturday."""
    return (days + 4) % 7


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_lengths(leap: bool) -> tuple[int, ...]:
    """The number of days in each month, January first."""
    return (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def iso_week(days: int) -> tuple[int, int]:
    """ISO 8601 year and week: the week belongs to the year that holds its Thursday."""
    thursday = days - (days + 3) % 7 + 3
    year = civil_from_days(thursday)[0]
    return year, (thursday - days_from_civil(year, 1, 1)) // 7 + 1


def _year_kind(year: int) -> int:
    return weekday(days_from_civil(year, 1, 1)) * 2 + is_leap(year)


def _day_keys() -> "array[int]":
    # The days of YEAR_FIRST come last, so that a negative day number, as an index from the end,
    # finds its own key.
    keys = array("H")
    for year in (*range(1970, YEAR_LAST + 1), *range(YEAR_FIRST, 1970)):
        base = _year_kind(year) << 9
        keys.extend(range(base, base + 365 + is_leap(year)))
    return keys


HORIZON_START = days_from_civil(1970, 1, 1) * DAY
HORIZON_END = days_from_civil(YEAR_LAST, 1, 1) * DAY

YEAR_START = {year: days_from_civil(year, 1, 1) for year in range(YEAR_FIRST, YEAR_LAST + 2)}
"""The number of each year's first day."""

YEAR_KIND = {year: _year_kind(year) for year in range(YEAR_FIRST, YEAR_LAST + 1)}
"""Each year's kind: twice the weekday of its first day, plus one in a leap year."""

DAY_KEY = _day_keys()
"""For each day, its year's kind in the high bits and its day of the year (from 0) in the low 9."""
