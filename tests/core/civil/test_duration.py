"""Durations as text."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.duration import DURATION_MAX, format_duration, parse_duration, short_duration
from gnomon.errors import DefinitionError
from tests.clauses import clause


@clause("TIME-4")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", timedelta(0)),
        ("-0", timedelta(0)),
        ("0s", timedelta(0)),
        ("90s", timedelta(seconds=90)),
        ("1h30m", timedelta(minutes=90)),
        ("1h0m0s", timedelta(hours=1)),
        ("1.5h", timedelta(minutes=90)),
        (".5s", timedelta(milliseconds=500)),
        ("500ms", timedelta(milliseconds=500)),
        ("250us", timedelta(microseconds=250)),
        ("250µs", timedelta(microseconds=250)),
        ("3000ns", timedelta(microseconds=3)),
        ("-5s", timedelta(seconds=-5)),
        ("+5s", timedelta(seconds=5)),
        ("876600h", DURATION_MAX),
    ],
)
def test_go_durations_are_read(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@clause("TIME-4")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be a duration"),
        ("5", "must be a duration"),
        ("5 s", "must be a duration"),
        ("1d", "must be a duration"),
        ("h", "must be a duration"),
        ("--5s", "must be a duration"),
        ("1e3s", "must be a duration"),
        ("٥s", "must be a duration"),
        ("1s" * 40, "must be a duration"),
        ("1ns", "is finer than a microsecond"),
        ("876601h", "is longer than a century"),
        ("-876601h", "is longer than a century"),
        ("999999999999999999h", "is longer than a century"),
        ("9999999999999999999999h", "is longer than a century"),
        ("3155759999999999.000000000000000001us", "is finer than a microsecond"),
    ],
)
def test_other_text_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_duration(text, where="window")

    assert caught.value.reason == reason
    assert caught.value.where == "window"


@clause("TIME-4")
@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1d", "there is no unit d; write 24h"),
        ("2w", "there is no unit w; write 336h"),
        ("1d12h", "there is no unit d; write 24h for each"),
        ("5min", "write e.g. 90s, 15m, 1h30m or 500ms"),
    ],
)
def test_who_writes_days_or_weeks_is_told_the_hours(text: str, hint: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_duration(text)

    assert caught.value.hint == hint


@clause("TIME-4")
@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(hours=1), "1h0m0s"),
        (timedelta(minutes=15), "15m0s"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(seconds=1.5), "1.5s"),
        (timedelta(milliseconds=500), "500ms"),
        (timedelta(microseconds=1500), "1.5ms"),
        (timedelta(microseconds=7), "7µs"),
        (timedelta(days=-1), "-24h0m0s"),
    ],
)
def test_a_duration_is_written_as_go_writes_it(length: timedelta, expected: str) -> None:
    assert format_duration(length) == expected


@clause("TIME-4")
@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (timedelta(0), "0s"),
        (timedelta(days=1), "24h"),
        (timedelta(minutes=10), "10m"),
        (timedelta(hours=1, seconds=5), "1h0m5s"),
        (timedelta(hours=2, minutes=30), "2h30m"),
        (timedelta(milliseconds=500), "500ms"),
    ],
)
def test_for_people_a_duration_is_written_without_empty_parts(
    length: timedelta, expected: str
) -> None:
    assert short_duration(length) == expected
    assert parse_duration(expected) == length


@clause("TIME-4")
@given(st.timedeltas(-DURATION_MAX, DURATION_MAX))
def test_what_is_written_is_read_back(length: timedelta) -> None:
    assert parse_duration(format_duration(length)) == length
    assert parse_duration(short_duration(length)) == length
