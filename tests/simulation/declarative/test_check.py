"""
What `gnomon check` makes of the journals of worlds whose clocks are set.

It has the events alone, and the court has heard every look at the clock: both must come to the same
verdict, where the events tell that the clock was set.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

from gnomon.cli.journal_trace import trace_of
from gnomon.cli.trace_pulses import with_pulses
from gnomon.ports import Entry, JournalView, Registered
from gnomon.ports import Event as Recorded
from gnomon.simulation.declarative.plan import Spec, World, draw_spec
from gnomon.simulation.declarative.world import Trial, run_world
from gnomon.theory import Monitor
from gnomon.trace import Event, Header, Kind, Pulses, Reinitialize, Witnesses
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


def broken(spec: Spec, journal: Sequence[Event], *, is_cut: bool = False) -> list[str]:
    """The axioms that are broken, by pulses that are derived from the events alone."""
    header = Header(
        zone=spec.zone, pulses=Pulses.DERIVED, reinitialize=Reinitialize(spec.reinitialize)
    )
    monitor = Monitor(header, witnesses=Witnesses(0.0, 0.0, spec.lag_ms))
    found = [
        one for event in with_pulses(header, journal, is_cut=is_cut) for one in monitor.see(event)
    ]
    return [str(one.axiom) for one in found if one.axiom != "S6"]


@clause("CHECK-6", "SIM-12")
def test_the_journal_of_a_world_whose_clock_is_set_breaks_no_axiom() -> None:
    trials = list(islice(storms(0), WORLDS))

    assert [one.complaints for _, one in trials if one.complaints] == []
    assert {spec.seed: found for spec, one in trials if (found := broken(spec, one.journal))} == {}


@clause("CHECK-6", "SIM-12")
@pytest.mark.bulk
def test_the_journals_of_many_worlds_whose_clocks_are_set_break_no_axiom() -> None:
    trials = islice(storms(10_000), 4 * WORLDS)

    assert {spec.seed: found for spec, one in trials if (found := broken(spec, one.journal))} == {}


@clause("CHECK-7")
def test_a_journal_that_has_forgotten_what_came_before_an_owner_breaks_no_axiom() -> None:
    found = {}
    for seed in range(4 * WORLDS):
        spec = draw_spec(World.CRASH, seed)
        journal = run_world(spec).journal
        listed = {one for event in journal for one in event.registrations}
        if len(listed) > len({one.name for one in listed}):
            continue  # a due in doubt may stand in a minute in which its task is registered anew
        for place, event in enumerate(journal, 1):
            if event.kind in (Kind.STOP_END, Kind.CRASH) and place < len(journal):
                left = [_entry(one, number) for number, one in enumerate(journal[place:], 2)]
                events = trace_of(JournalView(left, {}), place="").events
                found[seed, place] = broken(spec, events, is_cut=True)

    assert len(found) >= 10
    assert {world: axioms for world, axioms in found.items() if axioms} == {}


def _entry(event: Event, number: int) -> Entry:
    assert event.wall_ms is not None
    assert isinstance(event.call, int)
    listed = tuple(Registered(*one) for one in event.registrations)
    return Entry(
        Recorded(event.kind.value), event.t, event.wall_ms, event.task, event.call, listed,
        number=number,
    )  # fmt: skip


@clause("CHECK-6")
def test_a_scheduler_that_is_silent_until_a_clock_that_was_ahead_is_right_is_found_out() -> None:
    (mutant,) = [one for one in MUTANTS if one.name == AHEAD]
    with mutant.make():
        assert any(broken(spec, one.journal) for spec, one in islice(storms(0), WORLDS // 2))
