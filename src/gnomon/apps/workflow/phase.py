"""
How far a run has come: what may follow what, as a table.

A phase never goes back, and a failure changes the status of a run and not its phase.

Spec: PHASE-10.
"""

from enum import StrEnum

from gnomon.ports.workflow_facts import Phase

__all__ = ["STEPS", "PhaseEvent", "follow"]


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
