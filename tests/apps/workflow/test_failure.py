"""What follows from a failure: the table of the classes, row by row."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.failure import Failure, Fault, backoff_ms, classify
from gnomon.apps.workflow.mutation_changes import mutation_failed
from gnomon.apps.workflow.next_step import Next, Reconcile, Repair, Rest, Retry, choose
from gnomon.apps.workflow.run_changes import fail
from gnomon.errors import (
    AuthError,
    HostError,
    LogicError,
    PermissionDeniedError,
    PreconditionError,
    TransientError,
)
from gnomon.ports.workflow_facts import EventStatus, MutationStatus, Phase, RunStatus
from tests.apps.workflow.facts import NOW, facts, mutation, run
from tests.clauses import clause

LATER = NOW + 3_600_000


@clause("FAIL-1", "FAIL-16")
@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (TransientError("rate limit"), Fault.TRANSIENT),
        (LogicError("no such column"), Fault.LOGIC),
        (AuthError("token expired"), Fault.AUTH),
        (PermissionDeniedError("read only"), Fault.PERMISSION),
        (PreconditionError("the sheet is gone"), Fault.PRECONDITION),
        (HostError("bug"), Fault.INTERNAL),
        (TimeoutError("rate limit"), Fault.TRANSIENT),
        (ConnectionResetError("reset"), Fault.TRANSIENT),
        (ValueError("timeout"), Fault.LOGIC),
        (KeyError("auth"), Fault.LOGIC),
    ],
)
def test_a_failure_has_the_class_that_was_raised(error: Exception, fault: Fault) -> None:
    assert classify(error, by_tool=False).fault is fault


@clause("MUTATE-13")
@pytest.mark.parametrize(
    ("error", "definite"),
    [
        (LogicError("refused"), True),
        (PermissionDeniedError("refused"), True),
        (AuthError("token expired"), False),
        (TransientError("no answer"), False),
        (PreconditionError("gone"), False),
        (HostError("bug"), False),
        (TimeoutError(), False),
        (ConnectionError(), False),
        (KeyError("the answer has no id"), False),
        (AuthError("token expired", acted=False), True),
        (TransientError("refused", acted=False), True),
        (PreconditionError("gone", acted=False), True),
        (HostError("bug", acted=False), True),
        (LogicError("wrong", acted=True), False),
    ],
)
def test_a_tool_says_whether_it_has_acted(error: Exception, definite: bool) -> None:
    assert (classify(error, by_tool=True).acted is False) is definite


@pytest.mark.parametrize(
    ("fault", "status", "releases", "then"),
    [
        pytest.param(
            Fault.TRANSIENT, RunStatus.TRANSIENT, True, Retry(), marks=clause("FAIL-3")
        ),
        pytest.param(Fault.LOGIC, RunStatus.LOGIC, True, Repair(), marks=clause("FAIL-4")),
        pytest.param(Fault.AUTH, RunStatus.APPROVAL, False, Rest(None), marks=clause("FAIL-5")),
        pytest.param(
            Fault.PERMISSION, RunStatus.APPROVAL, False, Rest(None), marks=clause("FAIL-6")
        ),
        pytest.param(
            Fault.PRECONDITION, RunStatus.APPROVAL, False, Rest(None), marks=clause("FAIL-14")
        ),
        pytest.param(
            Fault.INTERNAL, RunStatus.INTERNAL, False, Rest(None), marks=clause("FAIL-8")
        ),
    ],
)  # fmt: skip
def test_the_class_decides_the_status_and_what_follows(
    fault: Fault, status: RunStatus, releases: bool, then: Next
) -> None:
    before = run(Phase.PREPARED)

    change = fail(facts(open_run=before), before, Failure(fault, "oh"), now_ms=NOW)

    (failed,) = change.runs
    assert (failed.number, failed.phase, failed.status) == (7, Phase.PREPARED, status)
    assert (failed.fault, failed.error) == (fault, "oh")
    assert change.settle == ((7, EventStatus.PENDING) if releases else None)
    waiting = facts(open_run=failed, retry_ms=change.standing.retry_ms)
    assert choose(waiting, {}, now_ms=LATER, repairs=True) == then


@clause("FAIL-7", "PHASE-6", "PHASE-10")
def test_an_uncertain_mutation_is_reconciled_and_releases_nothing() -> None:
    before = run(Phase.MUTATING, mutation=7)
    failure = Failure(Fault.TRANSIENT, "no answer")

    change = mutation_failed(facts(open_run=before, of=mutation()), before, failure, now_ms=NOW)

    (waiting,), (asked,) = change.runs, change.mutations
    assert (waiting.phase, waiting.status) == (Phase.MUTATING, RunStatus.RECONCILIATION)
    assert (asked.status, asked.next_ms) == (MutationStatus.NEEDS_RECONCILE, NOW)
    assert change.settle is None
    known = facts(open_run=waiting, of=asked)
    assert choose(known, {}, now_ms=NOW, repairs=True) == Reconcile()


@clause("MUTATE-13", "PHASE-3", "FAIL-4")
def test_a_mutation_that_certainly_failed_releases_its_events_and_stays_at_mutating() -> None:
    before = run(Phase.MUTATING, mutation=7)
    failure = Failure(Fault.LOGIC, "no such column", acted=False)

    change = mutation_failed(facts(open_run=before, of=mutation()), before, failure, now_ms=NOW)

    (failed,), (known,) = change.runs, change.mutations
    assert (failed.phase, failed.status) == (Phase.MUTATING, RunStatus.LOGIC)
    assert known.status is MutationStatus.FAILED
    assert change.settle == (7, EventStatus.PENDING)


@clause("MUTATE-13", "FAIL-6")
def test_a_mutation_that_was_not_permitted_keeps_its_events_for_when_it_is() -> None:
    before = run(Phase.MUTATING, mutation=7)
    failure = Failure(Fault.PERMISSION, "read only", acted=False)

    change = mutation_failed(facts(open_run=before, of=mutation()), before, failure, now_ms=NOW)

    assert change.runs[0].status is RunStatus.APPROVAL
    assert change.mutations[0].status is MutationStatus.FAILED
    assert change.settle is None


@clause("MUTATE-4")
def test_without_reconcile_a_person_must_decide_at_once() -> None:
    before = run(Phase.MUTATING, mutation=7)
    known = facts(open_run=before, of=mutation(reconcilable=False))

    change = mutation_failed(known, before, Failure(Fault.INTERNAL, "?"), now_ms=NOW)

    asked = change.mutations[0]
    assert (asked.status, asked.next_ms) == (MutationStatus.INDETERMINATE, None)
    waiting = facts(open_run=change.runs[0], of=asked)
    assert choose(waiting, {}, now_ms=LATER, repairs=True) == Rest(None)


@clause("PHASE-4", "PHASE-10")
@pytest.mark.parametrize("fault", list(Fault))
def test_a_failure_after_the_mutation_releases_nothing_and_keeps_the_phase(fault: Fault) -> None:
    before = run(Phase.EMITTING)

    change = fail(facts(open_run=before), before, Failure(fault, "oh"), now_ms=NOW)

    assert change.settle is None
    assert change.runs[0].phase is Phase.EMITTING


@clause("FAIL-21")
def test_waits_grow_by_doubling_up_to_ten_minutes() -> None:
    seconds = [backoff_ms(tries) // 1000 for tries in range(1, 10)]

    assert seconds == [10, 20, 40, 80, 160, 320, 600, 600, 600]


@clause("FAIL-21")
@pytest.mark.parametrize(
    ("failures", "retry_ms"), [(4, NOW + 160_000), (5, NOW + 320_000), (1_000, NOW + 600_000)]
)
def test_a_transient_failure_is_tried_again_however_often_it_has_come(
    failures: int, retry_ms: int
) -> None:
    before, failure = run(), Failure(Fault.TRANSIENT, "rate limit")

    change = fail(facts(open_run=before, failures=failures), before, failure, now_ms=NOW)

    assert (change.standing.failures, change.standing.retry_ms) == (failures + 1, retry_ms)
    waiting = replace(facts(open_run=change.runs[0]), standing=change.standing)
    assert choose(waiting, {}, now_ms=retry_ms - 1, repairs=True) == Rest(retry_ms)
    assert choose(waiting, {}, now_ms=retry_ms, repairs=True) == Retry()


@clause("FAIL-11")
def test_a_fourth_repair_is_not_asked_for() -> None:
    failed = run(Phase.PREPARING, RunStatus.LOGIC)

    assert choose(facts(open_run=failed, repairs=2), {}, now_ms=NOW, repairs=True) == Repair()
    assert choose(facts(open_run=failed, repairs=3), {}, now_ms=NOW, repairs=True) == Rest(None)


@clause("FAIL-4")
def test_without_a_repairer_the_workflow_waits() -> None:
    failed = run(Phase.PREPARING, RunStatus.LOGIC)

    assert choose(facts(open_run=failed), {}, now_ms=NOW, repairs=False) == Rest(None)


def test_what_an_exception_cannot_say_is_left_out() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert classify(MuteError(), by_tool=False)[:3] == (Fault.LOGIC, "MuteError", None)
    assert len(classify(ValueError("x" * 5_000), by_tool=False).error) == 1_000
