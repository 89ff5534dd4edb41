"""
How far a run has come: what may follow what, as a table; and where the next attempt begins.

A phase never goes back, and a failure changes the status of a run and not its phase. When a run did
not come to its end, its phase says where the attempt after it begins.

Before a mutation is applied the next attempt begins afresh, because that gives a corrected script a
clean slate. Once it is known what became of the mutation, only `next` is tried again, with the same
results. Between the two neither is allowed: the host must find out first. It asks that question
before any other, since events of an uncertain mutation must not be released.

Spec: PHASE-1 to PHASE-6, PHASE-10.
"""

from enum import StrEnum

from gnomon.ports.workflow_facts import Mutation, Phase, Run

__all__ = ["STEPS", "PhaseEvent", "Reset", "follow", "reset_of"]


class PhaseEvent(StrEnum):
    """What takes a run further."""

    PREPARED = "prepared"
    """`prepare` has succeeded."""
    NOTHING_ASKED = "nothing_asked"
    """The script asks for no mutation."""
    TRIED = "tried"
    """A mutation is about to be tried, or to be tried again."""
    SETTLED = "settled"
    """The mutation was made, or a person says what became of it."""
    REFUSED = "refused"
    """A person has refused it before it was made."""
    NEXT = "next"
    """`next` is about to be called."""
    COMMITTED = "committed"


STEPS: dict[tuple[Phase, PhaseEvent], Phase] = {
    (Phase.PREPARING, PhaseEvent.PREPARED): Phase.PREPARED,
    (Phase.PREPARING, PhaseEvent.COMMITTED): Phase.COMMITTED,
    (Phase.PREPARED, PhaseEvent.NOTHING_ASKED): Phase.MUTATED,
    (Phase.PREPARED, PhaseEvent.TRIED): Phase.MUTATING,
    (Phase.PREPARED, PhaseEvent.REFUSED): Phase.MUTATED,
    (Phase.MUTATING, PhaseEvent.TRIED): Phase.MUTATING,
    (Phase.MUTATING, PhaseEvent.SETTLED): Phase.MUTATED,
    (Phase.MUTATING, PhaseEvent.REFUSED): Phase.MUTATED,
    (Phase.MUTATED, PhaseEvent.NEXT): Phase.EMITTING,
    (Phase.EMITTING, PhaseEvent.NEXT): Phase.EMITTING,
    (Phase.EMITTING, PhaseEvent.COMMITTED): Phase.COMMITTED,
}
"""Every step there is. A producer has no mutation, and is committed from where it begins."""


def follow(phase: Phase, event: PhaseEvent) -> Phase:
    """The phase after an event; any other pair is an error, and nothing of it is written."""
    after = STEPS.get((phase, event))
    if after is None:
        raise ValueError(f"a run that is {phase} cannot be {event}")
    return after


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
