"""
A run did not come to its end: where does the next attempt begin?

Before a mutation is applied the next attempt begins afresh, because that gives a corrected script a
clean slate. Once it is known what became of the mutation, only `next` is tried again, with the same
results. Between the two neither is allowed: the host must find out first. It asks that question
before any other, since events of an uncertain mutation must not be released.

Spec: PHASE-1 to PHASE-6.
"""

from enum import StrEnum

from gnomon.ports.workflow_facts import Mutation, Phase, Run

__all__ = ["Reset", "reset_of"]


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
