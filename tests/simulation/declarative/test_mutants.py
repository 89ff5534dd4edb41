"""The judges are not blind: each deliberate mistake is caught within a bounded number of worlds."""

import pytest

from gnomon.simulation.declarative.plan import World
from gnomon.simulation.declarative.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.declarative.mutants import MUTANTS, Mutant

WORLDS_MAX = 300


def worlds_until_caught(world: World) -> int:
    """How many worlds it takes until a judge complains; more than the limit if none does."""
    for seed in range(WORLDS_MAX):
        if run_world(SCENARIO.sample(world, seed)).complaints:
            return seed + 1
    return WORLDS_MAX + 1


@clause("SIM-16")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_of_the_scheduler_does_not_survive_the_judges(mutant: Mutant) -> None:
    with mutant.make():
        assert worlds_until_caught(mutant.world) <= WORLDS_MAX


@clause("SIM-21")
def test_a_turn_that_fails_by_itself_is_complained_of_although_the_next_is_right() -> None:
    mutant = next(one for one in MUTANTS if one.name == "a turn fails by its own mistake")
    with mutant.make():
        complaints = run_world(SCENARIO.sample(World.CRASH, 51)).complaints

    assert {one.code for one in complaints} == {"mistake"}
    assert complaints[0].text.startswith("TurnFailed: AssertionError(")


@clause("SIM-16")
def test_there_are_at_least_thirty_mutants() -> None:
    assert len({mutant.name for mutant in MUTANTS}) >= 30
