"""
The worlds of the operator, in the dose of `make test`: nothing runs twice, nothing is lost.

The full dose is run by `python -m tests.prove operator-worlds`.
"""

from itertools import islice

import pytest

from gnomon.simulation.operator.plan import Do, Strike, World
from gnomon.simulation.operator.world import SCENARIO
from tests.clauses import clause

CRASHES = 80
STORMS = 40
CALENDARS = 2
WRITES = ("Create jobs", "PutStatus kronjobs", "JsonPatch jobs")


@pytest.mark.bulk
@clause("OSIM-1", "OSIM-3", "OSIM-4", "OSIM-5", "OSIM-6")
def test_an_operator_that_dies_at_any_call_runs_nothing_twice_and_loses_nothing() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.CRASH, 0), CRASHES))

    assert found.troubles == []
    assert found.figures["executions"] >= found.figures["due"] > 2 * CRASHES
    assert [
        f"{strike} {write}"
        for write in WRITES
        for strike in ("dies_before", "dies_after", "late_dead")
        if not found.counters[f"{strike} {write}"]
    ] == []


@pytest.mark.bulk
@clause("OSIM-1", "OSIM-2", "OSIM-3", "OSIM-4", "OSIM-5", "OSIM-6", "OSIM-7")
def test_a_storm_runs_nothing_twice_and_loses_nothing_whatever_it_brings() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.STORM, 0), STORMS))

    assert found.troubles == []
    assert [do for do in Do if not found.counters[f"errand {do}"]] == []
    struck = {name.partition(" ")[0] for name in found.counters}
    assert [strike for strike in Strike if strike not in struck] == []


@clause("OSIM-3", "OSIM-4", "OSIM-6")
def test_days_on_which_clocks_change_and_edits_of_the_zone_lose_nothing() -> None:
    found = SCENARIO.tally(islice(SCENARIO.worlds(World.CALENDAR, 0), CALENDARS))

    assert found.troubles == []
    assert found.figures["executions"] > CALENDARS
