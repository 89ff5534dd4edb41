"""Wishes to wake: bounds, and what is no instant."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.workflow.timing import Wake, read_wake
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
        pytest.param(datetime(2026, 3, 1, 9, tzinfo=UTC), NOW + 9 * HOUR, marks=clause("WAKE-2")),
        pytest.param(
            datetime(2026, 3, 1, 9, tzinfo=timezone(timedelta(hours=1))), NOW + 8 * HOUR,
            marks=clause("WAKE-2"),
        ),
    ],
)  # fmt: skip
def test_a_wish_is_brought_within_bounds(wish: object, wakes_at: int | None) -> None:
    assert read_wake(wish, now_ms=NOW) == Wake(wakes_at)


@clause("WAKE-8")
@pytest.mark.parametrize(
    "wish",
    [
        "tomorrow", "", "2026-03-01T09:00:00", "2026-02-30T09:00:00Z", 1_772_323_200, 5.5,
        float("nan"), 10**400, datetime(2026, 3, 1), datetime.max.replace(tzinfo=UTC), {}, True,  # noqa: DTZ001
        b"2026", "x" * 5_000, "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_instant_wakes_as_early_as_may_be_and_is_told(wish: object) -> None:
    found = read_wake(wish, now_ms=NOW)

    if wish == datetime.max.replace(tzinfo=UTC):
        assert found == Wake(NOW + 24 * HOUR)
        return
    assert found.at_ms == NOW + 30_000
    assert found.problem.startswith("wakeAt: must be an instant with an offset, got ")
    assert len(found.problem) < 500


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
    | st.datetimes() | st.datetimes(timezones=st.timezones()),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip


@clause("WAKE-3", "WAKE-4", "WAKE-8")
@given(ANYTHING)
def test_whatever_a_script_asks_for_wakes_within_bounds(wish: object) -> None:
    found = read_wake(wish, now_ms=NOW)

    assert (found.at_ms is None) == (wish is None)
    assert found.at_ms is None or NOW + 30_000 <= found.at_ms <= NOW + 24 * HOUR


@clause("WAKE-3", "WAKE-4")
@given(st.datetimes(timezones=st.just(UTC)))
def test_every_instant_wakes_between_half_a_minute_and_a_day_ahead(wish: datetime) -> None:
    found = read_wake(wish, now_ms=NOW).at_ms

    assert found is not None
    assert NOW + 30_000 <= found <= NOW + 24 * HOUR
