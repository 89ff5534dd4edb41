"""Catching up: which overdue periods count, and where they are spread to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.policy.catchup import kept, spread
from gnomon.core.schedule import Catchup
from tests.clauses import clause

NOW = 1_000_000
FIRES = st.lists(st.integers(0, NOW), max_size=12)


@clause("POLICY-2", "POLICY-3", "POLICY-4", "POLICY-5", "POLICY-11")
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
        # recent: the last few of the overdue, however old, and whoever is in time
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


@clause("POLICY-5")
@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, []),
        (1, [NOW]),
        (2, [NOW, NOW + 30_000]),
        (3, [NOW, NOW + 20_000, NOW + 40_000]),
        (7, [NOW + ms for ms in (0, 8_571, 17_142, 25_714, 34_285, 42_857, 51_428)]),
    ],
)
def test_overdue_periods_are_spread_evenly(count: int, expected: list[int]) -> None:
    assert spread(count, now_ms=NOW, over_ms=60_000) == expected


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


@clause("POLICY-5")
@given(st.integers(1, 500), st.integers(1, 10**6))
def test_spreading_begins_now_and_ends_before_the_time_is_over(count: int, over_ms: int) -> None:
    instants = spread(count, now_ms=NOW, over_ms=over_ms)

    assert instants[0] == NOW
    assert instants == sorted(instants)
    assert instants[-1] < NOW + over_ms
