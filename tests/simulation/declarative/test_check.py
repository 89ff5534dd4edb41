"""
What `gnomon check` makes of the journals of worlds whose clocks are set.

It has the events alone, and the court has heard every look at the clock: both must come to the same
verdict, where the events tell that the clock was set.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

from gnomon.cli.trace_pulses import with_pulses
from gnomon.simulation.declarative.plan import Spec, World, draw_spec
from gnomon.simulation.declarative.world import Trial, run_world
from gnomon.theory import Monitor
from gnomon.trace import Event, Header, Pulses, Reinitialize, Witnesses
from tests.clauses import clause
from tests.simulation.declarative.mutants import MUTANTS

WORLDS = 15
AHEAD = "a clock that was ahead is ahead for ever"


def storms(first: int) -> Iterator[tuple[Spec, Trial]]:
    """Worlds in which the clock is set, and never twice between two events."""
    for seed in range(first, first + 1_000_000):
        spec = draw_spec(World.STORM, seed)
        if spec.steps and not (trial := run_world(spec)).hidden:
            yield spec, trial


def broken(spec: Spec, journal: Sequence[Event]) -> list[str]:
    """The axioms that are broken, by pulses that are derived from the events alone."""
    header = Header(
        zone=spec.zone, pulses=Pulses.DERIVED, reinitialize=Reinitialize(spec.reinitialize)
    )
    monitor = Monitor(header, witnesses=Witnesses(0.0, 0.0, spec.lag_ms))
    found = [one for event in with_pulses(header, journal) for one in monitor.see(event)]
    return [str(one.axiom) for one in found if one.axiom != "S6"]


@clause("CHECK-6", "SIM-12")
def test_the_journal_of_a_world_whose_clock_is_set_breaks_no_axiom() -> None:
    trials = list(islice(storms(0), WORLDS))

    assert [one.complaints for _, one in trials if one.complaints] == []
    assert {spec.seed: found for spec, one in trials if (found := broken(spec, one.journal))} == {}


@clause("CHECK-6", "SIM-12")
@pytest.mark.bulk
def test_the_journals_of_many_worlds_whose_clocks_are_set_break_no_axiom() -> None:
    trials = islice(storms(10_000), 10 * WORLDS)

    assert {spec.seed: found for spec, one in trials if (found := broken(spec, one.journal))} == {}


@clause("CHECK-6")
def test_a_scheduler_that_is_silent_until_a_clock_that_was_ahead_is_right_is_found_out() -> None:
    (mutant,) = [one for one in MUTANTS if one.name == AHEAD]
    with mutant.make():
        assert any(broken(spec, one.journal) for spec, one in islice(storms(0), WORLDS // 2))
