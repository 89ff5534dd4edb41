"""A campaign goes from seed to seed, tries every way to die, and tells what it found."""

from collections.abc import Mapping
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from gnomon.simulation.kit.campaign import Deaths, Scenario, WorldSpec
from gnomon.simulation.kit.faults import CRASHES
from gnomon.simulation.kit.notes import Notes
from tests.clauses import clause


class Kind(StrEnum):
    CRASH = "crash"
    STORM = "storm"


class Came(NamedTuple):
    complaints: list[str]
    notes: Notes
    calls: int
    figures: Mapping[str, int]
    lasted_ms: int


def draw(kind: Kind, seed: int) -> WorldSpec:
    return WorldSpec(world=kind, seed=seed)


def run(spec: WorldSpec) -> Came:
    """Two calls; something is wrong in the world of seed 3, and the judge of seed 4 fails."""
    if spec.seed == 4:
        raise ValueError("no")
    found = ["late", "lost"] if spec.seed == 3 else []
    return Came(found, Notes(), 2, {"starts": 5}, 1_500)


SCENARIO = Scenario(
    name="shop", kinds=Kind, draw=draw, run=run, deaths=Deaths(born_again=1, apart_max=3)
)


@clause("SIM-1")
def test_a_seed_stands_for_every_way_to_die_once_and_for_as_many_pairs() -> None:
    undisturbed, *dying = SCENARIO.crashes(7)

    assert undisturbed.faults == ()
    alone = [spec.faults[0] for spec in dying if len(spec.faults) == 1]
    assert sorted(alone) == sorted((call, kind, 0) for call in (1, 2) for kind in CRASHES)
    assert len(dying) == 2 * len(alone)


@clause("SIM-1")
def test_whole_seeds_end_with_the_last_world_of_a_seed() -> None:
    assert len(list(SCENARIO.whole_seeds(Kind.CRASH, 7, 10))) == 18
    assert len(list(SCENARIO.whole_seeds(Kind.STORM, 7, 10))) == 10


@clause("SIM-1")
def test_what_is_wrong_is_told_with_the_line_that_shows_it_again() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(Kind.STORM, 2), 3))

    line = "python -m gnomon.simulation shop --world storm --seed"
    assert found.troubles == [
        f"late (and 1 more): {line} 3", f"raised ValueError('no'): {line} 4",
    ]  # fmt: skip
    assert (found.worlds, found.figures["starts"], found.calls, found.simulated_s) == (3, 10, 4, 2)
