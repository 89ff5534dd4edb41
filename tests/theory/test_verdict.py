"""Verdicts and blame: what is said about a trace as a whole."""

import pytest

from gnomon.theory import Monitor, Party, Verdict, check
from gnomon.trace import Header, Reinitialize, Witnesses
from tests.clauses import clause
from tests.theory.story import tell

RUN = ("init a", "minute", "due a", "start a", "ok a")


@clause("THEORY-10")
def test_on_a_complete_trace_what_held_is_true() -> None:
    verdicts = check(Header(), tell(*RUN, "stop")).verdicts

    assert {axiom: str(one.verdict) for axiom, one in verdicts.items()} == {
        "S1": "true", "S2": "true", "S3": "true", "S4": "not_exercised", "S5": "true",
        "S6": "true", "L1": "true", "L2": "true", "L3": "true", "EA1": "not_exercised",
        "EA2": "not_exercised", "EA3": "true", "EA4": "not_exercised", "EA5": "true",
        "EA6": "true", "EA7": "true",
    }  # fmt: skip


@clause("THEORY-10")
@pytest.mark.parametrize("words", [
    RUN,
    (*RUN, "stops 1"),
    (*RUN, "stop", "asks 1 a"),
    ("init a", "minute", "due a", "start a", "stops 1"),
])  # fmt: skip
def test_on_a_trace_that_may_go_on_what_held_is_presumed(words: tuple[str, ...]) -> None:
    assert check(Header(), tell(*words)).verdicts["S1"].verdict is Verdict.PRESUMABLY_TRUE


@clause("THEORY-10")
def test_what_is_owed_at_the_end_is_presumed_to_be_missing() -> None:
    found = check(Header(), tell("init a b", "minute", "due a", "due b")).verdicts["L1"]

    assert (found.verdict, found.exercised) == (Verdict.PRESUMABLY_FALSE, 2)
    assert found.explanation == "2 still to come when the trace ends"


@clause("THEORY-10")
def test_the_verdict_says_how_often_the_axiom_was_put_to_the_test() -> None:
    verdicts = check(Header(), tell(*RUN, "minute", "due a", "start a", "fail a")).verdicts

    counts = {axiom: verdicts[axiom].exercised for axiom in ("S1", "S2", "S3", "L1", "EA7")}
    assert counts == {"S1": 2, "S2": 1, "S3": 0, "L1": 2, "EA7": 3}


@clause("THEORY-10")
def test_of_nothing_nothing_is_said() -> None:
    report = check(Header(), [])

    assert {one.verdict for one in report.verdicts.values()} == {Verdict.NOT_EXERCISED}
    assert (report.positions, report.blame, report.is_fine) == (0, Party.NOBODY, True)


@clause("THEORY-11")
def test_the_scheduler_is_to_blame_for_what_it_breaks_first() -> None:
    report = check(Header(), tell("init a", "start a", "ok a", "ok a"))

    assert report.blame is Party.SCHEDULER
    assert report.first is not None
    assert (report.first.axiom, report.first.position) == ("S1", 2)
    assert report.verdicts["S1"].verdict is Verdict.FALSE
    assert report.verdicts["EA7"].verdict is Verdict.FALSE
    assert report.verdicts["S2"].verdict is Verdict.VOID


@clause("THEORY-11")
def test_after_the_surroundings_broke_their_side_the_scheduler_is_not_judged() -> None:
    report = check(Header(), tell("init a", "ok a", "start a"))

    assert report.blame is Party.ENVIRONMENT
    assert report.verdicts["S1"].verdict is Verdict.VOID
    assert report.verdicts["S1"].explanation == (
        "EA7 was broken first: 'a' ended and was not running"
    )
    assert report.verdicts["S1"].position == 2


@clause("THEORY-11", "EA5")
def test_a_task_that_ends_some_day_makes_nothing_void() -> None:
    report = check(Header(), tell("init a:year", "start a"))

    assert report.verdicts["EA5"].verdict is Verdict.FALSE
    assert report.verdicts["S1"].verdict is Verdict.FALSE


@clause("THEORY-11")
def test_who_was_not_given_the_compute_is_not_to_blame() -> None:
    header = Header(witnesses=Witnesses(0, 95, 0))
    words = ("compute 1", "asks 1 a", "compute 1", "accepts 1", "minute", "due a", "compute 12")
    report = check(header, tell(*words))

    assert report.blame is Party.ENVIRONMENT
    assert report.verdicts["L1"].verdict is Verdict.PRESUMABLY_FALSE
    assert "compute granted 12 of 95" in report.verdicts["L1"].explanation


@clause("THEORY-13")
def test_a_fault_outside_the_happy_set_makes_what_follows_void() -> None:
    events = tell("init a", "fault disk", "start a")
    report = check(Header(), events, happy=["network"])

    assert report.blame is Party.ENVIRONMENT
    assert report.verdicts["S1"].verdict is Verdict.VOID
    assert "a fault of the kind 'disk' is outside" in report.verdicts["S1"].explanation


@clause("THEORY-13")
@pytest.mark.parametrize("happy", [None, ["disk"]])
def test_a_fault_inside_the_happy_set_excuses_nothing(happy: list[str] | None) -> None:
    report = check(Header(), tell("init a", "fault disk", "start a"), happy=happy)

    assert report.verdicts["S1"].verdict is Verdict.FALSE


@clause("THEORY-14")
def test_where_a_list_is_applied_in_place_one_initialization_is_not_asked_for() -> None:
    header, events = Header(reinitialize=Reinitialize.RECONCILE), tell("init a", "init b")
    report, monitor = check(header, events), Monitor(header)

    assert [violation for event in events for violation in monitor.see(event)] == []
    assert report.verdicts["S6"].verdict is Verdict.NOT_APPLICABLE
    assert report.is_fine
    assert report.first is None


@clause("THEORY-14")
def test_without_compute_nothing_is_said_about_it() -> None:
    verdicts = check(Header(), tell("init a", "crash")).verdicts

    assert {verdicts[axiom].verdict for axiom in ("EA1", "EA2", "EA4")} == {Verdict.NOT_EXERCISED}


@clause("THEORY-15")
def test_a_violation_comes_with_the_event_that_brings_it_to_light() -> None:
    monitor = Monitor()
    seen = [monitor.see(event) for event in tell("init a", "start a", "ok a")]

    assert [[one.axiom for one in found] for found in seen] == [[], [], ["S1"], []]


@clause("THEORY-15")
def test_a_verdict_can_be_had_at_any_time() -> None:
    monitor = Monitor()
    said = []
    for event in tell("init a", "minute", "due a", "start a"):
        monitor.see(event)
        said.append(monitor.verdicts().verdicts["L1"].verdict.value)

    assert said == ["not_exercised"] * 3 + ["presumably_false", "presumably_true"]


@clause("THEORY-8", "L1")
def test_a_freeze_does_not_make_a_start_late() -> None:
    words = ("compute 1", "asks 1 a", "compute 1", "accepts 1", "minute", "due a")
    frozen = tell(*words, "wait 60m", "compute 1", "start a")

    assert check(Header(), frozen).verdicts["L1"].verdict is Verdict.PRESUMABLY_TRUE


@clause("THEORY-8", "L1")
def test_a_start_is_late_when_the_compute_is_spent() -> None:
    header = Header(witnesses=Witnesses(0, 10, 2))
    words = ("compute 1", "asks 1 a", "compute 1", "accepts 1", "minute", "due a")
    busy = ("compute 6", "compute 5", "compute 7", "compute 5")

    in_time = check(header, tell(*words, *busy, "start a")).verdicts["L1"]
    late = check(header, tell(*words, *busy, "compute 1", "start a")).verdicts["L1"]
    assert (in_time.verdict, late.verdict) == (Verdict.PRESUMABLY_TRUE, Verdict.FALSE)
    assert late.position == 10


@clause("THEORY-9")
def test_without_compute_the_longest_wait_is_the_witness() -> None:
    words = (*RUN, "minute", "due a", "wait 7s", "start a")

    assert check(Header(), tell(*words)).witnesses == Witnesses(0, 0, 7_001)
