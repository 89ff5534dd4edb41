"""
The campaigns, in the dose of `make test`: no period is lost, none is duplicated, nothing is found.

That is 3,000 worlds of each. The full dose is run by `python -m tests.prove crash`.
"""

from itertools import islice

import pytest

from gnomon.simulation.ledger.launcher import Way
from gnomon.simulation.ledger.plan import World, draw_spec
from gnomon.simulation.ledger.world import SCENARIO
from tests.clauses import clause

pytestmark = pytest.mark.bulk

WORLDS_A_PART = 150
PARTS = range(20)
PARTS_LOOKED_INTO = 4  # of the three workers; what is met there is counted

SOMETIMES = [
    "a window was open when its schedule was saved",
    *(f"{kind} {call}" for call in ("load", "commit", "report", "next_wake_ms")
      for kind in ("crash_before", "crash_after", "fail_before", "fail_after", "freeze_before",
                   "freeze_after")),
    *(f"asked for: {what}" for what in ("manual", "backfill", "skip", "kill")),
    "clock set back",
    "clock set forward",
    "commit lost to another worker",
    "crash_after launcher",
    "crash_after renew",
    "crash_before launcher",
    "executor called back before it answered",
    "executor called back: accepted",
    "run elsewhere ended by a worker",
    "definition changed",
    "definition saved again",
    "late write refused",
    "launch failed",
    "launch failed for good",
    "launch joined a run of the same key",
    "launch not answered, and begun",
    "launch not answered, and not begun",
    "lease changed",
    "lease not renewed",
    "lease of a run that was over",
    "lease renewed",
    "lease was over",
    "paused",
    "ran beside a run whose lease was over",
    "report Ended refused",
    "report Launched refused",
    "resumed",
    "run adopted",
    "run could not be ended",
    "run ended by its worker",
    "run ended by who takes its place",
    "run lost with its worker",
    "run went on without its worker",
    "runs that overlapped replace each other",
    "started again, as relaunch_same_key allows",
    "started again, as restart allows",
]  # fmt: skip


@clause("SIM-3", "SIM-5", "SIM-6", "SIM-7", "SIM-8")
@pytest.mark.parametrize("part", PARTS)
def test_a_worker_that_dies_at_any_call_loses_and_repeats_nothing(part: int) -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.CRASH, 1_000 * part), WORLDS_A_PART))

    assert found.worlds == WORLDS_A_PART
    assert found.troubles == []


@clause("SIM-5", "SIM-6", "SIM-7", "SIM-8")
@pytest.mark.parametrize("part", PARTS[PARTS_LOOKED_INTO:])
def test_three_workers_in_trouble_lose_and_repeat_nothing(part: int) -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.WORKERS, 1_000 * part), WORLDS_A_PART))

    assert found.worlds == WORLDS_A_PART
    assert found.troubles == []


@clause("SIM-22")
@pytest.mark.parametrize("seed", [0, 24, 62, 124, 159, 311, 330, 335, 390, 396])
def test_a_run_elsewhere_that_is_over_before_its_launch_is_answered_keeps_its_start(
    seed: int,
) -> None:
    assert draw_spec(World.WORKERS, seed).workload.way is Way.ELSEWHERE
    assert SCENARIO.tally([SCENARIO.sample(World.WORKERS, seed)]).troubles == []


@clause("SIM-23", "RUN-37")
@pytest.mark.parametrize("seed", [62, 159, 242, 390])
def test_a_run_elsewhere_that_has_ended_is_not_told_as_lost(seed: int) -> None:
    found = SCENARIO.tally([SCENARIO.sample(World.WORKERS, seed)])

    assert found.troubles == []
    assert found.counters["lease of a run that was over"]


@clause("SIM-5", "SIM-7")
@pytest.mark.parametrize("seed", [19_087, 1_028_696])
def test_a_world_of_three_workers_that_was_found_once_is_right_now(seed: int) -> None:
    assert SCENARIO.tally([SCENARIO.sample(World.WORKERS, seed)]).troubles == []


@clause("SIM-5", "SIM-6", "SIM-7", "SIM-8", "SIM-9")
def test_every_kind_of_trouble_and_of_recovery_is_met() -> None:
    crashes = SCENARIO.tally(SCENARIO.sample(World.CRASH, seed) for seed in range(200))
    number = PARTS_LOOKED_INTO * WORLDS_A_PART
    workers = SCENARIO.tally(islice(SCENARIO.worlds(World.WORKERS, 0), number))

    met = crashes.counters + workers.counters
    assert [name for name in SOMETIMES if not met[name]] == []
    assert crashes.troubles + workers.troubles == []
