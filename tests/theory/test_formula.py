"""Formulas: what every operator is worth on a trace so short that one can see it."""

import pytest

from gnomon.theory.evaluation import NO, UNDECIDED, YES, Evaluation
from gnomon.theory.formula import (
    FALSE,
    TRUE,
    And,
    Atom,
    Eventually,
    Formula,
    Globally,
    Next,
    Or,
    Since,
    Until,
    Within,
    Yesterday,
    at_most_one,
    hold,
    hold_plus,
    implies,
    once,
    parts_of,
    render,
)
from gnomon.theory.positions import Position
from gnomon.trace import Witnesses
from tests.clauses import clause

P, Q = Atom("p"), Atom("q")
WORDS = {NO: "-", UNDECIDED: "?", YES: "+"}


def values(formula: Formula, trace: str, *, metered: bool = False) -> str:
    """The value at every position; a trace is positions of letters, ten milliseconds apart."""
    positions = [
        Position(frozenset((letter, None) for letter in word), 10 * index, 5 if "c" in word else 0)
        for index, word in enumerate(trace.split())
    ]
    found = Evaluation(positions, Witnesses(0, 5, 25), is_metered=metered).values(formula)
    return "".join(WORDS[value] for value in found)


@clause("THEORY-1")
@pytest.mark.parametrize(("formula", "trace", "expected"), [
    (TRUE, ". .", "++"),
    (FALSE, ". .", "--"),
    (P, "p . pq", "+-+"),
    (~P, "p . pq", "-+-"),
    (P & Q, "p q pq", "--+"),
    (P | Q, "p . q", "+-+"),
    (And(()), ".", "+"),
    (Or(()), ".", "-"),
    (implies(P, Q), "p q pq .", "-+++"),
    (Yesterday(P), "p . p .", "-+-+"),
    (once(P), ". p . .", "-+++"),
    (Since(P, Q), ". q p p . p", "-+++--"),
    (Since(P, Q), "pq . q", "+-+"),
    (Since(TRUE, Q, at_least_ms=20), "q . . .", "--++"),
    (Since(P, Q, at_least_ms=10), "q p . p", "-+--"),
    (Next(P), ". p .", "+-?"),
    (Eventually(P), ". p . .", "++??"),
    (Globally(P), "p . p p", "--??"),
    (Until(P, Q), "p p q p", "+++?"),
    (Until(P, Q), "p . q", "--+"),
    (Until(P, Q, is_weak=True), "p p p", "???"),
    (hold(P, Q), "p . pq . p", "++--+"),
    (hold_plus(P, Q), "p q pq . q", "+-++-"),
    (at_most_one(Q, P), "p . p .", "-???"),
    (at_most_one(Q, P), "p q p .", "????"),
])  # fmt: skip
def test_an_operator_means_what_it_says(formula: Formula, trace: str, expected: str) -> None:
    assert values(formula, trace) == expected


@clause("THEORY-1", "THEORY-8")
@pytest.mark.parametrize(("trace", "metered", "expected"), [
    (". . p", False, "+++"),
    (". . . p", False, "-+++"),
    (". .", False, "??"),
    (". c p", True, "+++"),
    (". c c p", True, "++++"),
    ("c c c c", True, "????"),
    (". " + "c " * 27, True, "-" + "?" * 27),
])  # fmt: skip
def test_a_promise_is_kept_before_its_budget_is_spent(
    trace: str, metered: bool, expected: str
) -> None:
    assert values(Within(P, 0), trace, metered=metered) == expected


@clause("THEORY-1")
def test_of_no_positions_nothing_is_decided() -> None:
    assert Evaluation([], Witnesses(0, 0, 0), is_metered=False).at_start(P) == UNDECIDED


@clause("THEORY-1")
@pytest.mark.parametrize(("formula", "expected"), [
    (P & (Q | TRUE), True),
    (Since(P, Yesterday(Q)), True),
    (P & Next(Q), False),
    (Globally(P), False),
    (~Within(P, 3), False),
])  # fmt: skip
def test_a_formula_about_the_past_is_settled_where_it_stands(
    formula: Formula, expected: bool
) -> None:
    assert Evaluation([], Witnesses(0, 0, 0), is_metered=False).is_about_past(formula) is expected


@clause("THEORY-1")
@pytest.mark.parametrize(("formula", "text"), [
    (TRUE, "true"), (FALSE, "false"), (And(()), "true"), (Or(()), "false"),
    (Atom("RS", "a"), "RS(a)"), (~P, "!p"), (P & Q, "(p & q)"), (P | Q, "(p | q)"),
    (Yesterday(P), "Y p"), (Since(P, Q), "(p S q)"), (Next(P), "X p"), (Until(P, Q), "(p U q)"),
    (Since(P, Q, at_least_ms=5), "(p S[>=5ms] q)"), (Until(P, Q, is_weak=True), "(p W q)"),
    (Eventually(P), "F p"), (Globally(P), "G p"), (Within(P, 8), "Fcomp[8+|tau|](p)"),
])  # fmt: skip
def test_a_formula_can_be_read(formula: Formula, text: str) -> None:
    assert render(formula) == text


@clause("THEORY-1")
def test_formulas_are_values() -> None:
    assert hold(P, Q) == hold(Atom("p"), Atom("q"))


@pytest.mark.parametrize("wrong", [
    render, parts_of, Evaluation([], Witnesses(0, 0, 0), is_metered=False).values,
], ids=["render", "parts_of", "values"])  # fmt: skip
def test_what_is_no_formula_is_refused(wrong: object) -> None:
    assert callable(wrong)
    with pytest.raises(TypeError, match="not a formula"):
        wrong(Formula())
