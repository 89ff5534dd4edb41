"""Instants at the edge."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.civil.instant import format_instant, from_epoch, parse_instant, to_epoch
from gnomon.errors import DefinitionError
from tests.clauses import clause

EPOCHS = st.integers(0, 7_289_654_399)


@clause("TIME-1")
@pytest.mark.parametrize("at", [datetime(2026, 3, 1), "2026-03-01T00:00:00Z", None])  # noqa: DTZ001
def test_anything_but_an_aware_datetime_is_refused(at: object) -> None:
    with pytest.raises(DefinitionError, match=r"after: must be a datetime with a UTC offset"):
        to_epoch(at, where="after")  # type: ignore[arg-type]


@clause("TIME-2")
@given(EPOCHS)
def test_an_instant_is_written_as_rfc_3339_in_utc(epoch: int) -> None:
    expected = datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")

    assert format_instant(epoch) == expected
    assert from_epoch(epoch).tzinfo is UTC


@clause("TIME-2")
@given(EPOCHS, st.integers(0, 999_999), st.integers(-14 * 60, 14 * 60))
def test_a_fraction_is_dropped_whatever_the_zone(epoch: int, micro: int, minutes: int) -> None:
    zone = timezone(timedelta(minutes=minutes))
    at = (datetime.fromtimestamp(epoch, UTC) + timedelta(microseconds=micro)).astimezone(zone)

    assert to_epoch(at) == epoch


@clause("TIME-3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01t00:00:00z", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01 00:00:00+02:00", "2026-02-28T22:00:00+00:00"),
        ("2026-03-01T00:00:00.250-05:30", "2026-03-01T05:30:00.250000+00:00"),
        ("2026-03-01T00:00:00.123456789Z", "2026-03-01T00:00:00.123456+00:00"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00+00:00"),
    ],
)
def test_rfc_3339_text_is_read(text: str, expected: str) -> None:
    assert parse_instant(text).isoformat() == expected


@clause("TIME-3")
@pytest.mark.parametrize(
    "text",
    [
        "", "now", "2026-03-01", "2026-03-01T00:00:00", "2026-03-01T00:00Z", "2026-02-30T00:00:00Z",
        "2026-03-01T24:00:00Z", "2026-03-01T00:00:00+0200", "20260301T000000Z",
        "2026-W09-7T00:00:00Z", "٢٠٢٦-03-01T00:00:00Z", "0001-01-01T00:00:00+14:00",
        "2026-03-01T00:00:61Z", "2026-03-01T00:00:00+02:60", "2026-03-01T00:00:00+25:00",
    ],
)  # fmt: skip
def test_any_other_text_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse_instant(text, where="at")

    assert caught.value.where == "at"
    assert "2026-03-01T00:00:00Z" in caught.value.hint


@clause("TIME-3")
def test_a_missing_offset_is_named() -> None:
    with pytest.raises(DefinitionError, match="must be an RFC 3339 instant with its offset"):
        parse_instant("2026-03-01T00:00:00")
