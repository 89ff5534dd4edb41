"""
Every axiom with a trace that keeps it and one that breaks it; and what is owed when, as stories.

The traces are told in the words of `tests.theory.story`; a position counts events from zero.
"""

from typing import NamedTuple

import pytest

from gnomon.theory import AXIOMS, Monitor, Report, Verdict, check
from gnomon.theory.budget import WITNESSES
from gnomon.theory.evaluation import find_slowly
from gnomon.theory.monitor import is_metered
from gnomon.theory.verdict import Violation
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


@clause("THEORY-4")
@pytest.mark.parametrize("outage", ["stop", "crash"])
def test_dues_missed_while_down_are_owed_once_after_the_restart(outage: str) -> None:
    down = ("init a", outage, "minute", "due a", "minute", "due a", "init a")

    assert open_starts(*down) == 1
    assert broken(tell(*down, "start a", "ok a")) == []
    assert broken(tell(*down, "start a", "ok a", "start a", "ok a")) == ["S1", "S2"]


@clause("THEORY-4")
def test_a_run_that_a_crash_interrupted_is_owed_after_the_restart() -> None:
    crashed = ("init a", "minute", "due a", "start a", "crash", "minute", "init a")

    assert open_starts(*crashed) == 1
    assert broken(tell(*crashed, "start a", "ok a")) == []


@clause("THEORY-3", "THEORY-4")
def test_an_interrupted_run_is_owed_even_if_the_cron_text_has_changed() -> None:
    changed = ("init a", "minute", "due a", "start a", "crash", "minute", "init a:2")

    assert open_starts(*changed) == 1


@clause("THEORY-4")
def test_a_task_that_was_removed_in_between_owes_nothing() -> None:
    crashed = ("init a", "minute", "due a", "start a", "crash")

    assert open_starts(*crashed, "init b", "stop", "minute", "init a") == 0


@clause("THEORY-3", "THEORY-4")
def test_a_changed_task_owes_no_due_of_its_former_self() -> None:
    assert open_starts("init a", "crash", "minute", "due a", "minute", "init a:2") == 0
    assert open_starts("init a", "crash", "minute", "due a", "minute", "init a") == 1


@clause("THEORY-4")
def test_a_new_task_is_owed_at_once_only_in_a_minute_of_its_own() -> None:
    assert open_starts("minute", "due a", "init a") == 1
    assert open_starts("minute", "due a", "minute", "init a") == 0
    assert open_starts("minute", "due a:2", "init a") == 0


@clause("THEORY-4")
def test_two_tasks_that_are_new_in_their_minute_may_start_one_after_the_other() -> None:
    assert broken(tell("minute", "due a", "due b", "init a b", "start a", "start b")) == []


@clause("THEORY-4")
def test_a_due_during_a_run_is_owed_when_the_run_has_ended() -> None:
    during = ("init a", "minute", "due a", "start a", "minute", "due a")

    assert open_starts(*during) == 0
    assert open_starts(*during, "ok a") == 1


@clause("THEORY-5")
def test_a_failed_run_is_owed_again_when_its_delay_is_over() -> None:
    failed = ("init a", "minute", "due a", "start a", "fail a")

    assert open_starts(*failed, "wait 4999ms", "retry a") == 1
    assert open_starts(*failed, "wait 4998ms", "retry a") == 0


@clause("THEORY-5")
def test_a_start_in_between_cancels_the_retry() -> None:
    words = ("init a", "minute", "due a", "start a", "fail a", "minute", "due a", "start a", "ok a")

    assert open_starts(*words, "wait 5s", "retry a") == 0


@clause("THEORY-3")
def test_a_due_without_a_cron_text_is_one_of_the_registered_task() -> None:
    words = ("init a", "stop", "minute", "due a", "init a:2")

    assert open_starts(*words) == 0


@clause("THEORY-3")
def test_of_a_name_that_is_listed_twice_the_last_entry_counts() -> None:
    assert open_starts("init a a:2", "minute", "due a:2") == 1
    assert open_starts("init a:2 a", "minute", "due a:2") == 0


@clause("S2")
def test_a_task_that_is_new_in_its_minute_may_succeed_once_more() -> None:
    words = ("minute", "due a", "init a", "start a", "ok a", "stop", "init b", "stop", "init a")

    assert broken(tell(*words, "start a", "ok a")) == []


@clause("S2", "THEORY-6")
def test_an_interrupted_run_may_succeed_although_its_former_self_did() -> None:
    words = (
        "init a", "minute", "due a", "start a", "ok a", "stop",
        "minute", "due a:2", "init a:2", "start a", "crash", "minute", "init a", "start a", "ok a",
    )  # fmt: skip

    assert broken(tell(*words)) == []


@clause("THEORY-7")
@pytest.mark.parametrize("asked", ["a a", "a invalid"])
def test_a_list_is_invalid_when_a_name_stands_twice_or_the_trace_says_so(asked: str) -> None:
    report = check(Header(), tell(f"asks 1 {asked}", "accepts 1"))

    assert report.verdicts["S4"].verdict is Verdict.FALSE


@clause("L1")
def test_stopping_ends_what_is_owed() -> None:
    assert broken(tell("init a", "minute", "due a", "stop", "wait 10m", "init b")) == []


def broken(events: list[Event]) -> list[str]:
    monitor, found = Monitor(), list[Violation]()
    for event in events:
        found += monitor.see(event)
    return [one.axiom for one in found]


def open_starts(*words: str) -> int:
    monitor = Monitor()
    monitor.see_all(tell(*words))
    return monitor.findings()["L1"].open


def _and(why: str) -> str:
    return why if why.startswith("while") else f"and {why}"
