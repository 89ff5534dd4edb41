"""Overlap: whose turn it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.policy.overlap import Turn, turns
from gnomon.core.schedule import Overlap
from tests.clauses import clause


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
