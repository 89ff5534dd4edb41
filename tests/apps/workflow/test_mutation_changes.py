"""What is written as it becomes clear what became of a mutation."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.mutation_changes import Finding, Resolution, Verdict, reconciled, resolve
from gnomon.apps.workflow.next_step import Continue, Reconcile, choose
from gnomon.apps.workflow.run_changes import SKIPPED, Emission, Request, after, commit, mutating
from gnomon.errors import CommandRefusedError
from gnomon.ports.workflow_facts import (
    EventStatus,
    Facts,
    Mutation,
    MutationStatus,
    Phase,
    RunStatus,
)
from tests.apps.workflow.facts import NOW, facts, mutation, run
from tests.clauses import clause


def uncertain(**of: object) -> Facts:
    waiting = run(Phase.MUTATING, RunStatus.RECONCILIATION, mutation=7)
    return facts(
        open_run=waiting,
        of=mutation(MutationStatus.NEEDS_RECONCILE, **of),  # type: ignore[arg-type]
    )


@clause("MUTATE-7", "FAIL-7", "PHASE-8")
def test_when_it_was_made_the_same_run_goes_on_with_next_and_its_result() -> None:
    known = uncertain()

    change = reconciled(known, Finding(Verdict.APPLIED, "42"), now_ms=NOW)

    (resumed,), (done,) = change.runs, change.mutations
    assert (resumed.number, resumed.phase, resumed.status) == (7, Phase.MUTATED, RunStatus.ACTIVE)
    assert resumed.mutated == '{"status": "applied", "result": 42}'
    assert (done.status, done.result) == (MutationStatus.APPLIED, "42")
    assert (done.resolved_by, done.resolved_ms) == ("reconciliation", NOW)
    assert change.settle is None
    now = after(known, change, number=1)
    assert choose(now, {}, now_ms=NOW, repairs=False) == Continue()


def failed_by(fault: str, **standing: int) -> Facts:
    """An uncertain mutation whose tool had raised an error of this class."""
    known = uncertain()
    assert known.run is not None
    return replace(
        known, run=replace(known.run, fault=fault, error="oh"),
        standing=replace(known.standing, **standing),  # type: ignore[arg-type]
    )  # fmt: skip


@clause("MUTATE-14", "PHASE-11")
def test_after_a_crash_what_was_not_made_is_begun_afresh_at_once() -> None:
    change = reconciled(failed_by("uncertain"), Finding(Verdict.FAILED), now_ms=NOW)

    left, fresh = change.runs
    assert (left.number, left.phase, left.status) == (
        7, Phase.MUTATING, RunStatus.RECONCILIATION,
    )  # fmt: skip
    assert (fresh.retry_of, fresh.phase, fresh.status) == (7, Phase.PREPARING, RunStatus.ACTIVE)
    assert change.mutations[0].status is MutationStatus.FAILED
    assert change.settle == (7, EventStatus.PENDING)


@clause("MUTATE-14", "FAIL-21")
@pytest.mark.parametrize(
    ("failures", "retry_ms"), [(0, NOW + 10_000), (2, NOW + 40_000), (5, NOW + 320_000)]
)
def test_what_never_got_through_is_tried_again_after_a_wait(failures: int, retry_ms: int) -> None:
    change = reconciled(
        failed_by("transient", failures=failures), Finding(Verdict.FAILED), now_ms=NOW
    )

    (left,) = change.runs
    assert (left.phase, left.status) == (Phase.MUTATING, RunStatus.TRANSIENT)
    assert (change.standing.failures, change.standing.retry_ms) == (failures + 1, retry_ms)
    assert change.settle == (7, EventStatus.PENDING)


@clause("MUTATE-14", "FAIL-5")
@pytest.mark.parametrize(
    ("fault", "status", "settles"),
    [
        ("auth", RunStatus.APPROVAL, False),
        ("permission", RunStatus.APPROVAL, False),
        ("precondition", RunStatus.APPROVAL, False),
        ("internal", RunStatus.INTERNAL, False),
        ("logic", RunStatus.LOGIC, True),
    ],
)
def test_what_was_not_made_is_a_failure_of_the_class_that_was_raised(
    fault: str, status: RunStatus, settles: bool
) -> None:
    change = reconciled(failed_by(fault), Finding(Verdict.FAILED), now_ms=NOW)

    (left,) = change.runs
    assert (left.number, left.status, left.error) == (7, status, "oh")
    assert (change.settle is not None) is settles
    assert change.mutations[0].resolved_by == "reconciliation"


@clause("MUTATE-18")
@pytest.mark.parametrize(
    ("tries", "status", "next_ms"),
    [
        (0, MutationStatus.NEEDS_RECONCILE, NOW + 10_000),
        (1, MutationStatus.NEEDS_RECONCILE, NOW + 20_000),
        (2, MutationStatus.NEEDS_RECONCILE, NOW + 40_000),
        (3, MutationStatus.NEEDS_RECONCILE, NOW + 80_000),
        (4, MutationStatus.INDETERMINATE, NOW + 160_000),
        (900, MutationStatus.INDETERMINATE, NOW + 600_000),
    ],
)
def test_what_cannot_be_told_is_asked_again_and_after_five_times_of_a_person_too(
    tries: int, status: MutationStatus, next_ms: int
) -> None:
    change = reconciled(uncertain(tries=tries), Finding(Verdict.UNKNOWN), now_ms=NOW)

    (asked,) = change.mutations
    assert (asked.tries, asked.status, asked.next_ms) == (tries + 1, status, next_ms)
    assert change.settle is None
    assert [one.status for one in change.runs] == [RunStatus.RECONCILIATION]


@pytest.mark.parametrize(
    ("said", "status", "by"),
    [
        pytest.param(
            Resolution.HAPPENED, MutationStatus.APPLIED, "user_assert_applied",
            marks=clause("MUTATE-9"),
        ),
        pytest.param(
            Resolution.DID_NOT_HAPPEN, MutationStatus.FAILED, "user_assert_failed",
            marks=clause("MUTATE-9"),
        ),
        pytest.param(
            Resolution.SKIP, MutationStatus.SKIPPED, "user_skip", marks=clause("MUTATE-9")
        ),
    ],
)  # fmt: skip
def test_a_person_can_say_what_became_of_it(
    said: Resolution, status: MutationStatus, by: str
) -> None:
    change = resolve(uncertain(), said, now_ms=NOW)

    (known,) = change.mutations
    assert (known.status, known.resolved_by, known.resolved_ms) == (status, by, NOW)
    assert known.next_ms is None


@clause("MUTATE-9")
def test_it_happened_lets_next_run_without_a_result() -> None:
    change = resolve(uncertain(), Resolution.HAPPENED, now_ms=NOW)

    assert change.runs[0].mutated == '{"status": "applied", "result": null}'
    assert change.runs[0].status is RunStatus.ACTIVE


@clause("MUTATE-9")
def test_skipping_lets_next_run_and_marks_the_events_at_the_commit() -> None:
    known = uncertain()
    change = resolve(known, Resolution.SKIP, now_ms=NOW)
    run_now = change.runs[0]

    assert (run_now.mutated, run_now.phase) == (SKIPPED, Phase.MUTATED)
    assert change.settle is None
    emitting = replace(run_now, phase=Phase.EMITTING)
    done = commit(after(known, change, number=1), emitting, Emission(), now_ms=NOW)
    assert done.settle == (7, EventStatus.SKIPPED)


@clause("MUTATE-9")
def test_trying_again_asks_at_once_and_from_the_beginning() -> None:
    known = facts(
        open_run=run(Phase.MUTATING, RunStatus.RECONCILIATION, mutation=7),
        of=mutation(MutationStatus.INDETERMINATE, tries=5),
    )

    change = resolve(known, Resolution.TRY_AGAIN, now_ms=NOW)

    (asked,) = change.mutations
    assert (asked.tries, asked.status, asked.next_ms) == (0, MutationStatus.NEEDS_RECONCILE, NOW)
    now = after(known, change, number=1)
    assert choose(now, {}, now_ms=NOW, repairs=False) == Reconcile()


@clause("MUTATE-10", "WASK-6")
def test_trying_again_needs_a_reconcile() -> None:
    with pytest.raises(CommandRefusedError, match="no reconcile"):
        resolve(uncertain(reconcilable=False), Resolution.TRY_AGAIN, now_ms=NOW)


@clause("WASK-6")
@pytest.mark.parametrize("said", list(Resolution))
@pytest.mark.parametrize(
    "known", [facts(), facts(open_run=run()), facts(open_run=run(Phase.EMITTING, RunStatus.LOGIC))]
)
def test_what_is_not_uncertain_cannot_be_resolved(known: Facts, said: Resolution) -> None:
    with pytest.raises(CommandRefusedError, match="no mutation whose end is unknown"):
        resolve(known, said, now_ms=NOW)


@clause("MUTATE-1", "MUTATE-11")
def test_a_mutation_is_written_down_with_a_key_of_its_own() -> None:
    request = Request("append", '{"row":1}', "Add a row", True, False, "orders/7")
    before = run(Phase.PREPARED)

    change = mutating(facts(open_run=before), before, request, now_ms=NOW)

    assert change.mutations == (
        Mutation(
            run=7, tool="append", params='{"row":1}', key="orders/7", title="Add a row",
            reconcilable=True, status=MutationStatus.IN_FLIGHT, created_ms=NOW,
        ),
    )  # fmt: skip
    (started,) = change.runs
    assert (started.phase, started.mutation, started.note) == (Phase.MUTATING, 7, "Add a row")


@clause("MUTATE-11", "FAIL-6")
def test_what_was_not_permitted_is_tried_again_under_the_same_key() -> None:
    before = run(Phase.MUTATING, mutation=7)
    known = facts(open_run=before, of=mutation(MutationStatus.FAILED))

    change = mutating(known, before, None, now_ms=NOW)

    (again,) = change.mutations
    assert (again.key, again.status) == ("orders/7", MutationStatus.IN_FLIGHT)
