"""One seed decides everything: a world of the operator can be let happen again, anywhere."""

import os
import subprocess
import sys

import pytest

from gnomon.simulation.__main__ import main
from gnomon.simulation.operator.plan import World, draw_spec
from gnomon.simulation.operator.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.operator.mutants import MUTANTS

PRINT_DIGESTS = """
from gnomon.simulation.operator.plan import World, draw_spec
from gnomon.simulation.operator.world import run_world
for world in World:
    for seed in range(1, 3):
        print(run_world(draw_spec(world, seed)).notes.digest())
"""


@clause("OSIM-7")
def test_a_seed_gives_the_same_world_under_any_hash_seed() -> None:
    here = [
        run_world(draw_spec(world, seed)).notes.digest()
        for world in World
        for seed in range(1, 3)
    ]  # fmt: skip

    assert len(set(here)) == 6
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS], env=os.environ | {"PYTHONHASHSEED": "4242"},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.split() == here


@clause("OSIM-7")
@pytest.mark.parametrize("name", ["forbid is ignored", "made unsuspended"])
def test_the_line_that_a_broken_promise_prints_shows_it_again(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    mutant = next(one for one in MUTANTS if one.name == name)

    with mutant.make():
        specs = SCENARIO.worlds(mutant.world, mutant.first_seed)
        trouble = next(
            found.troubles[0] for spec in specs if (found := SCENARIO.tally([spec])).troubles
        )
        line = trouble.partition("python -m gnomon.simulation ")[2]
        assert main(line.split()) == 1

    assert trouble.split(" (and")[0].split(": python")[0] in capsys.readouterr().out


@clause("OSIM-7")
def test_a_world_in_which_all_went_well_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "operator --world crash --seed 3 --faults dies_after@12,freezes@30:2000 --verbose"

    assert main(arguments.split()) == 0
    said = capsys.readouterr().out
    assert "0 complaints" in said
    assert "dies_after" in said
