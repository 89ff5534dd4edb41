"""Policies: deadlines, catching up, overlap and retries."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.policy import (
    BACKOFF_MAX,
    Turn,
    even_step_ms,
    is_too_late,
    kept,
    last_too_late,
    line_up,
    retry_ms,
    turns,
)
from gnomon.core.schedule import Catchup, Overlap
from tests.clauses import clause

TEN = timedelta(seconds=10)
NOW = 1_000_000
FIRES = st.lists(st.integers(0, NOW), max_size=12)
SECOND = timedelta(seconds=1)


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


@clause("POLICY-2", "POLICY-3", "POLICY-4", "POLICY-13", "POLICY-14", "POLICY-11")
@pytest.mark.parametrize(
    ("catchup", "ages_s", "expected"),
    [
        # nothing overdue: everything counts, under every policy
        ("none", [], ""),
        ("none", [0], "+"),
        ("none", [2, 1, 0], "+++"),
        ("latest", [2, 1, 0], "+++"),
        ("spread", [2, 1, 0], "+++"),
        # none: the newest of the overdue, if it is recent
        ("none", [3], "+"),
        ("none", [61], "+"),
        ("none", [62], "-"),
        ("none", [180, 120, 60], "--+"),
        ("none", [180, 120], "--"),
        ("none", [60, 0], "-+"),
        ("none", [60, 2, 1, 0], "-+++"),
        # latest: the newest of the overdue, however old
        ("latest", [62], "+"),
        ("latest", [900, 600, 300], "--+"),
        ("latest", [60, 0], "-+"),
        # a window may let the newest period run first: the others are judged by themselves
        ("latest", [0, 600], "++"),
        ("none", [0, 600], "+-"),
        # the others keep all
        ("fire_immediately", [900, 600, 300], "+++"),
        ("spread", [900, 600, 300], "+++"),
        # recent: the last few of the overdue, however old, and every one in time
        ("recent", [900, 600, 300], "+++"),
        ("recent", [1200, 900, 600, 300], "-+++"),
        ("recent", [1500, 1200, 2, 600, 300, 0], "-+++++"),
        ("recent", [2, 1500, 1200, 600, 300], "+-+++"),
    ],
)
def test_which_of_the_overdue_count(catchup: str, ages_s: list[int], expected: str) -> None:
    fires_ms = [NOW - age_s * 1000 for age_s in ages_s]

    verdicts = kept(
        Catchup(catchup), fires_ms, now_ms=NOW, on_time_ms=2_000, grace_ms=61_000, recent_max=3
    )

    assert "".join("+" if counts else "-" for counts in verdicts) == expected


@clause("POLICY-13")
@pytest.mark.parametrize(
    ("count", "tick_max", "expected_ms"),
    [
        (1, 100, 60_000), (2, 100, 30_000), (7, 100, 8_571), (6_000, 100, 10), (9_000, 100, 10),
        (49, 1, 1_224), (70, 1, 1_000), (6_000, 3, 334),
    ],
)  # fmt: skip
def test_overdue_periods_are_spread_evenly_but_not_too_many_in_a_tick(
    count: int, tick_max: int, expected_ms: int
) -> None:
    step_ms = even_step_ms(count, over_ms=60_000, tick_max=tick_max, tick_ms=1_000)
    assert step_ms == expected_ms


@clause("POLICY-13", "POLICY-14")
@pytest.mark.parametrize(
    ("fires_ms", "gaps_ms", "expected"),
    [
        ([], [], []),
        ([NOW - 9, NOW - 5, NOW - 1, NOW], [0, 0, 0, 0], [NOW, NOW, NOW + 1_000, NOW + 1_000]),
        ([NOW - 9, NOW - 5, NOW - 1], [0, 700, 700], [NOW, NOW + 700, NOW + 1_400]),
        ([NOW - 9, NOW - 5, NOW - 1], [50, 100, 100], [NOW + 50, NOW + 150, NOW + 1_050]),
        # What has its instant keeps it where there is room.
        ([NOW - 9, NOW + 400, NOW + 800], [0, 200, 200], [NOW, NOW + 400, NOW + 1_000]),
        ([NOW - 9, NOW + 100, NOW + 2_000], [0, 200, 200], [NOW, NOW + 200, NOW + 2_000]),
    ],
)
def test_a_line_keeps_its_order_its_gaps_and_the_limit_of_each_tick(
    fires_ms: list[int], gaps_ms: list[int], expected: list[int]
) -> None:
    assert line_up(fires_ms, gaps_ms, from_ms=NOW, tick_max=2, tick_ms=1_000) == expected


@clause("POLICY-2")
@given(st.sampled_from(list(Catchup)), FIRES)
def test_what_is_in_time_always_counts(catchup: Catchup, fires_ms: list[int]) -> None:
    verdicts = kept(catchup, fires_ms, now_ms=NOW, on_time_ms=2_000, grace_ms=61_000, recent_max=3)

    in_time = [fire_ms >= NOW - 2_000 for fire_ms in fires_ms]
    assert all(counts for counts, timely in zip(verdicts, in_time, strict=True) if timely)


@clause("POLICY-3", "POLICY-4")
@given(st.sampled_from([Catchup.NONE, Catchup.LATEST]), FIRES)
def test_at_most_one_overdue_period_counts(catchup: Catchup, fires_ms: list[int]) -> None:
    verdicts = kept(catchup, fires_ms, now_ms=NOW, on_time_ms=2_000, grace_ms=61_000, recent_max=3)

    late = [fire_ms < NOW - 2_000 for fire_ms in fires_ms]
    assert sum(counts for counts, overdue in zip(verdicts, late, strict=True) if overdue) <= 1


@clause("POLICY-13", "POLICY-14")
@given(
    st.lists(st.tuples(st.integers(-9_000, 9_000), st.integers(0, 900)), max_size=40),
    st.integers(1, 7),
)
def test_in_no_span_of_a_tick_more_of_a_line_go_than_may(
    line: list[tuple[int, int]], tick_max: int
) -> None:
    fires_ms, gaps_ms = [NOW + fire for fire, _ in line], [gap for _, gap in line]

    found = line_up(fires_ms, gaps_ms, from_ms=NOW, tick_max=tick_max, tick_ms=1_000)

    assert found == sorted(found)
    assert all(at_ms >= max(fire_ms, NOW) for at_ms, fire_ms in zip(found, fires_ms, strict=True))
    later = found[tick_max:]
    assert all(two - one >= 1_000 for one, two in zip(found, later, strict=False))


@clause("POLICY-6", "POLICY-7", "POLICY-8", "POLICY-9")
@pytest.mark.parametrize(
    ("overlap", "in_flight", "wanting", "expected"),
    [
        ("allow", 0, 0, ""),
        ("allow", 0, 1, "start"),
        ("allow", 9, 1, "start"),
        ("allow", 0, 5, "start start start wait wait"),
        ("skip", 0, 0, ""),
        ("skip", 0, 1, "start"),
        ("skip", 1, 1, "skip"),
        ("skip", 0, 3, "start skip skip"),
        ("skip", 2, 2, "skip skip"),
        ("queue", 0, 0, ""),
        ("queue", 0, 1, "start"),
        ("queue", 1, 1, "queue"),
        ("queue", 0, 4, "start queue queue full"),
        ("queue", 1, 4, "queue queue full full"),
        ("replace", 0, 0, ""),
        ("replace", 0, 1, "start"),
        ("replace", 3, 1, "start"),
        ("replace", 1, 3, "superseded superseded start"),
    ],
)
def test_whose_turn_it_is(overlap: str, in_flight: int, wanting: int, expected: str) -> None:
    found = turns(Overlap(overlap), wanting, in_flight=in_flight, starts_max=3, queue_max=2)

    assert " ".join(turn.value for turn in found) == expected


@clause("POLICY-6")
@given(
    st.sampled_from(list(Overlap)), st.integers(0, 20), st.integers(0, 5),
    st.integers(1, 10), st.integers(0, 10),
)  # fmt: skip
def test_each_gets_one_turn_and_only_allow_runs_beside_another(
    overlap: Overlap, wanting: int, in_flight: int, starts_max: int, queue_max: int
) -> None:
    found = turns(overlap, wanting, in_flight=in_flight, starts_max=starts_max, queue_max=queue_max)

    assert len(found) == wanting
    assert found.count(Turn.QUEUE) <= queue_max
    if overlap is not Overlap.ALLOW:
        assert found.count(Turn.START) <= 1
    if overlap in (Overlap.SKIP, Overlap.QUEUE) and in_flight:
        assert Turn.START not in found


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
