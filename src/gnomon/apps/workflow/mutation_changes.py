"""
A mutation may have been made or not: what is written as that becomes clear?

The tool is asked at once, then after waits that grow, for as long as it does not know: it may have
been reached by the same outage as the mutation. After a few times a person is asked too. An
answer of "it was made" lets the run go on to `next`. "It was not" makes the failure one like any
other: what the tool had raised decides whether the run waits for the user or begins afresh, and
when, so that a tool that never gets through is not called in a circle. Until there is an answer,
nothing that the mutation was for is released.

Spec: MUTATE-5, MUTATE-7, MUTATE-9, MUTATE-10, MUTATE-14, MUTATE-18.
"""

from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple, assert_never

from gnomon.apps.workflow.failure import TRIES_UNTOLD, Failure, Fault, backoff_ms
from gnomon.apps.workflow.phase import PhaseEvent, follow
from gnomon.apps.workflow.recovery import UNCERTAIN, doubted, retry
from gnomon.apps.workflow.run_changes import SKIPPED, applied_text, fail
from gnomon.errors import CommandRefusedError
from gnomon.ports.workflow_facts import (
    Facts,
    Mutation,
    MutationStatus,
    Run,
    RunStatus,
    WorkflowChange,
)

__all__ = ["Finding", "Resolution", "Verdict", "mutation_failed", "reconciled", "resolve"]


class Verdict(StrEnum):
    """What a tool found out about a mutation."""

    APPLIED = "applied"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Finding(NamedTuple):
    verdict: Verdict
    result: str = "null"
    error: str = ""


class Resolution(StrEnum):
    """What a person says about a mutation."""

    TRY_AGAIN = "try-again"
    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did-not-happen"
    SKIP = "skip"


def mutation_failed(facts: Facts, run: Run, failure: Failure, *, now_ms: int) -> WorkflowChange:
    """The tool has raised: either nothing has happened, or that must be found out."""
    assert facts.mutation is not None
    if failure.acted is False:
        failed = replace(facts.mutation, status=MutationStatus.FAILED, error=failure.error)
        return replace(fail(facts, run, failure, now_ms=now_ms), mutations=(failed,))
    mutation = replace(doubted(facts.mutation, now_ms=now_ms), error=failure.error)
    waiting = replace(
        run, status=RunStatus.RECONCILIATION, fault=failure.fault, error=failure.error,
        traceback=failure.traceback, updated_ms=now_ms,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(waiting,), mutations=(mutation,))


def reconciled(facts: Facts, found: Finding, *, now_ms: int) -> WorkflowChange:
    """The tool was asked what became of its mutation."""
    run, mutation = _uncertain(facts)
    tries = mutation.tries + 1
    if found.verdict is Verdict.APPLIED:
        return _applied(facts, found.result, by="reconciliation", tries=tries, now_ms=now_ms)
    if found.verdict is Verdict.FAILED:
        return _found_not_applied(facts, tries=tries, now_ms=now_ms)
    told = tries >= TRIES_UNTOLD
    asked = replace(
        mutation, tries=tries, next_ms=now_ms + backoff_ms(tries),
        status=MutationStatus.INDETERMINATE if told else MutationStatus.NEEDS_RECONCILE,
        error=found.error or mutation.error,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(run,), mutations=(asked,))


def resolve(facts: Facts, said: Resolution, *, now_ms: int) -> WorkflowChange:
    """A person has decided."""
    run, mutation = facts.run, facts.mutation
    if run is None or run.status is not RunStatus.RECONCILIATION or mutation is None:
        raise CommandRefusedError(
            "has no mutation whose end is unknown", where=facts.standing.name,
            got="idle" if run is None else run.status.value,
            hint="gnomon workflow status says what it waits for",
        )  # fmt: skip
    if said is Resolution.TRY_AGAIN:
        return _ask_again(facts, mutation, now_ms=now_ms)
    if said is Resolution.HAPPENED:
        return _applied(facts, "null", by="user_assert_applied", now_ms=now_ms)
    if said is Resolution.DID_NOT_HAPPEN:
        failed = _resolved(mutation, MutationStatus.FAILED, "user_assert_failed", now_ms)
        return _afresh(facts, run, failed, now_ms=now_ms)
    if said is Resolution.SKIP:
        skipped = _resolved(mutation, MutationStatus.SKIPPED, "user_skip", now_ms)
        return _go_on(facts, run, skipped, SKIPPED, now_ms=now_ms)
    assert_never(said)


def _uncertain(facts: Facts) -> tuple[Run, Mutation]:
    run, mutation = facts.run, facts.mutation
    assert run is not None
    assert mutation is not None
    assert run.status is RunStatus.RECONCILIATION, run
    return run, mutation


def _applied(
    facts: Facts, result: str, *, by: str, now_ms: int, tries: int | None = None
) -> WorkflowChange:
    run, mutation = _uncertain(facts)
    done = replace(
        _resolved(mutation, MutationStatus.APPLIED, by, now_ms), result=result,
        tries=mutation.tries if tries is None else tries,
    )  # fmt: skip
    return _go_on(facts, run, done, applied_text(result), now_ms=now_ms)


def _go_on(
    facts: Facts, run: Run, mutation: Mutation, outcome: str, *, now_ms: int
) -> WorkflowChange:
    """The mutation is settled, and the same run goes on with `next`."""
    resumed = replace(
        run, phase=follow(run.phase, PhaseEvent.SETTLED), status=RunStatus.ACTIVE, mutated=outcome,
        fault="", error="", traceback="", updated_ms=now_ms,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(resumed,), mutations=(mutation,))


def _found_not_applied(facts: Facts, *, tries: int, now_ms: int) -> WorkflowChange:
    """The tool says that it was not made: what it had raised says what follows."""
    run, mutation = _uncertain(facts)
    failed = replace(
        _resolved(mutation, MutationStatus.FAILED, "reconciliation", now_ms), tries=tries
    )
    if run.fault == UNCERTAIN:  # its host died, and the tool has raised nothing
        return _afresh(facts, run, failed, now_ms=now_ms)
    failure = Failure(Fault(run.fault), run.error, False, run.traceback)
    return replace(fail(facts, run, failure, now_ms=now_ms), mutations=(failed,))


def _afresh(facts: Facts, run: Run, failed: Mutation, *, now_ms: int) -> WorkflowChange:
    known = replace(facts, mutation=failed)
    return replace(retry(known, now_ms=now_ms, left=run), mutations=(failed,))


def _ask_again(facts: Facts, mutation: Mutation, *, now_ms: int) -> WorkflowChange:
    if not mutation.reconcilable:
        raise CommandRefusedError(
            "cannot be asked about: its tool has no reconcile", where=mutation.tool,
            got=Resolution.TRY_AGAIN.value, hint="say happened, did-not-happen or skip",
        )  # fmt: skip
    asked = replace(
        mutation, status=MutationStatus.NEEDS_RECONCILE, tries=0, next_ms=now_ms, resolved_by=""
    )
    return WorkflowChange(standing=facts.standing, mutations=(asked,))


def _resolved(mutation: Mutation, status: MutationStatus, by: str, now_ms: int) -> Mutation:
    return replace(mutation, status=status, next_ms=None, resolved_by=by, resolved_ms=now_ms)
