"""
The worlds of the declarative scheduler, in the dose of `make test`: every axiom holds in all.

That is 3,000 worlds in which the process dies. The full dose is run by `python -m tests.prove`.
"""

from itertools import islice

import pytest

from gnomon.simulation.declarative.plan import Do, World, draw_spec
from gnomon.simulation.declarative.world import SCENARIO, run_world
from tests.clauses import clause

WORLDS_A_PART = 150
STORMS_A_PART = 75
CALLS = ("open", "load", "acquire", "write", "close")
SOMETIMES = [
    *(f"{kind} {call}" for call in CALLS
      for kind in ("crash_before", "crash_after", "fail_before", "fail_after", "freeze_before",
                   "freeze_after")),
    *(f"errand {do}" for do in Do),
    "clock set back",
    "clock set forward",
    "died idle",
    "died running",
    "fail_after head",
    "fail_before head",
    "initialize failed",
    "refused: SchedulerAlreadyActiveError",
    "stop failed",
]  # fmt: skip


@clause("SIM-11", "SIM-13", "SIM-14", "SIM-15")
@pytest.mark.parametrize("part", range(20))
def test_a_process_that_dies_at_any_call_breaks_no_axiom(part: int) -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.CRASH, 1_000 * part), WORLDS_A_PART))

    assert found.worlds == WORLDS_A_PART
    assert found.troubles == []


@clause("SIM-11", "SIM-13", "SIM-14", "SIM-15")
@pytest.mark.parametrize("part", range(4))
def test_a_storm_breaks_no_axiom(part: int) -> None:
    found = SCENARIO.tally(
        SCENARIO.sample(World.STORM, 1_000 * part + seed) for seed in range(STORMS_A_PART)
    )

    assert found.worlds == STORMS_A_PART
    assert found.troubles == []


@clause("SIM-9", "SIM-11")
def test_every_kind_of_trouble_is_met() -> None:
    storms = SCENARIO.tally(SCENARIO.sample(World.STORM, 50_000 + seed) for seed in range(320))
    crashes = SCENARIO.tally(SCENARIO.sample(World.CRASH, 50_000 + seed) for seed in range(200))

    met = storms.counters + crashes.counters
    assert [name for name in SOMETIMES if not met[name]] == []
    assert storms.troubles + crashes.troubles == []


@clause("SIM-11", "SIM-13")
def test_half_a_day_of_twenty_tasks_breaks_no_axiom() -> None:
    found = run_world(draw_spec(World.LONG, 1, tasks=20, length_ms=12 * 3_600_000))

    assert found.complaints == []
    assert found.figures["starts"] > 20 * 60 * 11


@clause("SIM-13")
def test_what_a_crash_cut_off_may_come_again_in_the_minute_that_a_clock_leapt_over() -> None:
    spec = SCENARIO.sample(
        World.STORM, 1_000_091
    )  # killed beside a run for such a minute, then set back

    assert run_world(spec).complaints == []
