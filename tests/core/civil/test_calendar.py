"""The calendar, against `datetime.date`."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.calendar import (
    DAY_KEY,
    YEAR_FIRST,
    YEAR_KIND,
    YEAR_LAST,
    YEAR_START,
    civil_from_days,
    days_from_civil,
    is_leap,
    iso_week,
    month_lengths,
    weekday,
)

EPOCH = date(1970, 1, 1)
DATES = st.dates(date(1969, 1, 1), date(2201, 12, 31))


@given(DATES)
def test_a_day_and_its_number_are_each_others_inverse(day: date) -> None:
    number = (day - EPOCH).days

    assert days_from_civil(day.year, day.month, day.day) == number
    assert civil_from_days(number) == (day.year, day.month, day.day)


@given(DATES)
def test_weekday_counts_from_sunday(day: date) -> None:
    assert weekday((day - EPOCH).days) == day.isoweekday() % 7


@given(DATES)
def test_iso_week_is_the_one_of_the_standard_library(day: date) -> None:
    assert iso_week((day - EPOCH).days) == tuple(day.isocalendar())[:2]


@given(DATES)
def test_a_days_key_holds_its_years_kind_and_its_day_of_the_year(day: date) -> None:
    key = DAY_KEY[(day - EPOCH).days]

    assert key & 511 == day.timetuple().tm_yday - 1
    assert key >> 9 == YEAR_KIND[day.year]


def test_year_tables_cover_every_year_and_the_start_of_the_one_after() -> None:
    assert list(YEAR_KIND) == list(range(YEAR_FIRST, YEAR_LAST + 1))
    assert list(YEAR_START) == list(range(YEAR_FIRST, YEAR_LAST + 2))


def test_month_lengths_add_up_to_the_year() -> None:
    assert sum(month_lengths(leap=False)) == 365
    assert sum(month_lengths(leap=True)) == 366
    assert [year for year in (1900, 2000, 2096, 2100, 2104) if is_leap(year)] == [2000, 2096, 2104]
