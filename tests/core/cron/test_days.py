"""Which days match, against the standard library's calendar."""

import calendar
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.calendar import YEAR_KIND
from gnomon.core.cron.days import (
    FAR,
    UNKNOWN,
    can_match,
    fill_waits,
    wait_table,
    year_days,
    year_mask,
)
from gnomon.core.cron.dialect import STANDARD
from gnomon.core.cron.parse import parse
from tests.clauses import clause


def matching(day: str, weekday: str = "*", *, year: int, month: str = "*") -> list[str]:
    """The matching days of a year, as month-day."""
    mask = year_mask(parse(f"0 0 {day} {month} {weekday}", STANDARD).days, YEAR_KIND[year])
    first = date(year, 1, 1)
    days = [first + timedelta(days=index) for index in range(366) if mask >> index & 1]
    return [f"{day:%m-%d}" for day in days]


@clause("CRON-7")
def test_l_is_the_last_day_of_each_month() -> None:
    assert matching("L", year=2027) == [
        "01-31", "02-28", "03-31", "04-30", "05-31", "06-30",
        "07-31", "08-31", "09-30", "10-31", "11-30", "12-31",
    ]  # fmt: skip
    assert matching("L", month="2", year=2028) == ["02-29"]


@clause("CRON-8")
def test_nearest_workday_stays_within_the_month() -> None:
    # 2026: 1 August is a Saturday, 31 May a Sunday, 15 February a Sunday, 15 April a Wednesday.
    assert matching("1W", month="8", year=2026) == ["08-03"]
    assert matching("31W", month="5", year=2026) == ["05-29"]
    assert matching("15W", month="2", year=2026) == ["02-16"]
    assert matching("15W", month="4", year=2026) == ["04-15"]
    assert matching("15W", month="8", year=2026) == ["08-14"]


@clause("CRON-8")
def test_nearest_workday_needs_its_day_to_exist() -> None:
    assert matching("31W", month="4,5", year=2026) == ["05-29"]


@clause("CRON-8")
def test_lw_is_the_last_monday_to_friday() -> None:
    # 2026: 31 January is a Saturday, 28 February a Saturday, 31 May a Sunday.
    assert matching("LW", month="1,2,5,6", year=2026) == ["01-30", "02-27", "05-29", "06-30"]


@clause("CRON-9")
def test_nth_weekday_of_the_month() -> None:
    # 2026: Fridays of January are 2, 9, 16, 23 and 30.
    assert matching("*", "5#1", month="1", year=2026) == ["01-02"]
    assert matching("*", "fri#3", month="1", year=2026) == ["01-16"]
    assert matching("*", "5#5", month="1,2,3", year=2026) == ["01-30"]
    assert matching("*", "7#1,0#2", month="3", year=2026) == ["03-01", "03-08"]


@clause("CRON-10")
def test_last_weekday_of_the_month() -> None:
    assert matching("*", "5L", month="1,2", year=2026) == ["01-30", "02-27"]
    assert matching("*", "sunL", month="5", year=2026) == ["05-31"]


@clause("CRON-6")
def test_either_day_or_weekday_suffices() -> None:
    # 2026: Mondays of June are 1, 8, 15, 22 and 29.
    assert matching("8,10", "1", month="6", year=2026) == [
        "06-01", "06-08", "06-10", "06-15", "06-22", "06-29",
    ]  # fmt: skip


def slow_match(day: date, field: str, weekday: str) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    nth = (day.day - 1) // 7 + 1
    number = day.isoweekday() % 7
    by_day = {"*": True, "L": day.day == last, "10": day.day == 10, "LW": False}[field]
    by_weekday = {
        "*": True, "2": number == 2, "3#2": number == 3 and nth == 2,
        "4L": number == 4 and day.day + 7 > last,
    }[weekday]  # fmt: skip
    if field == "*" or weekday == "*":
        return by_day and by_weekday
    return by_day or by_weekday


@clause("CRON-6", "CRON-7", "CRON-9", "CRON-10")
@given(
    st.dates(date(1970, 1, 1), date(2200, 12, 31)),
    st.sampled_from(["*", "L", "10"]),
    st.sampled_from(["*", "2", "3#2", "4L"]),
)
def test_a_day_matches_when_the_calendar_says_so(day: date, field: str, weekday: str) -> None:
    mask = year_mask(parse(f"0 0 {field} * {weekday}", STANDARD).days, YEAR_KIND[day.year])

    assert bool(mask >> day.timetuple().tm_yday - 1 & 1) is slow_match(day, field, weekday)


@pytest.mark.parametrize(
    "text", ["0 0 1 1 *", "0 0 31 12 *", "0 0 29 2 *", "0 0 * * 1-5", "0 0 L * *", "0 0 28 2 *"]
)
@pytest.mark.parametrize("year", [1996, 1999, 2000, 2003, 2026, 2027, 2028, 2099, 2100])
def test_a_wait_counts_the_days_to_the_next_match(text: str, year: int) -> None:
    rule, kind = parse(text, STANDARD).days, YEAR_KIND[year]
    length = 365 + kind % 2
    matches = [seconds // 86_400 for seconds in year_days(rule, kind)]
    matches += [length + seconds // 86_400 for seconds in year_days(rule, YEAR_KIND[year + 1])]

    table = wait_table(rule)
    fill_waits(table, rule, kind)

    waits = table[kind << 9 :]
    for day in range(length + 1):
        ahead = min((match - day for match in matches if match >= day), default=FAR)
        assert waits[day] in (ahead, FAR)
        if day + ahead < length and ahead < UNKNOWN:
            assert waits[day] == ahead


def test_a_wait_reaches_into_the_next_year() -> None:
    rule = parse("0 0 1 * *", STANDARD).days
    kind = YEAR_KIND[2026]

    table = wait_table(rule)
    fill_waits(table, rule, kind)

    assert list(table[(kind << 9) + 363 : (kind << 9) + 366]) == [2, 1, 0]


def test_expressions_with_the_same_days_share_a_table() -> None:
    one = wait_table(parse("0 3 * * 1", STANDARD).days)

    assert wait_table(parse("5 4 * * mon", STANDARD).days) is one


def test_a_rule_that_no_year_satisfies_is_recognised() -> None:
    days = parse("0 0 29 2 *", STANDARD).days

    assert can_match(days)
    assert not can_match(days._replace(day=1 << 30))
