"""Constraints: which instants are allowed."""

from datetime import date, datetime

import pytest

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Constraint, parse_constraint
from gnomon.core.decision.constraint import Between, Dates, allowance
from gnomon.errors import DefinitionError
from tests.clauses import clause


def is_allowed(at: str, *, only: str = "", avoid: str = "", zone: str = "UTC") -> bool:
    allowed = allowance(
        parse_constraint(only) if only else None,
        parse_constraint(avoid) if avoid else None,
    )
    assert allowed is not None
    epoch = to_epoch(parse_instant(at))
    return epoch + load_zone(zone).offset_at(epoch) in allowed


@clause("CON-1")
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        ("2026-03-02T08:59:59Z", False),
        ("2026-03-02T09:00:00Z", True),
        ("2026-03-02T17:59:59Z", True),
        ("2026-03-02T18:00:00Z", False),
    ],
)
def test_an_hour_is_the_whole_hour(at: str, allowed: bool) -> None:
    assert is_allowed(at, only="hours=9-17") is allowed
    assert is_allowed(at, avoid="hours=9-17") is not allowed


@clause("CON-2")
@pytest.mark.parametrize(
    ("at", "spec", "allowed"),
    [
        ("2026-03-01T12:00:00Z", "dow=sun", True),  # a Sunday
        ("2026-03-01T12:00:00Z", "dow=0", True),
        ("2026-03-01T12:00:00Z", "dow=7", True),
        ("2026-03-01T12:00:00Z", "dow=5-7", True),
        ("2026-03-01T12:00:00Z", "dow=mon-fri", False),
        ("2026-03-02T12:00:00Z", "dow=mon-fri", True),
        ("2026-03-07T12:00:00Z", "dow=6", True),
    ],
)
def test_a_weekday_counts_from_sunday(at: str, spec: str, allowed: bool) -> None:
    assert is_allowed(at, only=spec) is allowed


@clause("CON-3")
@pytest.mark.parametrize(
    ("at", "spec", "allowed"),
    [
        ("2026-03-15T12:00:00Z", "dom=1-7,15", True),
        ("2026-03-16T12:00:00Z", "dom=1-7,15", False),
        ("2026-03-16T12:00:00Z", "months=mar", True),
        ("2026-03-16T12:00:00Z", "months=4-12", False),
    ],
)
def test_days_and_months_count_from_one(at: str, spec: str, allowed: bool) -> None:
    assert is_allowed(at, only=spec) is allowed


@clause("CON-4")
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        ("2026-03-02T11:59:59Z", False),
        ("2026-03-02T12:00:00Z", True),
        ("2026-03-02T12:30:59Z", True),
        ("2026-03-02T12:31:00Z", False),
    ],
)
def test_between_includes_its_whole_last_minute(at: str, allowed: bool) -> None:
    assert is_allowed(at, only="between=12:00-12:30") is allowed


@clause("CON-4")
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        ("2026-03-02T21:59:59Z", False),
        ("2026-03-02T22:00:00Z", True),
        ("2026-03-03T00:00:00Z", True),
        ("2026-03-03T06:00:59Z", True),
        ("2026-03-03T06:01:00Z", False),
    ],
)
def test_between_may_run_overnight(at: str, allowed: bool) -> None:
    assert is_allowed(at, only="between=22:00-06:00") is allowed


@clause("CON-5")
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        ("2026-12-23T23:59:59Z", False),
        ("2026-12-24T00:00:00Z", True),
        ("2027-01-02T23:59:59Z", True),
        ("2027-01-03T00:00:00Z", False),
    ],
)
def test_a_range_of_dates_includes_both_ends(at: str, allowed: bool) -> None:
    assert is_allowed(at, only="dates=2026-12-24..2027-01-02") is allowed


@clause("CON-5")
def test_a_date_is_the_whole_day() -> None:
    assert is_allowed("2026-12-25T23:59:59Z", only="date=2026-12-25")
    assert not is_allowed("2026-12-26T00:00:00Z", only="date=2026-12-25")


@clause("CON-6")
@pytest.mark.parametrize("at", ["2026-03-02T09:30:00Z", "2026-03-02T15:30:00Z"])
def test_values_of_one_kind_add_up(at: str) -> None:
    assert is_allowed(at, only="hours=9;hours=15")
    assert is_allowed(at, only="between=09:00-09:59;between=15:00-15:59")


@clause("CON-6")
def test_single_dates_and_ranges_of_dates_are_one_kind() -> None:
    spec = "date=2026-03-02;dates=2026-05-01..2026-05-03"
    assert is_allowed("2026-03-02T12:00:00Z", only=spec)
    assert is_allowed("2026-05-02T12:00:00Z", only=spec)


@clause("CON-7")
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        ("2026-03-02T10:00:00Z", True),  # a Monday
        ("2026-03-02T20:00:00Z", False),
        ("2026-03-01T10:00:00Z", False),
    ],
)
def test_only_needs_a_match_of_every_kind(at: str, allowed: bool) -> None:
    assert is_allowed(at, only="dow=mon-fri;hours=9-17") is allowed


@clause("CON-8")
@pytest.mark.parametrize(
    ("at", "allowed"),
    [
        ("2026-03-02T10:00:00Z", False),
        ("2026-03-02T20:00:00Z", False),
        ("2026-03-01T10:00:00Z", False),
        ("2026-03-01T20:00:00Z", True),
    ],
)
def test_avoid_rejects_a_match_of_any_kind(at: str, allowed: bool) -> None:
    assert is_allowed(at, avoid="dow=mon-fri;hours=9-17") is allowed


@clause("CON-8")
def test_avoid_takes_away_from_only() -> None:
    assert is_allowed("2026-03-02T10:00:00Z", only="hours=9-17", avoid="between=12:00-12:59")
    assert not is_allowed("2026-03-02T12:30:00Z", only="hours=9-17", avoid="between=12:00-12:59")
    assert not is_allowed("2026-03-02T18:00:00Z", only="hours=9-17", avoid="between=12:00-12:59")


@clause("CON-9")
@pytest.mark.parametrize(
    ("at", "zone", "spec"),
    [
        ("2026-03-29T00:59:59Z", "Europe/Berlin", "hours=1"),
        ("2026-03-29T01:00:00Z", "Europe/Berlin", "hours=3"),  # 02:00 to 03:00 is skipped
        ("2026-10-25T00:30:00Z", "Europe/Berlin", "between=02:30-02:30"),
        ("2026-10-25T01:30:00Z", "Europe/Berlin", "between=02:30-02:30"),  # the second time
        ("2026-03-01T05:00:00Z", "America/Los_Angeles", "date=2026-02-28;dow=sat;hours=21"),
        ("2026-03-01T00:00:00Z", "Asia/Kathmandu", "between=05:45-05:45"),
    ],
)
def test_constraints_are_read_in_local_time(at: str, zone: str, spec: str) -> None:
    assert is_allowed(at, only=spec, zone=zone)
    assert not is_allowed(at, avoid=spec, zone=zone)


@clause("CON-9")
def test_before_the_horizon_a_zone_keeps_its_first_offset() -> None:
    # A window of a period early in 1970 may reach there; Berlin is at +01:00.
    assert is_allowed("1969-12-31T12:00:00Z", only="hours=13", zone="Europe/Berlin")


@clause("CON-11")
@pytest.mark.parametrize(
    ("kind", "value"),
    [("hours", 24), ("hours", -1), ("dow", 7), ("dom", 0), ("months", 13), ("hours", True)],
)
def test_a_value_outside_its_kind_is_refused(kind: str, value: int) -> None:
    with pytest.raises(DefinitionError, match=rf"constraint\.{kind}: must be from"):
        Constraint(**{kind: frozenset([value])})  # type: ignore[arg-type]


@clause("CON-11")
def test_a_kind_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(DefinitionError, match="must be a frozenset of int"):
        Constraint(hours=[9])  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="must be a frozenset of Between"):
        Constraint(between=frozenset(["12:00-13:00"]))  # type: ignore[list-item]


@clause("CON-11")
def test_a_constraint_without_values_is_refused() -> None:
    with pytest.raises(DefinitionError, match="must list 1 to 256 values"):
        Constraint()


@clause("CON-11")
@pytest.mark.parametrize("minute", [-1, 1440, "12:00"])
def test_a_minute_outside_the_day_is_refused(minute: int) -> None:
    with pytest.raises(DefinitionError, match="must be a minute of the day"):
        Between(first=0, last=minute)


@clause("CON-11")
@pytest.mark.parametrize(
    "day",
    [date(1969, 12, 31), date(2201, 1, 1), datetime(2026, 1, 1), "2026-01-01"],  # noqa: DTZ001
)
def test_a_date_outside_the_horizon_is_refused(day: date) -> None:
    with pytest.raises(DefinitionError, match="must be a date from 1970 to 2200"):
        Dates(first=day, last=day)


@clause("CON-11")
def test_dates_that_end_before_they_start_are_refused() -> None:
    with pytest.raises(DefinitionError, match="must not end before it starts"):
        Dates(first=date(2026, 2, 3), last=date(2026, 2, 1))


@clause("CON-12")
def test_too_many_values_are_refused() -> None:
    spans = frozenset(Between(first=0, last=minute) for minute in range(257))
    with pytest.raises(DefinitionError, match="must list 1 to 256 values"):
        Constraint(between=spans)
