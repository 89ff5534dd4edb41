"""Deliberate mistakes in the workflow host: the worlds find every one of them."""

from itertools import islice

import pytest

from gnomon.simulation.workflow.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.workflow.mutants import MUTANTS, Mutant

WORLDS_MAX = 120


@clause("WSIM-9")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mistake_is_found(mutant: Mutant) -> None:
    with mutant.make():
        specs = islice(SCENARIO.worlds(mutant.world, mutant.first), WORLDS_MAX)
        found = any(run_world(spec).complaints for spec in specs)

    assert found
