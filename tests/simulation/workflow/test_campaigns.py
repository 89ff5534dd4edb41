"""
The worlds of workflows, in the dose of `make test`: nothing is made twice, and nothing is lost.

That is 3,000 worlds in which the process dies. The full dose is run by `python -m tests.prove`.
"""

from itertools import islice

import pytest

from gnomon.simulation.workflow.plan import Behaviour, Do, Errand, Spec, World
from gnomon.simulation.workflow.world import SCENARIO, run_world
from tests.clauses import clause

PARTS = 20
WORLDS_A_PART = 150
STORMS = 100
ODD = 40
OLD = 10
AWAY = 30
CALLS = (
    "take", "keep", "versions", "load", "commit", "peek", "forget", "apply ship", "apply bill",
)  # fmt: skip
SOMETIMES = [
    *(
        f"{kind} {call}"
        for call in ("load", "commit")
        for kind in (
            "crash_before",
            "crash_after",
            "fail_before",
            "fail_after",
            "freeze_before",
            "freeze_after",
        )
    ),
    *(f"errand {do}" for do in Do),
    "approved",
    "rejected",
    "resolved happened",
    "resolved did-not-happen",
    "resolved skip",
    "resolved try-again",
    "resumed failed:logic",
    "pushed",
]
ODDLY = (
    "restored", "begun anew", "signed in again", "approved", "rejected", "died during next echo",
    "told that a script cannot be loaded",
)  # fmt: skip


@pytest.mark.bulk
@clause("WSIM-1", "WSIM-2", "WSIM-4", "WSIM-5", "WSIM-6", "WSIM-7")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_process_that_dies_at_any_call_makes_nothing_twice_and_loses_nothing(part: int) -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.CRASH, 1_000 * part), WORLDS_A_PART))

    assert found.troubles == []
    assert found.worlds == WORLDS_A_PART
    assert found.figures["applications"] > WORLDS_A_PART


@clause("WSIM-1", "WSIM-3", "WSIM-4", "WSIM-5", "WSIM-6", "WSIM-7", "WDOC-4")
def test_a_storm_makes_nothing_twice_and_loses_nothing_whatever_it_brings() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.STORM, 0), STORMS))

    assert found.troubles == []
    assert [name for name in SOMETIMES if not found.counters[name]] == []


@clause("WSIM-4", "WSIM-5", "WSIM-6", "WSIM-12", "WSIM-13")
def test_odd_scripts_and_restored_stores_keep_every_promise() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.ODD, 0), ODD))

    assert found.troubles == []
    assert [name for name in ODDLY if not found.counters[name]] == []


@clause("WSIM-14", "KEEP-2", "KEEP-3", "WSIM-4", "WSIM-5")
def test_days_in_which_things_are_forgotten_keep_every_promise() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.OLD, 0), OLD))

    assert found.troubles == []
    assert found.counters["forgot a run"] > OLD
    assert found.counters["forgot an event"] > OLD


@clause(
    "WSIM-15", "WSIM-16", "WSIM-17", "HOST-9", "FAIL-21", "MUTATE-18", "WSIM-4", "WSIM-5", "WSIM-6"
)
def test_after_hours_of_outages_every_workflow_goes_on_by_itself() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.OUTAGE, 0), AWAY))

    assert found.troubles == []
    parts = ("poll", "prepare", "tool", "answer", "reconcile", "script")
    assert [part for part in parts if not found.counters[f"cut off: {part}"]] == []


@clause("WSIM-1")
def test_the_process_dies_around_every_kind_of_call() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.CRASH, 500), 180))

    assert found.troubles == []
    assert [
        f"{kind} {call}"
        for call in CALLS
        for kind in ("crash_before", "crash_after")
        if not found.counters[f"{kind} {call}"]
    ] == []


@clause("WSIM-6")
def test_a_world_in_which_a_person_decides_about_everything_is_given_the_time_for_it() -> None:
    spec = Spec(
        world=World.STORM, seed=1, items=tuple(range(0, 20_000, 1_000)), interval="15s",
        behaviour=Behaviour(unanswered=100, cannot_tell=100),
    )  # fmt: skip

    trial = run_world(spec)

    assert trial.complaints == []
    assert trial.lasted_ms > 2 * 3_600_000


@clause("WSIM-6")
@pytest.mark.parametrize("seed", [3, 20, 180, 306])
def test_a_world_is_judged_as_it_rests_and_not_by_what_begins_in_that_instant(seed: int) -> None:
    errand = Errand(10_000, Do.RUN_NOW, 0)
    spec = Spec(
        world=World.STORM, seed=seed, items=(), interval="15s", behaviour=Behaviour(),
        errands=(errand,),
    )  # fmt: skip

    assert run_world(spec).complaints == []
