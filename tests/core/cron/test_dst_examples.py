"""
Daylight saving time, in examples that a person can check with a calendar.

Each window below is a stretch of days around one transition, given once with the clock's reading
before and after it. Every example lists all occurrences in its window.
"""

from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from gnomon import cron
from tests.clauses import clause
from tests.oracle.transitions import zone_info


class Days(NamedTuple):
    zone: str
    start: str
    end: str


# Gaps: the clock jumps forward.
# Riga, 28 March 2021: 03:00+02 becomes 04:00+03.
RIGA_GAP = Days("Europe/Riga", "2021-03-28T00:00+02:00", "2021-03-29T00:00+03:00")
# New York, 8 March 2026: 02:00-05 becomes 03:00-04.
NEW_YORK_GAP = Days("America/New_York", "2026-03-08T00:00-05:00", "2026-03-09T00:00-04:00")
# Lord Howe, 4 October 2026: 02:00+10:30 becomes 02:30+11. Half an hour.
LORD_HOWE_GAP = Days("Australia/Lord_Howe", "2026-10-04T00:00+10:30", "2026-10-05T00:00+11:00")
# Apia, end of 29 December 2011: 30 December 00:00-10 becomes 31 December 00:00+14. A whole day.
APIA_GAP = Days("Pacific/Apia", "2011-12-29T00:00-10:00", "2012-01-01T00:00+14:00")
# Troll, 29 March 2026: 01:00+00 becomes 03:00+02. Two hours.
TROLL_GAP = Days("Antarctica/Troll", "2026-03-29T00:00+00:00", "2026-03-30T00:00+02:00")
# Monrovia, 7 January 1972: 00:00:00-00:44:30 becomes 00:44:30+00. Not a whole minute.
MONROVIA_GAP = Days("Africa/Monrovia", "1972-01-07T00:00-00:44:30", "1972-01-08T00:00+00:00")
# Casablanca, 22 March 2026, after Ramadan: 02:00+00 becomes 03:00+01.
CASABLANCA_GAP = Days("Africa/Casablanca", "2026-03-22T00:00+00:00", "2026-03-23T00:00+01:00")

# Folds: the clock jumps back.
# Riga, 31 October 2021: 04:00+03 becomes 03:00+02.
RIGA_FOLD = Days("Europe/Riga", "2021-10-31T00:00+03:00", "2021-11-01T00:00+02:00")
# New York, 1 November 2026: 02:00-04 becomes 01:00-05.
NEW_YORK_FOLD = Days("America/New_York", "2026-11-01T00:00-04:00", "2026-11-02T00:00-05:00")
# Lord Howe, 5 April 2026: 02:00+11 becomes 01:30+10:30.
LORD_HOWE_FOLD = Days("Australia/Lord_Howe", "2026-04-05T00:00+11:00", "2026-04-06T00:00+10:30")
# Troll, 25 October 2026: 03:00+02 becomes 01:00+00.
TROLL_FOLD = Days("Antarctica/Troll", "2026-10-25T00:00+02:00", "2026-10-26T00:00+00:00")
# Casablanca, 15 February 2026, before Ramadan: 03:00+01 becomes 02:00+00.
CASABLANCA_FOLD = Days("Africa/Casablanca", "2026-02-15T00:00+01:00", "2026-02-16T00:00+00:00")


def _occurrences(text: str, days: Days, dst: str) -> list[str]:
    start, end = (datetime.fromisoformat(day).astimezone(UTC) for day in (days.start, days.end))
    found = cron(text, zone=days.zone, dst=dst).between(start, end)
    return [at.astimezone(zone_info(days.zone)).isoformat() for at in found]


@clause("DST-1")
@pytest.mark.parametrize(
    ("days", "text", "expected"),
    [
        (RIGA_GAP, "30 3 * * *", []),
        (RIGA_GAP, "0 3,4 * * *", ["2021-03-28T04:00:00+03:00"]),
        (RIGA_GAP, "59 2-4 * * *", ["2021-03-28T02:59:00+02:00", "2021-03-28T04:59:00+03:00"]),
        (NEW_YORK_GAP, "30 2 * * *", []),
        (
            NEW_YORK_GAP,
            "30 1-3 * * *",
            ["2026-03-08T01:30:00-05:00", "2026-03-08T03:30:00-04:00"],
        ),
        (LORD_HOWE_GAP, "0 2 * * *", []),
        (LORD_HOWE_GAP, "29,30 2 * * *", ["2026-10-04T02:30:00+11:00"]),
        (APIA_GAP, "0 12 * * *", ["2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"]),
        (APIA_GAP, "0 12 30 12 *", []),
        (TROLL_GAP, "30 1 * * *", []),
        (TROLL_GAP, "0 */2 * * *", [
            "2026-03-29T00:00:00+00:00", "2026-03-29T04:00:00+02:00", "2026-03-29T06:00:00+02:00",
            "2026-03-29T08:00:00+02:00", "2026-03-29T10:00:00+02:00", "2026-03-29T12:00:00+02:00",
            "2026-03-29T14:00:00+02:00", "2026-03-29T16:00:00+02:00", "2026-03-29T18:00:00+02:00",
            "2026-03-29T20:00:00+02:00", "2026-03-29T22:00:00+02:00",
        ]),
        (MONROVIA_GAP, "0,44,45 0 * * *", ["1972-01-07T00:45:00+00:00"]),
        (CASABLANCA_GAP, "15 2 * * *", []),
    ],
)  # fmt: skip
def test_strict_skips_a_time_that_the_gap_swallows(
    days: Days, text: str, expected: list[str]
) -> None:
    assert _occurrences(text, days, "strict") == expected


@clause("DST-2")
@pytest.mark.parametrize(
    ("days", "text", "expected"),
    [
        (RIGA_FOLD, "30 3 * * *", ["2021-10-31T03:30:00+03:00"]),
        (RIGA_FOLD, "0 3 * * *", ["2021-10-31T03:00:00+03:00"]),
        (RIGA_FOLD, "0 4 * * *", ["2021-10-31T04:00:00+02:00"]),
        (RIGA_FOLD, "*/30 2-4 * * *", [
            "2021-10-31T02:00:00+03:00", "2021-10-31T02:30:00+03:00",
            "2021-10-31T03:00:00+03:00", "2021-10-31T03:30:00+03:00",
            "2021-10-31T04:00:00+02:00", "2021-10-31T04:30:00+02:00",
        ]),
        (NEW_YORK_FOLD, "59 1 * * *", ["2026-11-01T01:59:00-04:00"]),
        (NEW_YORK_FOLD, "0 2 * * *", ["2026-11-01T02:00:00-05:00"]),
        (LORD_HOWE_FOLD, "15,45 1 * * *", [
            "2026-04-05T01:15:00+11:00", "2026-04-05T01:45:00+11:00",
        ]),
        (TROLL_FOLD, "0 1-3 * * *", [
            "2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+00:00",
        ]),
        (CASABLANCA_FOLD, "30 2 * * *", ["2026-02-15T02:30:00+01:00"]),
    ],
)  # fmt: skip
def test_strict_counts_only_the_first_of_a_repeated_time(
    days: Days, text: str, expected: list[str]
) -> None:
    assert _occurrences(text, days, "strict") == expected


@clause("DST-3")
@pytest.mark.parametrize(
    ("days", "text", "expected"),
    [
        (RIGA_GAP, "30 3 * * *", ["2021-03-28T04:00:00+03:00"]),
        (RIGA_GAP, "0 3,4 * * *", ["2021-03-28T04:00:00+03:00"]),  # merged with the match there
        (RIGA_GAP, "30 3,4 * * *", ["2021-03-28T04:00:00+03:00", "2021-03-28T04:30:00+03:00"]),
        (RIGA_GAP, "0-59 3 * * *", ["2021-03-28T04:00:00+03:00"]),  # once, however many
        (RIGA_GAP, "30 3 * * 0", ["2021-03-28T04:00:00+03:00"]),  # it is a Sunday
        (RIGA_GAP, "30 3 29 * *", []),
        (NEW_YORK_GAP, "0 2 * * *", ["2026-03-08T03:00:00-04:00"]),
        (NEW_YORK_GAP, "59 1 * * *", ["2026-03-08T01:59:00-05:00"]),
        (NEW_YORK_GAP, "0 3 * * *", ["2026-03-08T03:00:00-04:00"]),
        (LORD_HOWE_GAP, "15 2 * * *", ["2026-10-04T02:30:00+11:00"]),
        (APIA_GAP, "0 12 30 12 *", ["2011-12-31T00:00:00+14:00"]),
        (APIA_GAP, "0 12 * * *", [
            "2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00",
        ]),
        (TROLL_GAP, "30 1,2 * * *", ["2026-03-29T03:00:00+02:00"]),
        (MONROVIA_GAP, "0 0 * * *", ["1972-01-07T00:45:00+00:00"]),
        (MONROVIA_GAP, "44 0 * * *", ["1972-01-07T00:45:00+00:00"]),
        (CASABLANCA_GAP, "15 2 * * *", ["2026-03-22T03:00:00+01:00"]),
        (RIGA_GAP, "15,45 30 3 * * *", ["2021-03-28T04:00:00+03:00"]),  # seconds come first
    ],
)  # fmt: skip
def test_vixie_runs_a_swallowed_fixed_time_once_at_the_first_minute_after_the_gap(
    days: Days, text: str, expected: list[str]
) -> None:
    assert _occurrences(text, days, "vixie") == expected


@clause("DST-4")
@pytest.mark.parametrize(
    ("days", "text", "expected"),
    [
        (RIGA_FOLD, "30 3 * * *", ["2021-10-31T03:30:00+03:00"]),
        (RIGA_FOLD, "0 0-4 * * *", [
            "2021-10-31T00:00:00+03:00", "2021-10-31T01:00:00+03:00", "2021-10-31T02:00:00+03:00",
            "2021-10-31T03:00:00+03:00", "2021-10-31T04:00:00+02:00",
        ]),
        (NEW_YORK_FOLD, "0,30 1,2 * * *", [
            "2026-11-01T01:00:00-04:00", "2026-11-01T01:30:00-04:00",
            "2026-11-01T02:00:00-05:00", "2026-11-01T02:30:00-05:00",
        ]),
        (LORD_HOWE_FOLD, "45 1 * * *", ["2026-04-05T01:45:00+11:00"]),
        (TROLL_FOLD, "30 1,2 * * *", ["2026-10-25T01:30:00+02:00", "2026-10-25T02:30:00+02:00"]),
        (CASABLANCA_FOLD, "0 2 * * *", ["2026-02-15T02:00:00+01:00"]),
    ],
)  # fmt: skip
def test_vixie_runs_a_repeated_fixed_time_once(days: Days, text: str, expected: list[str]) -> None:
    assert _occurrences(text, days, "vixie") == expected


@clause("DST-5")
@pytest.mark.parametrize(
    ("days", "text", "expected"),
    [
        (RIGA_GAP, "*/30 2-4 * * *", [
            "2021-03-28T02:00:00+02:00", "2021-03-28T02:30:00+02:00",
            "2021-03-28T04:00:00+03:00", "2021-03-28T04:30:00+03:00",
        ]),
        (RIGA_GAP, "*/20 3 * * *", []),
        (RIGA_FOLD, "*/30 3 * * *", [
            "2021-10-31T03:00:00+03:00", "2021-10-31T03:30:00+03:00",
            "2021-10-31T03:00:00+02:00", "2021-10-31T03:30:00+02:00",
        ]),
        (NEW_YORK_GAP, "30 */2 8 3 *", [
            "2026-03-08T00:30:00-05:00", "2026-03-08T04:30:00-04:00", "2026-03-08T06:30:00-04:00",
            "2026-03-08T08:30:00-04:00", "2026-03-08T10:30:00-04:00", "2026-03-08T12:30:00-04:00",
            "2026-03-08T14:30:00-04:00", "2026-03-08T16:30:00-04:00", "2026-03-08T18:30:00-04:00",
            "2026-03-08T20:30:00-04:00", "2026-03-08T22:30:00-04:00",
        ]),
        (LORD_HOWE_GAP, "*/15 2 * * *", [
            "2026-10-04T02:30:00+11:00", "2026-10-04T02:45:00+11:00",
        ]),
        (LORD_HOWE_FOLD, "*/15 1 * * *", [
            "2026-04-05T01:00:00+11:00", "2026-04-05T01:15:00+11:00", "2026-04-05T01:30:00+11:00",
            "2026-04-05T01:45:00+11:00", "2026-04-05T01:30:00+10:30", "2026-04-05T01:45:00+10:30",
        ]),
        (APIA_GAP, "0 */12 * * *", [
            "2011-12-29T00:00:00-10:00", "2011-12-29T12:00:00-10:00",
            "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00",
        ]),
        (TROLL_FOLD, "*/30 2 * * *", [
            "2026-10-25T02:00:00+02:00", "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:00:00+00:00", "2026-10-25T02:30:00+00:00",
        ]),
        (MONROVIA_GAP, "*/15 0 * * *", ["1972-01-07T00:45:00+00:00"]),
        (CASABLANCA_FOLD, "*/30 2 * * *", [
            "2026-02-15T02:00:00+01:00", "2026-02-15T02:30:00+01:00",
            "2026-02-15T02:00:00+00:00", "2026-02-15T02:30:00+00:00",
        ]),
    ],
)  # fmt: skip
def test_vixie_lets_a_wildcard_follow_the_real_clock(
    days: Days, text: str, expected: list[str]
) -> None:
    assert _occurrences(text, days, "vixie") == expected


@clause("DST-5")
@pytest.mark.parametrize(
    ("days", "count"),
    [(RIGA_GAP, 23), (RIGA_FOLD, 25), (TROLL_GAP, 22), (TROLL_FOLD, 26), (APIA_GAP, 48)],
)
def test_an_hourly_wildcard_runs_once_in_every_hour_that_passes(days: Days, count: int) -> None:
    assert len(_occurrences("0 * * * *", days, "vixie")) == count


@clause("DST-6")
@pytest.mark.parametrize(
    ("days", "text", "expected"),
    [
        (RIGA_GAP, "30 3 * * *", []),
        (RIGA_FOLD, "30 3 * * *", ["2021-10-31T03:30:00+03:00", "2021-10-31T03:30:00+02:00"]),
        (NEW_YORK_GAP, "0 2,3 * * *", ["2026-03-08T03:00:00-04:00"]),
        (NEW_YORK_FOLD, "0 1,2 * * *", [
            "2026-11-01T01:00:00-04:00", "2026-11-01T01:00:00-05:00", "2026-11-01T02:00:00-05:00",
        ]),
        (LORD_HOWE_GAP, "15 2 * * *", []),
        (LORD_HOWE_FOLD, "45 1 * * *", ["2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30"]),
        (LORD_HOWE_FOLD, "15 1 * * *", ["2026-04-05T01:15:00+11:00"]),
        (APIA_GAP, "0 12 30 12 *", []),
        (TROLL_GAP, "30 1,2 * * *", []),
        (TROLL_FOLD, "30 1 * * *", ["2026-10-25T01:30:00+02:00", "2026-10-25T01:30:00+00:00"]),
        (MONROVIA_GAP, "0 0 * * *", []),
        (CASABLANCA_GAP, "15 2 * * *", []),
        (CASABLANCA_FOLD, "15 2 * * *", ["2026-02-15T02:15:00+01:00", "2026-02-15T02:15:00+00:00"]),
    ],
)  # fmt: skip
def test_civil_skips_the_gap_and_counts_both_passes_of_the_fold(
    days: Days, text: str, expected: list[str]
) -> None:
    assert _occurrences(text, days, "civil") == expected
