"""The table of the phases: what may follow what."""

from itertools import pairwise, product

import pytest

from gnomon.apps.workflow.phase import STEPS, PhaseEvent, follow
from gnomon.ports.workflow_facts import Phase
from tests.clauses import clause
from tests.tidy.states import LIVES, shown


@clause("PHASE-10")
@pytest.mark.parametrize(("phase", "event"), [*product(Phase, PhaseEvent)])
def test_every_pair_is_a_step_of_the_table_or_an_error(phase: Phase, event: PhaseEvent) -> None:
    after, order = STEPS.get((phase, event)), list(Phase)
    if after is None:
        with pytest.raises(ValueError, match=f"a run that is {phase} cannot be {event}"):
            follow(phase, event)
    else:
        assert follow(phase, event) is after
        assert order.index(after) >= order.index(phase)


@clause("PHASE-10")
def test_every_phase_is_reached_and_left() -> None:
    assert set(STEPS.values()) == set(Phase) - {Phase.PREPARING}
    assert {before for before, _ in STEPS} == set(Phase) - {Phase.COMMITTED}
    assert {event for _, event in STEPS} == set(PhaseEvent)
    for before, after in pairwise(Phase):
        assert after in {STEPS.get((before, event)) for event in PhaseEvent}


@clause("PHASE-10")
def test_the_page_shows_every_step_and_no_other() -> None:
    assert shown(LIVES["run of a workflow"]) == LIVES["run of a workflow"].drawn()
