"""What the owner of a workflow sees."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.overview import Activity, Seen, Serving, overview
from gnomon.ports.workflow_facts import (
    Facts,
    Mode,
    MutationStatus,
    Pending,
    Phase,
    Run,
    RunStatus,
)
from tests.apps.workflow.facts import NOW, consumer, facts, mutation, producer, run
from tests.clauses import clause


def failed(status: RunStatus, error: str = "oh") -> Run:
    return replace(run(Phase.PREPARED, status), error=error)


@pytest.mark.parametrize(
    ("known", "status", "issue"),
    [
        pytest.param(facts(mode=Mode.PAUSED), Seen.STOPPED, "", marks=clause("SEEN-1")),
        pytest.param(
            facts(mode=Mode.PAUSED, open_run=run()), Seen.STOPPED, "", marks=clause("SEEN-1")
        ),
        pytest.param(facts(), Seen.IDLE, "", marks=clause("SEEN-8")),
        pytest.param(facts(open_run=run()), Seen.RUNNING, "", marks=clause("SEEN-3")),
        pytest.param(
            facts(open_run=failed(RunStatus.TRANSIENT), retry_ms=NOW + 5), Seen.RUNNING,
            "Trying again: oh", marks=clause("SEEN-3", "SEEN-5"),
        ),
        pytest.param(
            facts(
                open_run=run(Phase.MUTATING, RunStatus.RECONCILIATION, mutation=7),
                of=mutation(MutationStatus.NEEDS_RECONCILE),
            ),
            Seen.RUNNING, "It is not known whether this was done: append",
            marks=clause("SEEN-3", "SEEN-5"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.TRANSIENT), failures=5, retry_ms=NOW + 5),
            Seen.RUNNING, "Trying again: oh", marks=clause("SEEN-3", "FAIL-21"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.TRANSIENT), failures=6, retry_ms=NOW + 5),
            Seen.ATTENTION, "Has failed 6 times in a row, and is tried again: oh",
            marks=clause("SEEN-14", "SEEN-5", "FAIL-21"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.APPROVAL, "reconnect Gmail")), Seen.ATTENTION,
            "Waiting for you: reconnect Gmail", marks=clause("SEEN-14", "SEEN-5"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.LOGIC)), Seen.ATTENTION, "The script failed: oh",
            marks=clause("SEEN-14", "SEEN-5"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.INTERNAL)), Seen.ATTENTION,
            "A tool or Gnomon itself failed: oh", marks=clause("SEEN-14", "SEEN-5"),
        ),
        pytest.param(
            facts(
                open_run=run(Phase.MUTATING, RunStatus.RECONCILIATION, mutation=7),
                of=mutation(MutationStatus.INDETERMINATE),
            ),
            Seen.ATTENTION,
            "It is not known whether this was done: append; its tool is asked again",
            marks=clause("SEEN-14", "SEEN-5"),
        ),
    ],
)  # fmt: skip
def test_a_status_and_an_issue_say_what_a_person_needs_to_know(
    known: Facts, status: Seen, issue: str
) -> None:
    found = overview(known, [])

    assert (found.status, found.issue) == (status, issue)
    assert bool(found.answer) == (status is Seen.ATTENTION)


@clause("SEEN-6")
def test_schedules_activity_and_pending_work_are_said_in_words() -> None:
    done = replace(
        run(Phase.COMMITTED, RunStatus.COMMITTED), note="3 emails added", updated_ms=NOW - 5
    )
    quiet = replace(done, note="")
    known = replace(
        facts(producer(), consumer(wake_ms=NOW + 90_000)),
        pending={"orders": Pending(4, 1, 4), "done": Pending(9, 1, 9)},
    )

    found = overview(known, [quiet, done, failed(RunStatus.TRANSIENT)])

    assert found.schedule == ["Checks every 5 minutes"]
    assert (found.next_ms, found.pending) == (NOW + 60_000, 4)
    assert found.recent == [Activity(NOW - 5, "3 emails added")]


@clause("SEEN-9")
@pytest.mark.parametrize("open_run", [None, run(), failed(RunStatus.APPROVAL, "reconnect")])
def test_without_a_host_a_workflow_needs_attention(open_run: Run | None) -> None:
    known = facts(producer(), consumer(), open_run=open_run)

    found = overview(known, [], host=Serving("", "shop.sqlite3"))

    assert found.status is Seen.ATTENTION
    assert found.issue.endswith("No host works on it")
    assert found.answer.endswith("gnomon workflow run --store shop.sqlite3")
    assert (found.next_ms, found.host) == (None, "")
    assert overview(replace_mode(known), [], host=Serving("", "s")).status is Seen.STOPPED


def replace_mode(known: Facts) -> Facts:
    return replace(known, standing=replace(known.standing, mode=Mode.PAUSED))


@clause("SEEN-10")
@pytest.mark.parametrize(
    ("known", "said"),
    [
        (facts(), {"poll": "Checks every 5 minutes", "sheet": "waits for an event in orders"}),
        (
            facts(open_run=run()),
            {"poll": "waits until sheet has come to its end", "sheet": "is at work"},
        ),
        (
            facts(open_run=failed(RunStatus.LOGIC)),
            {"poll": "waits until sheet has come to its end",
             "sheet": "has failed, and waits for a better script"},
        ),
        (
            replace(facts(), pending={"orders": Pending(250, 1, 250)}),
            {"poll": "Checks every 5 minutes",
             "sheet": "waits for another event; pending: 250 in orders"},
        ),
        (facts(mode=Mode.PAUSED), {"poll": "is stopped", "sheet": "is stopped"}),
    ],
)  # fmt: skip
def test_each_handler_says_what_it_waits_for(known: Facts, said: dict[str, str]) -> None:
    assert {one.handler: one.text for one in overview(known, []).handlers} == said


@clause("SEEN-10")
def test_what_a_prepare_has_not_looked_at_is_said() -> None:
    known = replace(facts(), pending={"orders": Pending(250, 1, 250)})
    done = replace(run(Phase.COMMITTED), prepared='{"unseen": {"orders": 150}}')

    (_, sheet) = overview(known, [done]).handlers

    assert sheet.text.endswith(
        "pending: 250 in orders; its prepare has not looked at 150 in orders: see ctx.each "
        "and ctx.find"
    )


@clause("SEEN-10")
def test_two_consumers_of_a_topic_count_its_events_once_and_those_in_work_apart() -> None:
    known = replace(facts(consumer("one"), consumer("two")), pending={"orders": Pending(3, 1, 3)})

    found = overview(known, [], in_work=2)

    assert (found.pending, found.in_work) == (3, 2)
