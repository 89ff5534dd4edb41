"""Wishes to wake: bounds, and what is no instant."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.workflow.wake import read_wake
from gnomon.errors import LogicError
from tests.apps.workflow.facts import NOW
from tests.clauses import clause

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("wish", "wakes_at"),
    [
        pytest.param(None, None, marks=clause("WAKE-1")),
        pytest.param("2026-03-01T09:00:00Z", NOW + 9 * HOUR, marks=clause("WAKE-2")),
        pytest.param("2026-03-01T10:00:00+01:00", NOW + 9 * HOUR, marks=clause("WAKE-2")),
        pytest.param("2026-03-01T00:00:05Z", NOW + 30_000, marks=clause("WAKE-3")),
        pytest.param("1970-01-01T00:00:00Z", NOW + 30_000, marks=clause("WAKE-3")),
        pytest.param("2026-03-01T00:00:30Z", NOW + 30_000, marks=clause("WAKE-3")),
        pytest.param("2026-03-02T00:00:00Z", NOW + 24 * HOUR, marks=clause("WAKE-4")),
        pytest.param("2026-03-02T00:00:01Z", NOW + 24 * HOUR, marks=clause("WAKE-4")),
        pytest.param("9999-12-31T23:59:59Z", NOW + 24 * HOUR, marks=clause("WAKE-4")),
        pytest.param(datetime(2026, 3, 1, 9, tzinfo=UTC), NOW + 9 * HOUR, marks=clause("WAKE-5")),
        pytest.param(
            datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=1))), NOW + 8 * HOUR,
            marks=clause("WAKE-5"),
        ),
    ],
)  # fmt: skip
def test_a_wish_is_brought_within_bounds(wish: object, wakes_at: int | None) -> None:
    assert read_wake(wish, now_ms=NOW) == wakes_at


@clause("WAKE-5")
@pytest.mark.parametrize(
    "wish",
    ["tomorrow", "", "2026-03-01T09:00:00", 1_772_323_200, datetime(2026, 3, 1), {}, True],  # noqa: DTZ001
)
def test_what_is_no_instant_is_a_mistake_of_the_script(wish: object) -> None:
    with pytest.raises(LogicError, match="wakeAt"):
        read_wake(wish, now_ms=NOW)


@clause("WAKE-3", "WAKE-4")
@given(st.datetimes(timezones=st.just(UTC)))
def test_every_instant_wakes_between_half_a_minute_and_a_day_ahead(wish: datetime) -> None:
    found = read_wake(wish, now_ms=NOW)

    assert found is not None
    assert NOW + 30_000 <= found <= NOW + 24 * HOUR
