"""The judges are not blind: each deliberate mistake is caught within a bounded number of worlds."""

import pytest

from gnomon.simulation.ledger.plan import World
from gnomon.simulation.ledger.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.ledger.mutants import MUTANTS, Mutant

pytestmark = pytest.mark.bulk

WORLDS_MAX = 300


def worlds_until_caught(world: World, first_seed: int) -> int:
    """How many worlds it takes until a judge complains; more than the limit if none does."""
    for number in range(WORLDS_MAX):
        if run_world(SCENARIO.sample(world, first_seed + number)).complaints:
            return number + 1
    return WORLDS_MAX + 1


@clause("SIM-10")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_does_not_survive_the_judges(mutant: Mutant) -> None:
    with mutant.make():
        assert worlds_until_caught(mutant.world, mutant.first_seed) <= WORLDS_MAX


@clause("SIM-10")
def test_there_are_at_least_ten_mutants() -> None:
    assert len({mutant.name for mutant in MUTANTS}) >= 10
