"""
Every axiom with a trace that keeps it and one that breaks it.

The traces are told in the words of `tests.theory.story`; a position counts events from zero.
"""

from typing import NamedTuple

import pytest

from gnomon.theory import AXIOMS, Report, Verdict, check
from gnomon.theory.budget import WITNESSES
from gnomon.theory.checking import is_metered
from gnomon.theory.slow import find_slowly
from gnomon.trace import Event, Header
from tests.clauses import clause
from tests.theory.story import tell

OWED = ("init a", "minute", "due a")


class Case(NamedTuple):
    axiom: str
    kept: list[Event]
    broken: list[Event]
    position: int
    explanation: str


CASES = [
    Case(
        "S1", tell(*OWED, "start a"), tell("init a", "start a"), 2,
        "'a' started and nothing asked for it: no due, retry or interrupted run was pending",
    ),
    Case(
        "S2", tell(*OWED, "start a", "ok a", "minute", "due a", "start a", "ok a"),
        tell(*OWED, "start a", "ok a", "start a", "ok a"), 7, "'a' succeeded twice for one due",
    ),
    Case(
        "S3", tell(*OWED, "start a", "stops 1", "ok a", "stopped 1"),
        tell(*OWED, "start a", "stops 1", "stopped 1"), 6, "stop() returned while 'a' was running",
    ),
    Case(
        "S4", tell("asks 1 a a", "refuses 1"), tell("asks 1 a a", "accepts 1"), 1,
        "call 1 was accepted with a list that is not valid",
    ),
    Case(
        "S5", tell("init a", "asks 1 a", "refuses 1"), tell("asks 1 a", "refuses 1"), 1,
        "call 1 refused a valid list without an excuse",
    ),
    Case(
        "S6", tell("init a", "stop", "init a"), tell("init a", "asks 2 a", "accepts 2"), 3,
        "call 2 succeeded while the scheduler was up",
    ),
    Case(
        "L1", tell(*OWED, "wait 59s", "start a"), tell(*OWED, "wait 61s", "start a"), 4,
        "'a' is owed since position 3 (t 3) and has not started 61001 ms later",
    ),
    Case(
        "L2", tell("asks 1 a", "wait 59s", "accepts 1"), tell("asks 1 a", "wait 61s", "accepts 1"),
        1, "initialize() of call 1 has not returned 61001 ms after position 0",
    ),
    Case(
        "L3", tell(*OWED, "start a", "stops 1", "wait 10m", "ok a", "stopped 1"),
        tell("init a", "stops 1", "wait 61s", "stopped 1"), 3,
        "stop() of call 1 has not returned although nothing is running 61001 ms after position 2",
    ),
    Case(
        "EA1", tell("compute 1", "crash"), tell("compute 1", "& crash"), 1,
        "compute at the instant of a crash",
    ),
    Case(
        "EA2", tell("compute 1", "asks 1 a", "compute 1", "accepts 1"),
        tell("compute 1", "asks 1 a", "accepts 1"), 2,
        "an action without any compute since the one before",
    ),
    Case(
        "EA3", tell("asks 1 a", "asks 2 a"), tell("asks 1 a", "& asks 2 a"), 1,
        "two actions at the same instant",
    ),
    Case(
        "EA5", tell("asks 1 a"), tell("asks 1 a:year"), 0,
        "'0 0 0 1 1 ? 2027', of 'a', does not occur for ever",
    ),
    Case(
        "EA6", tell(*OWED, "start a", "ok a"), tell(*OWED, "start a", "crash", "ok a"), 6,
        "'a' ended after a crash and had not started since",
    ),
    Case(
        "EA7", tell(*OWED, "start a", "ok a"), tell(*OWED, "ok a"), 4,
        "'a' ended and was not running",
    ),
]  # fmt: skip
IDS = [case.axiom for case in CASES]

KEPT = (Verdict.TRUE, Verdict.PRESUMABLY_TRUE)


def judged(events: list[Event]) -> Report:
    return check(Header(), events)


@clause("S1", "S2", "S3", "S4", "S5", "S6", "L1", "L2", "L3")
@clause("EA1", "EA2", "EA3", "EA5", "EA6", "EA7")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_an_axiom_holds_on_a_trace_that_keeps_it(case: Case) -> None:
    found = judged(case.kept).verdicts[case.axiom]

    assert found.verdict in KEPT
    assert found.exercised > 0
    assert found.position is None


@clause("S1", "S2", "S3", "S4", "S5", "S6", "L1", "L2", "L3")
@clause("EA1", "EA2", "EA3", "EA5", "EA6", "EA7", "THEORY-12")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_an_axiom_is_false_on_a_trace_that_breaks_it(case: Case) -> None:
    found = judged(case.broken).verdicts[case.axiom]

    assert found.verdict is Verdict.FALSE
    assert (found.position, found.explanation) == (case.position, case.explanation)


@clause("EA6", "EA7")
def test_where_nothing_crashed_an_end_without_a_start_is_no_matter_of_crashes() -> None:
    found = judged(tell("init a", "ok a"))

    assert found.verdicts["EA6"].verdict is Verdict.PRESUMABLY_TRUE
    assert found.verdicts["EA7"].verdict is Verdict.FALSE


@clause("EA6")
def test_after_a_crash_a_name_that_was_never_heard_of_ends_too_early_as_well() -> None:
    found = judged(tell("init a", "crash", "ok a")).verdicts["EA6"]

    assert (found.verdict, found.position) == (Verdict.FALSE, 3)


@clause("THEORY-2")
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_formula_of_an_axiom_says_the_same(case: Case) -> None:
    kept = find_slowly(case.kept, WITNESSES, is_metered=is_metered(case.kept))[case.axiom]
    broken = find_slowly(case.broken, WITNESSES, is_metered=is_metered(case.broken))[case.axiom]

    assert kept.violation is None
    assert broken.violation is not None
    assert broken.violation.position == case.position


@clause("EA4")
def test_freezes_without_end_are_presumed_and_never_decided() -> None:
    frozen, busy = judged(tell("compute 1", "wait 3s", "crash")), judged(tell("crash", "compute 1"))

    assert frozen.verdicts["EA4"].verdict is Verdict.PRESUMABLY_TRUE
    assert "3001 ms" in frozen.verdicts["EA4"].explanation
    assert busy.verdicts["EA4"].verdict is Verdict.PRESUMABLY_FALSE


def test_every_axiom_has_a_case() -> None:
    assert {*IDS, "EA4"} == {axiom.id for axiom in AXIOMS}


@clause("EA7")
@pytest.mark.parametrize("words", [
    ("asks 1 a", "accepts 2"),
    ("asks 1 a", "crash", "accepts 1"),
    ("stops 1", "stopped 2"),
    ("stops 1", "stopped 1", "stopped 1"),
    ("stops 1", "crash", "stopped 1"),
])  # fmt: skip
def test_a_call_ends_once_and_only_after_it_began(words: tuple[str, ...]) -> None:
    assert judged(tell(*words)).verdicts["EA7"].verdict is Verdict.FALSE


@clause("S5")
@pytest.mark.parametrize("words", [
    ("asks 1 a", "asks 2 a", "refuses 2", "accepts 1"),
    ("asks 1 a", "fault store", "refuses 1"),
    ("init a", "stops 1", "asks 2 a", "refuses 2", "stopped 1"),
])  # fmt: skip
def test_a_valid_list_may_be_refused_with_an_excuse(words: tuple[str, ...]) -> None:
    assert judged(tell(*words)).verdicts["S5"].verdict is not Verdict.FALSE


@clause("S5")
@pytest.mark.parametrize("words", [
    ("fault store", "asks 1 a", "refuses 1"),
    ("init a", "stop", "asks 1 a", "refuses 1"),
    ("asks 1 a", "crash", "asks 1 a", "refuses 1"),
])  # fmt: skip
def test_what_is_over_is_no_excuse(words: tuple[str, ...]) -> None:
    assert judged(tell(*words)).verdicts["S5"].verdict is Verdict.FALSE


@clause("S1")
@pytest.mark.parametrize(("words", "why"), [
    (("start a",), "is not registered"),
    (("init a", "minute", "due a", "stop", "start a"), "while the scheduler was not active"),
    ((*OWED, "start a", "due a", "start a"), "while its last run was going on"),
])  # fmt: skip
def test_a_start_that_is_not_owed_is_explained(words: tuple[str, ...], why: str) -> None:
    found = judged(tell(*words)).verdicts["S1"]

    assert (found.verdict, found.explanation) == (Verdict.FALSE, f"'a' started {_and(why)}")


def _and(why: str) -> str:
    return why if why.startswith("while") else f"and {why}"
