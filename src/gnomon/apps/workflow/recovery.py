"""
How does the next attempt of a run begin, after a failure or after a crash?

When a run did not come to its end, its phase says where the attempt after it begins. Before a
mutation is applied that is afresh, because that gives a corrected script a clean slate. Once it is
known what became of the mutation, only `next` is tried again, with the same results. Between the
two neither is allowed: the host must find out first. It asks that question before any other, since
events of an uncertain mutation must not be released.

Each attempt is a record of its own that names the one before; what is known about the one before
stays as it was. After a crash the same rule decides as after a failure, with one case more: when
the host does not know whether the mutation was made, the next attempt waits for that, holding what
its predecessor had reserved. Where it was certainly not made, an approval of it holds.

Spec: PHASE-1 to PHASE-6, RECOVER-1 to RECOVER-5, MUTATE-19.
"""

from dataclasses import replace
from enum import StrEnum
from typing import assert_never

from gnomon.apps.workflow.run_changes import new_run
from gnomon.ports.workflow_facts import (
    Asked,
    EventStatus,
    Facts,
    Mutation,
    MutationStatus,
    Phase,
    Run,
    RunStatus,
    WorkflowChange,
)

__all__ = ["UNCERTAIN", "Reset", "doubted", "recover", "reset_of", "retry"]

UNCERTAIN = "uncertain"
"""What is wrong with a run whose host died while it mutated: nothing was raised."""


class Reset(StrEnum):
    """Where the next attempt begins."""

    FRESH = "afresh, from preparing"
    FORWARD = "at emitting, with the results of before"
    RECONCILE = "nowhere, until the mutation is known"


def reset_of(run: Run, mutation: Mutation | None) -> Reset:
    """What follows a run that was cut off or failed, given its mutation if there is one."""
    if run.phase.is_settled:
        return Reset.FORWARD
    if run.phase is Phase.MUTATING and mutation is not None and mutation.status.is_uncertain:
        return Reset.RECONCILE
    return Reset.FRESH


def retry(facts: Facts, *, now_ms: int, left: Run | None = None) -> WorkflowChange:
    """The next attempt of the open run; `left` is what becomes of the record of this one."""
    before = left or facts.run
    assert before is not None
    attempt = replace(
        new_run(facts.standing, before.handler, before.kind, now_ms), retry_of=before.number
    )
    mutations: tuple[Mutation, ...] = ()
    settle = hand_over = None
    reset = reset_of(before, facts.mutation)
    if reset is Reset.FRESH:
        attempt = replace(attempt, approved=_still_approved(before, attempt))
        settle = (before.number, EventStatus.PENDING)
    elif reset is Reset.FORWARD:
        attempt = _with_results(attempt, before, Phase.EMITTING)
        hand_over = (before.number, attempt.number)
    elif reset is Reset.RECONCILE:
        assert facts.mutation is not None
        attempt = replace(
            _with_results(attempt, before, Phase.MUTATING), status=RunStatus.RECONCILIATION,
            fault=UNCERTAIN, error="it is not known whether this was done before the crash",
        )  # fmt: skip
        hand_over = (before.number, attempt.number)
        mutations = (doubted(facts.mutation, now_ms=now_ms),)
    else:
        assert_never(reset)
    standing = replace(facts.standing, runs=attempt.number, current=attempt.number, retry_ms=None)
    return WorkflowChange(
        standing=standing, runs=(attempt,) if left is None else (left, attempt),
        mutations=mutations, settle=settle, hand_over=hand_over,
    )  # fmt: skip


def recover(facts: Facts, *, now_ms: int) -> WorkflowChange | None:
    """What a new holder writes about a run that its predecessor was at work on; None if none."""
    run = facts.run
    if run is None or run.status is not RunStatus.ACTIVE:
        return None
    return retry(facts, now_ms=now_ms, left=replace(run, status=RunStatus.CRASHED))


def doubted(mutation: Mutation, *, now_ms: int) -> Mutation:
    """The host does not know whether it was made, and asks where that is possible."""
    if not mutation.reconcilable:
        return replace(mutation, status=MutationStatus.INDETERMINATE, next_ms=None)
    return replace(mutation, status=MutationStatus.NEEDS_RECONCILE, tries=0, next_ms=now_ms)


def _still_approved(before: Run, attempt: Run) -> Asked | None:
    """What a person has agreed to and was not made, as long as the script is the same."""
    approved = before.approved
    holds = approved is not None and approved.run and before.script == attempt.script
    return approved if holds else None


def _with_results(attempt: Run, before: Run, phase: Phase) -> Run:
    return replace(
        attempt, phase=phase, prepared=before.prepared, mutated=before.mutated,
        mutation=before.mutation, note=before.note, approved=before.approved,
    )  # fmt: skip
