"""Retries: how long to wait, and when to give up."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.policy.retry import BACKOFF_MAX, retry_ms
from tests.clauses import clause

SECOND = timedelta(seconds=1)


@clause("POLICY-10")
@pytest.mark.parametrize(
    ("launches", "backoff", "waits_ms"),
    [
        (1, SECOND, 1_000),
        (2, SECOND, 2_000),
        (3, SECOND, 4_000),
        (10, SECOND, 512_000),
        (11, SECOND, 600_000),
        (99, SECOND, 600_000),
        (1, timedelta(hours=1), 600_000),
        (5, timedelta(0), 0),
        (1, timedelta(milliseconds=250), 250),
        (2, timedelta(milliseconds=250), 500),
    ],
)
def test_each_wait_is_twice_the_last_up_to_ten_minutes(
    launches: int, backoff: timedelta, waits_ms: int
) -> None:
    assert retry_ms(launches, 100, backoff, now_ms=5_000) == 5_000 + waits_ms


@clause("POLICY-10")
@pytest.mark.parametrize(("launches", "launches_max"), [(1, 1), (3, 3), (4, 3)])
def test_the_last_try_is_the_last(launches: int, launches_max: int) -> None:
    assert retry_ms(launches, launches_max, SECOND, now_ms=0) is None


@clause("POLICY-10")
@given(st.integers(1, 99), st.timedeltas(timedelta(0), timedelta(days=366)))
def test_waits_never_get_shorter_and_never_exceed_the_limit(
    launches: int, backoff: timedelta
) -> None:
    first = retry_ms(launches, 101, backoff, now_ms=0)
    second = retry_ms(launches + 1, 101, backoff, now_ms=0)

    assert first is not None
    assert second is not None
    assert 0 <= first <= second <= BACKOFF_MAX // timedelta(milliseconds=1)
