"""What a person may ask of a workflow, and what that changes."""

from dataclasses import replace

import pytest

from gnomon.apps.workflow.command_changes import approve, pause, reject, resume, run_now, skip_input
from gnomon.apps.workflow.next_step import Begin, Retry, choose
from gnomon.apps.workflow.run_changes import SKIPPED, after
from gnomon.errors import CommandRefusedError
from gnomon.ports.workflow_facts import (
    Asked,
    Event,
    EventStatus,
    Facts,
    HandlerKind,
    Mode,
    MutationStatus,
    Phase,
    RunStatus,
)
from tests.apps.workflow.facts import NOW, consumer, facts, mutation, producer, run
from tests.clauses import clause

RESERVED = [Event(topic="orders", id="o1", payload="1", causes=("shop/order/1",))]


@clause("WASK-1")
def test_a_workflow_is_paused_once() -> None:
    change = pause(facts())

    assert change is not None
    assert change.standing.mode is Mode.PAUSED
    assert pause(facts(mode=Mode.PAUSED)) is None


@clause("WASK-8")
def test_a_paused_workflow_goes_on() -> None:
    known = facts(producer(next_run_ms=NOW), mode=Mode.PAUSED)

    change = resume(known, now_ms=NOW)

    assert change is not None
    now = after(known, change, number=1)
    assert choose(now, {}, now_ms=NOW, repairs=False) == Begin("poll")
    assert resume(facts(), now_ms=NOW) is None


@clause("WASK-8", "FAIL-8", "FAIL-21")
@pytest.mark.parametrize("status", [RunStatus.TRANSIENT, RunStatus.LOGIC, RunStatus.INTERNAL])
def test_what_has_failed_is_tried_at_once_with_all_counts_at_zero(status: RunStatus) -> None:
    known = facts(open_run=run(Phase.PREPARING, status), failures=6, repairs=3)

    change = resume(known, now_ms=NOW)

    assert change is not None
    assert (change.standing.failures, change.standing.repairs) == (0, 0)
    now = after(known, change, number=1)
    assert choose(now, {}, now_ms=NOW, repairs=False) == Retry()


@clause("WASK-8", "FAIL-7")
@pytest.mark.parametrize(
    ("status", "mutates", "why"),
    [
        (RunStatus.APPROVAL, MutationStatus.FAILED, "waits for a person"),
        (RunStatus.RECONCILIATION, MutationStatus.NEEDS_RECONCILE, "is finding out by itself"),
        (RunStatus.RECONCILIATION, MutationStatus.INDETERMINATE, "whose end is unknown"),
    ],
)
def test_resuming_is_refused_where_a_person_must_decide(
    status: RunStatus, mutates: MutationStatus, why: str
) -> None:
    waiting = run(Phase.MUTATING, status)
    paused = facts(open_run=waiting, of=mutation(mutates), mode=Mode.PAUSED)

    with pytest.raises(CommandRefusedError, match=why):
        resume(facts(open_run=waiting, of=mutation(mutates)), now_ms=NOW)
    change = resume(paused, now_ms=NOW)
    assert change is not None
    assert (change.standing.mode, change.standing.retry_ms) == (Mode.ACTIVE, None)


@clause("WASK-4")
def test_run_now_makes_every_producer_due() -> None:
    one, two = producer("one"), producer("two")

    change = run_now(facts(one, two, consumer()), now_ms=NOW)

    assert [(each.name, each.next_run_ms) for each in change.handlers] == [
        ("one", NOW), ("two", NOW),
    ]  # fmt: skip


@clause("WASK-3", "WASK-6")
@pytest.mark.parametrize(
    ("known", "why"),
    [
        (facts(open_run=run()), "has a run that is not over"),
        (facts(open_run=run(Phase.PREPARING, RunStatus.TRANSIENT)), "has a run that is not over"),
        (facts(mode=Mode.PAUSED), "is stopped"),
        (facts(consumer()), "has no producers"),
    ],
)
def test_run_now_is_refused_when_it_cannot_be_now(known: Facts, why: str) -> None:
    with pytest.raises(CommandRefusedError, match=why):
        run_now(known, now_ms=NOW)


@clause("WASK-5", "FAIL-5", "FAIL-6", "MUTATE-15")
@pytest.mark.parametrize("phase", [Phase.PREPARING, Phase.PREPARED, Phase.MUTATING, Phase.EMITTING])
def test_approval_lets_the_same_run_go_on_in_its_phase(phase: Phase) -> None:
    change = approve(facts(open_run=run(phase, RunStatus.APPROVAL), script=2), now_ms=NOW)

    (granted,) = change.runs
    assert (granted.number, granted.phase, granted.status) == (7, phase, RunStatus.ACTIVE)
    assert (granted.approved, granted.script) == (None, 2)


ASKED = Asked("pay", '{"eur":5}', "orders/7-t1", "Pay", False, 1)


@clause("MUTATE-15")
def test_an_approval_is_one_of_the_mutation_that_was_asked_about() -> None:
    waiting = replace(
        run(Phase.PREPARED, RunStatus.APPROVAL), fault="approval", asked=ASKED
    )  # fmt: skip

    (granted,) = approve(facts(open_run=waiting), now_ms=NOW, key="orders/7-t1").runs

    assert (granted.approved, granted.asked) == (ASKED, None)


@clause("MUTATE-16")
@pytest.mark.parametrize("fault", ["auth", "permission", "precondition"])
def test_to_sign_in_again_approves_no_mutation(fault: str) -> None:
    before = replace(run(Phase.PREPARED, RunStatus.APPROVAL), fault=fault, asked=ASKED)

    (granted,) = approve(facts(open_run=before), now_ms=NOW).runs

    assert granted.approved is None


@clause("MUTATE-15", "WASK-6")
@pytest.mark.parametrize("fault", ["approval", "auth"])
def test_an_approval_of_another_mutation_is_refused(fault: str) -> None:
    waiting = replace(run(Phase.PREPARED, RunStatus.APPROVAL), fault=fault, asked=ASKED)

    with pytest.raises(CommandRefusedError, match="waits for"):
        approve(facts(open_run=waiting), now_ms=NOW, key="orders/6-t9")


@clause("WASK-5", "WASK-6")
@pytest.mark.parametrize("status", [one for one in RunStatus if one is not RunStatus.APPROVAL])
def test_approval_is_refused_when_nothing_waits_for_it(status: RunStatus) -> None:
    with pytest.raises(CommandRefusedError, match="waits for no approval"):
        approve(facts(open_run=run(Phase.PREPARED, status)), now_ms=NOW)


@clause("MUTATE-15")
def test_a_rejected_mutation_is_skipped_and_next_is_told() -> None:
    known = facts(
        open_run=run(Phase.MUTATING, RunStatus.APPROVAL, mutation=7),
        of=mutation(MutationStatus.FAILED),
    )

    change = reject(known, now_ms=NOW)

    assert (change.runs[0].phase, change.runs[0].mutated) == (Phase.MUTATED, SKIPPED)
    assert change.runs[0].status is RunStatus.ACTIVE
    assert change.mutations[0].status is MutationStatus.SKIPPED


@clause("WASK-6")
@pytest.mark.parametrize(
    "known",
    [
        facts(),
        facts(open_run=run(Phase.PREPARING, RunStatus.APPROVAL)),
        facts(open_run=run(Phase.EMITTING, RunStatus.APPROVAL)),
        facts(open_run=run(Phase.PREPARED)),
    ],
)
def test_what_does_not_wait_for_approval_cannot_be_rejected(known: Facts) -> None:
    with pytest.raises(CommandRefusedError):
        reject(known, now_ms=NOW)


@clause("INPUT-3")
def test_skipping_an_input_leaves_a_run_that_has_nothing_of_it() -> None:
    change = skip_input(facts(open_run=run(Phase.PREPARED)), "shop/order/2", RESERVED, now_ms=NOW)

    assert (change.skip_input, change.runs) == ("shop/order/2", ())


@clause("INPUT-3")
def test_skipping_an_input_begins_a_run_afresh_that_has_reserved_some_of_it() -> None:
    change = skip_input(facts(open_run=run(Phase.PREPARED)), "shop/order/1", RESERVED, now_ms=NOW)

    left, fresh = change.runs
    assert (left.status, left.phase) == (RunStatus.TRANSIENT, Phase.PREPARED)
    assert (fresh.retry_of, fresh.status) == (7, RunStatus.ACTIVE)
    assert change.settle == (7, EventStatus.PENDING)


@clause("INPUT-3")
@pytest.mark.parametrize(
    ("status", "kind", "afresh"),
    [
        (RunStatus.ACTIVE, HandlerKind.CONSUMER, True),
        (RunStatus.ACTIVE, HandlerKind.PRODUCER, False),
        (RunStatus.TRANSIENT, HandlerKind.CONSUMER, False),
    ],
)
def test_skipping_an_input_begins_a_prepare_afresh_that_may_have_seen_it(
    status: RunStatus, kind: HandlerKind, afresh: bool
) -> None:
    known = facts(open_run=run(Phase.PREPARING, status, kind=kind))

    assert bool(skip_input(known, "shop/order/1", [], now_ms=NOW).runs) is afresh


@clause("INPUT-3")
@pytest.mark.parametrize("phase", [Phase.MUTATING, Phase.MUTATED, Phase.EMITTING])
def test_skipping_an_input_lets_a_run_that_mutates_come_to_its_end(phase: Phase) -> None:
    change = skip_input(facts(open_run=run(phase)), "shop/order/1", RESERVED, now_ms=NOW)

    assert (change.runs, change.settle) == ((), None)
