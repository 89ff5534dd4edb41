"""How large an input is, what it may take, and the least budget that a trace keeps to."""

import pytest

from gnomon.theory.budget import allowance, excess, fit, list_bits, time_bits
from gnomon.trace import Witnesses
from tests.clauses import clause
from tests.theory.story import task


@clause("THEORY-8")
def test_the_size_of_an_input_is_that_of_its_shortest_text() -> None:
    assert list_bits((task("a"),)) == 8 * len('[["a","* * * * *",5000]]')
    assert [time_bits(t) for t in (0, 1, 2, 3, 4, 1_772_323_200_000)] == [1, 2, 3, 3, 4, 42]
    assert allowance(Witnesses(0.5, 10, 0), 100, 3) == 61.5


@clause("THEORY-8")
def test_the_busiest_milliseconds_do_not_count() -> None:
    spent = [(1, 5), (1, 5), (2, 3), (3, 4)]

    assert [excess(spent, lag) for lag in range(5)] == [17, 7, 3, 0, 0]


@clause("THEORY-9")
@pytest.mark.parametrize(("worst", "expected"), [
    ({}, Witnesses(0, 0, 0)),
    ({100: 7}, Witnesses(0, 7, 0)),
    ({100: 10, 200: 20}, Witnesses(0.1, 0, 0)),
    ({100: 12, 200: 22, 150: 5}, Witnesses(0.1, 2, 0)),
    ({100: 20, 200: 10}, Witnesses(0, 20, 0)),
])  # fmt: skip
def test_a_line_is_laid_above_the_worst_answers(worst: dict[int, int], expected: Witnesses) -> None:
    assert fit(worst, 99, is_metered=True) == pytest.approx(expected)
