"""Whether the clocks agree, as far as answers tell."""

import pytest

from gnomon.apps.operator.asking import Agreement
from gnomon.apps.operator.server_clock import KNOWN_MS, ServerClock
from tests.clauses import clause

AT = 1_772_323_200


def clock(*, at: int, asked_ms: int, heard_ms: int, took_ms: int | None = None) -> ServerClock:
    one = ServerClock()
    took_ms = heard_ms - asked_ms if took_ms is None else took_ms
    one.see(at, asked_ms=asked_ms, heard_ms=heard_ms, took_ms=took_ms, monotonic_ms=1_000)
    return one


@clause("OPERATOR-18")
@pytest.mark.parametrize(
    ("ahead_ms", "found"),
    [
        (0, Agreement.AGREES), (2_000, Agreement.AGREES), (-2_000, Agreement.AGREES),
        (2_001, Agreement.DIFFERS), (-2_001, Agreement.DIFFERS),
    ],
)  # fmt: skip
def test_a_difference_of_more_than_the_tolerance_is_seen(ahead_ms: int, found: Agreement) -> None:
    now_ms = AT * 1000 + ahead_ms
    one = clock(at=AT, asked_ms=now_ms, heard_ms=now_ms)

    assert one.agreement(now_ms=now_ms, monotonic_ms=1_000) is found


@clause("OPERATOR-18")
def test_an_answer_that_took_long_is_no_difference() -> None:
    heard_ms = AT * 1000 + 9_000
    one = clock(at=AT, asked_ms=AT * 1000, heard_ms=heard_ms)

    assert one.agreement(now_ms=heard_ms, monotonic_ms=1_000) is Agreement.AGREES


@clause("OPERATOR-18")
@pytest.mark.parametrize(
    ("set_ms", "took_ms"), [(3_600_000, 25_000), (3_600_000, 1_000), (-5_000, 1_000), (0, 10_001)]
)
def test_an_answer_says_nothing_when_the_clock_was_set_or_the_operator_frozen_meanwhile(
    set_ms: int, took_ms: int
) -> None:
    asked_ms = AT * 1000
    heard_ms = asked_ms + took_ms + set_ms
    one = clock(at=AT, asked_ms=asked_ms, heard_ms=heard_ms, took_ms=took_ms)

    assert one.agreement(now_ms=heard_ms, monotonic_ms=1_000) is Agreement.UNKNOWN


@clause("OPERATOR-18")
def test_what_was_found_is_forgotten_after_a_while_and_when_the_clock_is_set() -> None:
    now_ms = AT * 1000
    one = clock(at=AT, asked_ms=now_ms, heard_ms=now_ms)
    later = 1_000 + KNOWN_MS

    known = one.agreement(now_ms=now_ms + KNOWN_MS, monotonic_ms=later)
    old = one.agreement(now_ms=now_ms + KNOWN_MS + 1, monotonic_ms=later + 1)
    was_set = one.agreement(now_ms=now_ms + 600, monotonic_ms=1_001)
    assert (known, old, was_set) == (Agreement.AGREES, Agreement.UNKNOWN, Agreement.UNKNOWN)


@clause("OPERATOR-18")
def test_without_an_answer_nothing_is_known() -> None:
    one = ServerClock()
    one.see(None, asked_ms=0, heard_ms=0, took_ms=0, monotonic_ms=0)

    assert one.agreement(now_ms=0, monotonic_ms=0) is Agreement.UNKNOWN
