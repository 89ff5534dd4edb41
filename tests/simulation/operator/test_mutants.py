"""Deliberate mistakes in the operator: the worlds find every one of them."""

from itertools import islice

import pytest

from gnomon.simulation.operator.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.operator.mutants import MUTANTS, Mutant

WORLDS_MAX = 40


@clause("OSIM-8")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_mistake_is_found(mutant: Mutant) -> None:
    with mutant.make():
        found = any(
            run_world(spec).complaints
            for spec in islice(SCENARIO.worlds(mutant.world, mutant.first_seed), WORLDS_MAX)
        )

    assert found
