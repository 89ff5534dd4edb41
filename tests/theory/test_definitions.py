"""What is owed when: the definitions behind the axioms, as stories."""

import pytest

from gnomon.theory import Monitor, Verdict, check
from gnomon.theory.verdict import Violation
from gnomon.trace import Event, Header
from tests.clauses import clause
from tests.theory.story import tell


def broken(events: list[Event]) -> list[str]:
    monitor, found = Monitor(), list[Violation]()
    for event in events:
        found += monitor.see(event)
    return [one.axiom for one in found]


def open_starts(*words: str) -> int:
    monitor = Monitor()
    monitor.see_all(tell(*words))
    return monitor.findings()["L1"].open


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
