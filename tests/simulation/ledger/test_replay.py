"""One seed decides everything: a world can be let happen again, anywhere."""

from dataclasses import replace

import pytest

from gnomon.simulation.__main__ import main
from gnomon.simulation.kit.faults import Fault, Kind, Step, read_fault, read_step
from gnomon.simulation.ledger.plan import World, draw_spec
from gnomon.simulation.ledger.world import SCENARIO, run_world
from tests.clauses import clause
from tests.simulation.digests import digests_in_a_process
from tests.simulation.ledger.mutants import MUTANTS

PRINT_DIGESTS = """
from gnomon.simulation.ledger.world import SCENARIO
from gnomon.simulation.ledger.plan import World
from gnomon.simulation.ledger.world import run_world
for world in World:
    for seed in range(1, 9):
        print(run_world(SCENARIO.sample(world, seed)).record.digest())
"""


@clause("SIM-1")
def test_a_seed_gives_the_same_world_under_any_hash_seed() -> None:
    here = [
        run_world(SCENARIO.sample(world, seed)).record.digest()
        for world in World
        for seed in range(1, 9)
    ]

    assert digests_in_a_process(PRINT_DIGESTS, "0") == here
    assert digests_in_a_process(PRINT_DIGESTS, "1") == here
    assert digests_in_a_process(PRINT_DIGESTS, "4242") == here


@clause("SIM-1")
def test_another_seed_gives_another_world() -> None:
    digests = {run_world(draw_spec(World.WORKERS, seed)).record.digest() for seed in range(20)}

    assert len(digests) == 20


@clause("SIM-1")
@pytest.mark.parametrize(
    "fault", [Fault(12, Kind.CRASH_AFTER), Fault(7, Kind.FREEZE_BEFORE, 45_000)], ids=str
)
def test_a_fault_can_be_written_and_read_back(fault: Fault) -> None:
    assert read_fault(str(fault)) == fault


@clause("SIM-1")
@pytest.mark.parametrize("step", [Step(1_000, -86_400_000), Step(0, 61_000)], ids=str)
def test_a_step_of_the_clock_can_be_written_and_read_back(step: Step) -> None:
    assert read_step(str(step)) == step


@clause("SIM-1")
def test_the_line_that_a_failure_prints_shows_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    mutant = next(one for one in MUTANTS if one.name == "overlap is ignored")
    with mutant.make():
        specs = (SCENARIO.sample(World.CRASH, seed) for seed in range(20))
        first = SCENARIO.tally(specs).troubles[0]
        complaint, _, line = first.partition(": python -m gnomon.simulation ")
        code = main(line.split())

    assert code == 1
    assert complaint.partition(" (and")[0] in capsys.readouterr().out


@clause("SIM-1")
def test_a_world_in_which_all_promises_are_kept_exits_with_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "ledger --world crash --seed 2 --faults crash_after@6 --steps= --verbose"

    code = main(line.split())

    assert code == 0
    assert "crash_after" in capsys.readouterr().out


@clause("SIM-1")
def test_the_line_names_the_faults_of_a_crash() -> None:
    spec = replace(draw_spec(World.CRASH, 5), faults=(Fault(3, Kind.CRASH_BEFORE),))

    expected = "python -m gnomon.simulation ledger --world crash --seed 5 --faults crash_before@3"
    assert SCENARIO.replay_line(spec) == expected
