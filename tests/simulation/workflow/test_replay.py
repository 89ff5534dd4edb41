"""One seed decides everything: a world of workflows can be let happen again, anywhere."""

import os
import subprocess
import sys

import pytest

from gnomon.simulation.__main__ import main
from gnomon.simulation.workflow.plan import World, draw_spec
from gnomon.simulation.workflow.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.workflow.mutants import MUTANTS

PRINT_DIGESTS = """
from gnomon.simulation.workflow.plan import World, draw_spec
from gnomon.simulation.workflow.world import run_world
for world in World:
    for seed in range(1, 5):
        print(run_world(draw_spec(world, seed)).notes.digest())
"""


@clause("WSIM-8")
def test_a_seed_gives_the_same_world_under_any_hash_seed() -> None:
    here = [
        run_world(draw_spec(world, seed)).notes.digest()
        for world in World
        for seed in range(1, 5)
    ]  # fmt: skip

    assert len(set(here)) == 4 * len(World)
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS], env=os.environ | {"PYTHONHASHSEED": "4242"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == here


@clause("WSIM-8")
def test_the_line_that_a_broken_promise_prints_shows_it_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    mutant = next(one for one in MUTANTS if one.name == "no answer is taken for failure")

    with mutant.make():
        found = SCENARIO.tally(draw_spec(mutant.world, seed) for seed in range(1, 9))
        trouble = found.troubles[0]
        line = trouble.partition("python -m gnomon.simulation ")[2]
        assert main(line.split()) == 1

    assert trouble.split(" (and")[0].split(": python")[0] in capsys.readouterr().out


@clause("WSIM-8")
def test_a_world_in_which_all_went_well_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "workflow --world crash --seed 3 --faults crash_after@12 --verbose"

    assert main(arguments.split()) == 0
    assert "0 complaints" in capsys.readouterr().out
