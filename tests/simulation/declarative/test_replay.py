"""One seed decides everything: a world of the scheduler can be let happen again, anywhere."""

import pytest

from gnomon.simulation.__main__ import main
from gnomon.simulation.declarative.plan import World, draw_spec
from gnomon.simulation.declarative.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.declarative.mutants import MUTANTS
from tests.simulation.digests import digests_in_a_process

PRINT_DIGESTS = """
from gnomon.simulation.declarative.world import SCENARIO
from gnomon.simulation.declarative.plan import World
from gnomon.simulation.declarative.world import run_world
for world in (World.CRASH, World.STORM):
    for seed in range(1, 9):
        print(run_world(SCENARIO.sample(world, seed)).notes.digest())
"""


@clause("SIM-1")
def test_a_seed_gives_the_same_world_of_the_scheduler_under_any_hash_seed() -> None:
    here = [
        run_world(SCENARIO.sample(world, seed)).notes.digest()
        for world in (World.CRASH, World.STORM)
        for seed in range(1, 9)
    ]

    assert len(set(here)) == 16
    assert digests_in_a_process(PRINT_DIGESTS, "0") == here
    assert digests_in_a_process(PRINT_DIGESTS, "4242") == here


@clause("SIM-1")
def test_a_long_world_can_be_let_happen_again() -> None:
    spec = draw_spec(World.LONG, 5, tasks=3, length_ms=4 * 3_600_000)

    assert run_world(spec).notes.digest() == run_world(spec).notes.digest()


@clause("SIM-1")
@pytest.mark.parametrize("name", ["a retry comes too early", "a lost answer is taken for yes"])
def test_the_line_that_a_broken_axiom_prints_shows_it_again(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mutant = next(one for one in MUTANTS if one.name == name)
    with mutant.make():
        first = SCENARIO.tally(SCENARIO.sample(mutant.world, seed) for seed in range(6)).troubles[0]
        complaint, _, line = first.partition(": python -m gnomon.simulation ")
        code = main(line.split())

    assert code == 1
    assert complaint.partition(" (and")[0] in capsys.readouterr().out


@clause("SIM-1")
def test_a_world_of_the_scheduler_without_a_complaint_exits_with_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "declarative --world crash --seed 2 --faults crash_after@6 --steps=-60000@5 --verbose"

    assert main(line.split()) == 0
    assert "crash_after" in capsys.readouterr().out


@clause("SIM-1")
@pytest.mark.parametrize(
    ("spec", "line"),
    [
        (SCENARIO.sample(World.CRASH, 7), "--world crash --seed 7 --faults crash_before@7"),
        (SCENARIO.sample(World.CRASH, 6), "--world crash --seed 6"),
        (SCENARIO.sample(World.STORM, 7), "--world storm --seed 7"),
        (draw_spec(World.LONG, 7, tasks=3, length_ms=7_200_000),
         "--world long --seed 7 --tasks 3 --hours 2"),
    ],
)  # fmt: skip
def test_the_line_names_what_the_seed_does_not_decide(spec: object, line: str) -> None:
    assert SCENARIO.replay_line(spec) == f"python -m gnomon.simulation declarative {line}"  # type: ignore[arg-type]
