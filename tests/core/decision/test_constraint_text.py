"""Constraints as text."""

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.decision import Constraint, parse_constraint, render_constraint
from gnomon.core.decision.constraint import ITEMS_MAX, Between, Dates
from gnomon.core.decision.constraint_text import TEXT_MAX
from gnomon.errors import DefinitionError
from tests.clauses import clause


def sets(least: int, greatest: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.integers(least, greatest))


MINUTES = st.integers(0, 1439)
DAYS = st.dates(date(1970, 1, 1), date(2200, 12, 31))
BETWEENS = st.builds(Between, first=MINUTES, last=MINUTES)
SPANS = st.tuples(DAYS, DAYS).map(lambda pair: Dates(first=min(pair), last=max(pair)))
CONSTRAINTS = st.builds(
    Constraint,
    hours=sets(0, 23),
    dow=sets(0, 6),
    dom=st.frozensets(st.integers(1, 31), min_size=1),
    months=sets(1, 12),
    between=st.frozensets(BETWEENS, max_size=4),
    dates=st.frozensets(SPANS, max_size=4),
)


@clause("CON-10")
def test_clauses_are_kinds_and_values() -> None:
    text = (
        "hours=9-11,17;dow=mon-fri;dom=1,15;months=jan,12;between=22:00-6:00;"
        "date=2026-12-25;dates=2026-12-30..2027-01-02"
    )
    assert parse_constraint(text) == Constraint(
        hours=frozenset([9, 10, 11, 17]),
        dow=frozenset([1, 2, 3, 4, 5]),
        dom=frozenset([1, 15]),
        months=frozenset([1, 12]),
        between=frozenset([Between(first=22 * 60, last=6 * 60)]),
        dates=frozenset(
            [
                Dates(first=date(2026, 12, 25), last=date(2026, 12, 25)),
                Dates(first=date(2026, 12, 30), last=date(2027, 1, 2)),
            ]
        ),
    )


@clause("CON-10")
def test_spaces_case_and_empty_clauses_do_not_matter() -> None:
    assert parse_constraint(" dow = MON - Fri ; ; hours = 9 , 10 ;") == parse_constraint(
        "hours=9-10;dow=mon-fri"
    )


@clause("CON-10")
@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("dow=7", {0}),
        ("dow=sat-sun", {6, 0}),
        ("dow=6-7", {6, 0}),
        ("dow=0-6", {0, 1, 2, 3, 4, 5, 6}),
        ("dow=sun-tue", {0, 1, 2}),
        ("dow=sun-sun", {0}),
        ("dow=mon-sun", {0, 1, 2, 3, 4, 5, 6}),
        ("dow=sun-7", {0, 1, 2, 3, 4, 5, 6}),
    ],
)
def test_sunday_may_end_a_range_of_weekdays(text: str, days: set[int]) -> None:
    assert parse_constraint(text).dow == days


@clause("CON-10")
def test_between_and_dates_take_lists_too() -> None:
    assert parse_constraint("between=12:00-12:30,18:00-18:30") == parse_constraint(
        "between=12:00-12:30;between=18:00-18:30"
    )
    assert parse_constraint("date=2026-12-24,2026-12-31") == parse_constraint(
        "date=2026-12-24;date=2026-12-31"
    )


@clause("CON-11")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must not be empty"),
        (" ; ;", "must not be empty"),
        ("hours", "must be clauses of the form kind=value"),
        ("hours=", "must be clauses of the form kind=value"),
        ("=9", "must be clauses of the form kind=value"),
        ("minutes=5", "is not known.*the kinds are hours, dow, dom, months, between, date, dates"),
        ("hour=5", "has a kind that is not known, got 'hour=5'; did you mean hours[?]"),
        ("Dow=mon", "has a kind that is not known.*did you mean dow[?]"),
        ("hours 9-17", "must be clauses of the form kind=value"),
        ("hours=24", "must be from 0 to 23"),
        ("hours=9-", "must be values and ranges"),
        ("hours=-9", "must be values and ranges"),
        ("hours=9,,10", "must be values and ranges"),
        ("hours=*", "must be values and ranges"),
        ("hours=٩", "must be values and ranges"),
        ("hours=17-9", "must not run backwards.*write 17-23,0-9"),
        ("hours=23-0", "must not run backwards.*write 23,0"),
        ("dow=fri-mon", "must not run backwards.*write fri-sat,sun-mon"),
        ("dow=5-1", "must not run backwards.*write 5-6,0-1"),
        ("dow=7-3", "must not run backwards.*write 0-3"),
        ("months=nov-feb", "must not run backwards.*write nov-dec,jan-feb"),
        ("dow=8", "must be from 0 to 7"),
        ("dow=funday", "must be values and ranges.*or sun to sat"),
        ("dom=0", "must be from 1 to 31"),
        ("dom=32", "must be from 1 to 31"),
        ("months=0", "must be from 1 to 12"),
        ("months=mon", "must be values and ranges.*or jan to dec"),
        ("between=12:00", "must be two times of day"),
        ("between=24:00-25:00", "must be two times of day"),
        ("between=12:60-13:00", "must be two times of day"),
        ("between=12:00-13:00-14:00", "must be two times of day"),
        ("between=noon-13:00", "must be two times of day"),
        ("date=2026-02-30", "must be a date of the calendar"),
        ("date=20260225", "must be a date of the calendar"),
        ("date=2026-02-01..2026-02-03", "must be one date"),
        ("dates=2026-02-01", "must be a range of dates"),
        (
            "dates=2026-02-03..2026-02-01",
            r"^constraint\.dates: must not end before it starts, got '2026-02-03\.\.2026-02-01'",
        ),
        (
            "date=1969-12-31",
            r"^constraint\.date: must be a date from 1970 to 2200, got '1969-12-31'",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        parse_constraint(text)


@clause("CON-11")
@given(st.text(alphabet="hoursdwmbetn=;,-.:0123456789 ", max_size=40))
def test_any_other_text_is_refused_and_nothing_worse(text: str) -> None:
    try:
        constraint = parse_constraint(text)
    except DefinitionError:
        return
    assert parse_constraint(render_constraint(constraint)) == constraint


@clause("CON-12")
def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(DefinitionError, match="is longer than 8192 characters"):
        parse_constraint("hours=1" + " " * TEXT_MAX)


@clause("CON-12")
def test_a_text_that_lists_too_much_is_refused() -> None:
    with pytest.raises(DefinitionError, match="lists more than 256 values"):
        parse_constraint("hours=" + ",".join(["1"] * (ITEMS_MAX + 1)))


@clause("CON-12")
def test_the_greatest_constraint_can_be_written_down() -> None:
    days = [date.fromordinal(date(2026, 1, 1).toordinal() + step) for step in range(ITEMS_MAX + 1)]
    spans = (Dates(first=day, last=after) for day, after in pairwise(days))
    constraint = Constraint(dates=frozenset(spans))
    assert parse_constraint(render_constraint(constraint)) == constraint


@clause("CON-13")
def test_the_canonical_text_is_sorted_and_joins_neighbours() -> None:
    text = "months=12,1,2;dow=7,fri,sat;hours=11,9,10;date=2026-12-25;between=6:00-7:00"
    assert render_constraint(parse_constraint(text)) == (
        "hours=9-11;dow=sun,fri-sat;months=jan-feb,dec;between=06:00-07:00;date=2026-12-25"
    )


@clause("CON-13")
@given(CONSTRAINTS)
def test_the_canonical_text_gives_the_constraint_back(constraint: Constraint) -> None:
    assert parse_constraint(render_constraint(constraint)) == constraint
