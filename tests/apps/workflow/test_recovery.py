"""Where the next attempt begins: the table of the phases, row by row."""

import pytest

from gnomon.apps.workflow.recovery import Reset, recover, reset_of, retry
from gnomon.ports.workflow_facts import EventStatus, MutationStatus, Phase, RunStatus
from tests.apps.workflow.facts import NOW, facts, mutation, run
from tests.clauses import clause

FRESH, FORWARD, RECONCILE = Reset.FRESH, Reset.FORWARD, Reset.RECONCILE
IN_FLIGHT, FAILED = MutationStatus.IN_FLIGHT, MutationStatus.FAILED


@pytest.mark.parametrize(
    ("phase", "status", "reset"),
    [
        pytest.param(Phase.PREPARING, None, FRESH, marks=clause("PHASE-1")),
        pytest.param(Phase.PREPARED, None, FRESH, marks=clause("PHASE-2")),
        pytest.param(Phase.MUTATING, FAILED, FRESH, marks=clause("PHASE-3")),
        pytest.param(Phase.MUTATED, MutationStatus.APPLIED, FORWARD, marks=clause("PHASE-4")),
        pytest.param(Phase.EMITTING, MutationStatus.APPLIED, FORWARD, marks=clause("PHASE-5")),
        pytest.param(Phase.MUTATING, IN_FLIGHT, RECONCILE, marks=clause("PHASE-6")),
        pytest.param(
            Phase.MUTATING, MutationStatus.NEEDS_RECONCILE, RECONCILE, marks=clause("PHASE-6")
        ),
        pytest.param(
            Phase.MUTATING, MutationStatus.INDETERMINATE, RECONCILE, marks=clause("PHASE-6")
        ),
    ],
)
def test_the_phase_decides_where_the_next_attempt_begins(
    phase: Phase, status: MutationStatus | None, reset: Reset
) -> None:
    of = None if status is None else mutation(status)

    assert reset_of(run(phase, mutation=None if of is None else 7), of) is reset


@clause("PHASE-1", "PHASE-2", "PHASE-3", "PHASE-11")
@pytest.mark.parametrize("phase", [Phase.PREPARING, Phase.PREPARED, Phase.MUTATING])
def test_before_a_mutation_the_next_attempt_is_fresh_and_releases_what_was_reserved(
    phase: Phase,
) -> None:
    before = run(phase, RunStatus.TRANSIENT)

    change = retry(facts(open_run=before, retry_ms=NOW), now_ms=NOW)

    (attempt,) = change.runs
    assert (attempt.number, attempt.retry_of) == (8, 7)
    assert (attempt.phase, attempt.status) == (Phase.PREPARING, RunStatus.ACTIVE)
    assert (attempt.prepared, attempt.mutated) == (None, None)
    assert change.settle == (7, EventStatus.PENDING)
    assert (change.standing.current, change.standing.retry_ms) == (8, None)


@clause("PHASE-4", "PHASE-5", "PHASE-11", "PHASE-12")
@pytest.mark.parametrize("phase", [Phase.MUTATED, Phase.EMITTING])
def test_after_a_mutation_the_next_attempt_copies_the_results_and_starts_at_emitting(
    phase: Phase,
) -> None:
    before = run(phase, RunStatus.LOGIC, mutation=7)
    known = facts(open_run=before, of=mutation(MutationStatus.APPLIED), retry_ms=NOW)

    change = retry(known, now_ms=NOW)

    (attempt,) = change.runs
    assert (attempt.phase, attempt.status) == (Phase.EMITTING, RunStatus.ACTIVE)
    assert attempt.prepared == '{"data":1}'
    assert attempt.mutated == '{"status": "applied", "result": 5}'
    assert (change.settle, change.hand_over) == (None, (7, 8))


@clause("RECOVER-1", "RECOVER-2")
@pytest.mark.parametrize("phase", [Phase.PREPARING, Phase.PREPARED])
def test_a_crash_before_the_mutation_starts_afresh(phase: Phase) -> None:
    change = recover(facts(open_run=run(phase)), now_ms=NOW)

    assert change is not None
    crashed, attempt = change.runs
    assert (crashed.number, crashed.phase, crashed.status) == (7, phase, RunStatus.CRASHED)
    assert (attempt.retry_of, attempt.phase, attempt.status) == (
        7, Phase.PREPARING, RunStatus.ACTIVE,
    )  # fmt: skip
    assert change.settle == (7, EventStatus.PENDING)


@clause("RECOVER-1", "RECOVER-3", "PHASE-6")
@pytest.mark.parametrize(
    ("reconcilable", "status", "next_ms"),
    [(True, MutationStatus.NEEDS_RECONCILE, NOW), (False, MutationStatus.INDETERMINATE, None)],
)
def test_a_crash_during_the_mutation_waits_until_it_is_known(
    reconcilable: bool, status: MutationStatus, next_ms: int | None
) -> None:
    known = facts(open_run=run(Phase.MUTATING, mutation=7), of=mutation(reconcilable=reconcilable))

    change = recover(known, now_ms=NOW)

    assert change is not None
    crashed, attempt = change.runs
    assert (crashed.phase, crashed.status) == (Phase.MUTATING, RunStatus.CRASHED)
    assert (attempt.phase, attempt.status) == (Phase.MUTATING, RunStatus.RECONCILIATION)
    assert (attempt.prepared, attempt.mutation) == ('{"data":1}', 7)
    assert (change.settle, change.hand_over) == (None, (7, 8))
    assert [(one.status, one.next_ms) for one in change.mutations] == [(status, next_ms)]


@clause("RECOVER-1", "RECOVER-4")
@pytest.mark.parametrize("phase", [Phase.MUTATED, Phase.EMITTING])
def test_a_crash_after_the_mutation_goes_on_at_emitting(phase: Phase) -> None:
    known = facts(open_run=run(phase, mutation=7), of=mutation(MutationStatus.APPLIED))

    change = recover(known, now_ms=NOW)

    assert change is not None
    _, attempt = change.runs
    assert (attempt.phase, attempt.status) == (Phase.EMITTING, RunStatus.ACTIVE)
    assert attempt.mutated == '{"status": "applied", "result": 5}'
    assert change.hand_over == (7, 8)


@clause("RECOVER-5")
@pytest.mark.parametrize(
    "status", [one for one in RunStatus if one not in (RunStatus.ACTIVE, RunStatus.COMMITTED)]
)
def test_what_waited_before_the_crash_waits_after_it(status: RunStatus) -> None:
    assert recover(facts(open_run=run(Phase.MUTATING, status)), now_ms=NOW) is None


@clause("RECOVER-5")
def test_an_idle_workflow_needs_no_recovery() -> None:
    assert recover(facts(), now_ms=NOW) is None
