"""
The judge judged: the minute scan against the calendar on the wall and against zoneinfo itself.

Nothing here asks the engine. What the scan answers must be checkable by hand before anything else
is measured against it.
"""

from datetime import UTC, datetime

import pytest

from tests.oracle.minute_scan import latest_scan, next_scan, occurrences
from tests.oracle.reading import Unreadable, matching_days, read
from tests.oracle.transitions import offset_at, segments, transitions, zone_info

_ZONES = ["Europe/Riga", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Monrovia", "Asia/Gaza"]


@pytest.mark.parametrize(
    ("fields", "year", "month", "days"),
    [
        ("* *", 2026, 2, tuple(range(1, 29))),
        ("L *", 2024, 2, (29,)),
        ("LW *", 2026, 5, (29,)),  # 31 May 2026 is a Sunday
        ("1W *", 2026, 8, (3,)),  # 1 August 2026 is a Saturday
        ("31W *", 2026, 5, (29,)),
        ("15W *", 2026, 8, (14,)),  # a Saturday
        ("16W *", 2026, 8, (17,)),  # a Sunday
        ("31W *", 2026, 4, ()),
        ("29W *", 2026, 2, ()),
        ("* 1#1", 2026, 6, (1,)),
        ("* 5#5", 2026, 5, (29,)),
        ("* 5#5", 2026, 6, ()),
        ("* 7L", 2026, 5, (31,)),
        ("* sunL", 2026, 6, (28,)),
        ("13 5", 2026, 2, (6, 13, 20, 27)),  # OR: the 13th, which is a Friday, and every Friday
        ("1 MON-tue", 2026, 7, (1, 6, 7, 13, 14, 20, 21, 27, 28)),
        ("1 0-6", 2026, 2, tuple(range(1, 29))),  # a full range is restricted, so OR
        ("*/10 *", 2026, 2, (1, 11, 21)),
        ("* 5-7", 2026, 2, (1, 6, 7, 8, 13, 14, 15, 20, 21, 22, 27, 28)),
    ],
)
def test_the_days_of_a_month_are_those_on_the_calendar(
    fields: str, year: int, month: int, days: tuple[int, ...]
) -> None:
    day, weekday = fields.split()

    assert matching_days(read(f"0 0 {day} * {weekday}", "standard"), year, month) == days


@pytest.mark.parametrize(
    "text", ["*/15 * * * *", "0 0 * * 7", "@daily", "0 0 30 2 *", "60 * * * *"]
)
def test_what_posix_does_not_allow_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text, "posix")


@pytest.mark.parametrize("zone", _ZONES)
def test_the_walk_sees_the_clock_of_zoneinfo(zone: str) -> None:
    """Every UTC minute around a transition, one at a time, without segments or arrays."""
    change = transitions(zone, 4 * 86_400, 2_145_916_800)[-1]
    start, end = change.at // 60 * 60 - 5_400, change.at // 60 * 60 + 5_400
    plain = [at for at in range(start, end) if _local(zone, at).second == 0]

    assert occurrences(
        "* * * * *", dialect="posix", zone=zone, dst="civil", start=start, end=end
    ) == plain  # fmt: skip


@pytest.mark.parametrize("zone", _ZONES)
def test_no_change_of_offset_is_missed_between_two_probes(zone: str) -> None:
    parts = iter(segments(zone))
    part = next(parts)
    for at in range(0, 2_303_683_200, 6 * 3_600):  # to 2043
        while at >= part.end:
            part = next(parts)
        assert offset_at(zone, at) == part.offset


def test_a_far_answer_is_reached_by_skipping_days() -> None:
    after = next_scan("0 0 29 2 *", dialect="posix", zone="UTC", dst="strict", after=_at(2096, 3))

    assert after == _at(2104, 2, 29)


def test_a_far_answer_is_reached_backwards_too() -> None:
    latest = latest_scan("0 0 29 2 *", dialect="posix", zone="UTC", dst="strict", at=_at(2104, 2))

    assert latest == _at(2096, 2, 29)


def _local(zone: str, at: int) -> datetime:
    return datetime.fromtimestamp(at, zone_info(zone))


def _at(year: int, month: int, day: int = 1) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())
