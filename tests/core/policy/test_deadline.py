"""Deadlines: whole seconds, counted from the chosen instant."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.policy.deadline import is_too_late, last_too_late
from tests.clauses import clause

TEN = timedelta(seconds=10)


@clause("POLICY-12")
@pytest.mark.parametrize(
    ("fire_ms", "deadline", "now_ms", "too_late"),
    [
        (60_000, None, 10**15, False),
        (60_000, timedelta(0), 60_999, False),
        (60_000, timedelta(0), 61_000, True),
        (60_999, timedelta(0), 60_999, False),
        (60_999, timedelta(0), 61_000, True),
        (60_000, TEN, 70_999, False),
        (60_000, TEN, 71_000, True),
        (60_000, timedelta(milliseconds=10_900), 70_999, False),
        (60_000, timedelta(milliseconds=10_900), 71_000, True),
        (60_000, TEN, 0, False),
    ],
)
def test_a_period_is_too_late_in_the_second_after_its_deadline(
    fire_ms: int, deadline: timedelta | None, now_ms: int, too_late: bool
) -> None:
    assert is_too_late(fire_ms, deadline, now_ms=now_ms) is too_late


@clause("POLICY-12")
@given(
    st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**4), st.integers(0, 10**10)
)  # fmt: skip
def test_what_is_too_late_wherever_it_was_to_run_is_too_late(
    tail_ms: int, shift_ms: int, seconds: int, now_ms: int
) -> None:
    deadline = timedelta(seconds=seconds)
    nominal = last_too_late(tail_ms, deadline, now_ms=now_ms)

    assert is_too_late(nominal * 1000 + min(shift_ms, tail_ms), deadline, now_ms=now_ms)
    assert not is_too_late((nominal + 2) * 1000 + tail_ms, deadline, now_ms=now_ms)
