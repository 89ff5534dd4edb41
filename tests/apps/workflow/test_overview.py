"""What the owner of a workflow sees."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.overview import Activity, Seen, overview
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
        pytest.param(facts(), Seen.IDLE, "", marks=clause("SEEN-2")),
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
            facts(open_run=failed(RunStatus.TRANSIENT), failures=6), Seen.ATTENTION,
            "Failed 6 times: oh", marks=clause("SEEN-4", "SEEN-5", "FAIL-9"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.APPROVAL, "reconnect Gmail")), Seen.ATTENTION,
            "Waiting for you: reconnect Gmail", marks=clause("SEEN-4", "SEEN-5"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.LOGIC)), Seen.ATTENTION, "The script failed: oh",
            marks=clause("SEEN-4", "SEEN-5"),
        ),
        pytest.param(
            facts(open_run=failed(RunStatus.INTERNAL)), Seen.ATTENTION,
            "A tool or Gnomon itself failed: oh", marks=clause("SEEN-4", "SEEN-5"),
        ),
        pytest.param(
            facts(
                open_run=run(Phase.MUTATING, RunStatus.RECONCILIATION, mutation=7),
                of=mutation(MutationStatus.INDETERMINATE),
            ),
            Seen.ATTENTION, "It is not known whether this was done: append",
            marks=clause("SEEN-4", "SEEN-5"),
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
