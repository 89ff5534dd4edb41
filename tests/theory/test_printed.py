"""
The axioms as printed: each defect of the text, on a shortest trace that shows it.

An axiom accuses the innocent when a right behaviour breaks it as printed and keeps it as repaired,
and misses the guilty when a wrong behaviour keeps it as printed and breaks it as repaired.
"""

import pytest

from gnomon.theory import Report, Verdict, check
from gnomon.trace import Header
from tests.clauses import clause
from tests.theory.random_traces import random_trace
from tests.theory.story import tell

AS_PRINTED = ("EA1", "EA6")
"""The axioms of the surroundings that are not repaired, only said in another way."""
OWED = ("init a", "minute", "due a")


def both(*words: str) -> tuple[Report, Report]:
    events = tell(*words)
    return check(Header(), events, as_printed=True), check(Header(), events)


@clause("THEORY-17", "EA1", "EA6")
def test_what_is_said_in_another_way_means_the_same_on_any_trace() -> None:
    broken = 0
    for seed in range(300):
        events = [event._replace(same=False) for event in random_trace(seed).events]
        printed, repaired = check(Header(), events, as_printed=True), check(Header(), events)
        for axiom in AS_PRINTED:
            said = [one.verdicts[axiom].verdict is Verdict.FALSE for one in (printed, repaired)]
            assert said[0] == said[1], f"{axiom}, seed {seed}"
            broken += said[0]

    assert broken > 50


@clause("THEORY-17")
@pytest.mark.parametrize(("accused", "words"), [
    ("S6", ("crash", "crash")),
    ("S5", ("init a", "minute", "asks 2 a", "refuses 2")),
    ("EA7", ("asks 1 a", "asks 2 a", "refuses 2", "accepts 1")),
    ("S1", ("minute", "due a", "due b", "init a b", "minute", "start a")),
    ("S1", ("init a", "minute", "due a", "crash", "init a", "minute", "start a")),
    ("S1", (*OWED, "start a", "crash", "init a", "minute", "minute", "start a")),
])  # fmt: skip
def test_as_printed_an_axiom_accuses_the_innocent(accused: str, words: tuple[str, ...]) -> None:
    printed, repaired = both(*words)

    assert printed.verdicts[accused].verdict is Verdict.FALSE
    assert repaired.verdicts[accused].verdict is not Verdict.FALSE
    assert repaired.is_fine


@clause("THEORY-17")
@pytest.mark.parametrize(("missed", "words"), [
    ("S6", ("init a", "minute", "init a")),
    ("S1", (*OWED, "start a", "ok a", "crash", "init a", "fault x", "start a")),
    ("L3", (*OWED, "start a", "stops 1", "ok a", "wait 61s", "stopped 1")),
])  # fmt: skip
def test_as_printed_an_axiom_misses_the_guilty(missed: str, words: tuple[str, ...]) -> None:
    printed, repaired = both(*words)

    assert printed.verdicts[missed].verdict is not Verdict.FALSE
    assert repaired.verdicts[missed].verdict is Verdict.FALSE


@clause("THEORY-17")
@pytest.mark.parametrize("words", [
    # Registered is false at its own beginning, so every restart makes tasks new.
    (*OWED, "start a", "ok a", "crash", "init a", "fault x", "start a", "ok a"),
    # A failure calls for a retry although something has started since.
    ("minute", "due a", "init a", "fault x", "start a", "minute", "due a", "fail a", "start a",
     "wait 5s", "retry a", "ok a", "start a", "ok a"),
    # A task that is removed and comes back within its minute.
    ("minute", "due a", "init a", "fault x", "start a", "ok a", "crash", "init b", "crash",
     "init a", "fault x", "start a", "ok a"),
    # A due at the very position of a start.
    (*OWED, "start a", "& due a", "ok a", "start a", "ok a"),
], ids=["restart", "retry", "return", "together"])  # fmt: skip
def test_as_printed_the_start_that_is_owed_is_the_one_that_is_forbidden(
    words: tuple[str, ...],
) -> None:
    printed, _ = both(*words)

    assert printed.verdicts["S1"].verdict is Verdict.PRESUMABLY_TRUE
    assert printed.verdicts["L1"].exercised >= 2
    assert printed.verdicts["S2"].verdict is Verdict.FALSE


@clause("THEORY-17")
def test_events_of_one_instant_are_one_position_as_printed() -> None:
    printed, _ = both("asks 1 a", "& asks 2 a", "minute")

    assert printed.verdicts["EA3"].verdict is Verdict.FALSE
    assert printed.verdicts["EA3"].position == 1
