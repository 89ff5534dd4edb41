"""Every state of a held run meets every event, and the page shows the same table."""

import random
from itertools import product

import pytest

from gnomon.core.schedule_record import read_schedule
from gnomon.ports import Claim
from gnomon.shell.clock import Reading
from gnomon.shell.worker.held_run import IN_LAUNCHER, STEPS, WAITING, HeldEvent, HeldRun, HeldState
from gnomon.shell.worker.held_runs import HeldRuns
from tests.clauses import clause
from tests.shell.worker_world import every_minute
from tests.tidy.states import LIVES, shown

SEED = "held-runs-1"
AT = Reading(1_000_000, 5_000)
SCHEDULE = read_schedule(every_minute("one", {}))
WAYS = {
    HeldState.BLOCKED: [],
    HeldState.READY: [HeldEvent.CLEARED],
    HeldState.LAUNCHING: [HeldEvent.CLEARED, HeldEvent.LAUNCH],
    HeldState.STARTING: [HeldEvent.CLEARED, HeldEvent.LAUNCH, HeldEvent.DELAYED],
    HeldState.STAGED: [HeldEvent.CLEARED, HeldEvent.LAUNCH, HeldEvent.MADE_READY],
    HeldState.RUNNING: [HeldEvent.CLEARED, HeldEvent.LAUNCH, HeldEvent.STARTED],
    HeldState.GIVING_WAY: [HeldEvent.GAVE_WAY],
    HeldState.PARKED: [HeldEvent.STOPPING],
    HeldState.LOST: [HeldEvent.CLEARED, HeldEvent.LAUNCH, HeldEvent.STARTED, HeldEvent.REFUSED],
    HeldState.GONE: [HeldEvent.KILLED],
}
"""How a run comes into each state."""


def claim(key: str, fence: int = 1) -> Claim:
    return Claim(SCHEDULE, key, 0, 0, 1, fence, ())


def taken(runs: HeldRuns, state: HeldState) -> HeldRun:
    """A run that has come into a state."""
    run = runs.take(claim("one"), AT, blocked=True)
    for event in WAYS[state]:
        step(runs, run, event)
    return run


def step(runs: HeldRuns, run: HeldRun, event: HeldEvent) -> None:
    if event is HeldEvent.LAUNCH and run.state is HeldState.READY:
        runs.let_in()
        assert runs.next_ready() is run
    else:
        runs.move(run, event)


@clause("RUN-38")
@pytest.mark.parametrize(("state", "event"), [*product(HeldState, HeldEvent)])
def test_every_pair_is_a_step_of_the_table_or_an_error(state: HeldState, event: HeldEvent) -> None:
    runs = HeldRuns()
    run = taken(runs, state)
    assert run.state is state
    after = STEPS.get((state, event))
    if after is None:
        with pytest.raises(ValueError, match=f"a run that is {state} cannot be {event}"):
            runs.move(run, event)
        assert run.state is state
        return
    step(runs, run, event)
    assert run.state is after
    assert runs.has_claims == (after in WAITING)
    assert runs.has_launched == (after in IN_LAUNCHER)
    assert (runs.get("one", 1) is run) == (after is not HeldState.GONE)
    assert (run.lease is None) == (after in {HeldState.LOST, HeldState.GONE})
    assert len(runs) == (after not in {HeldState.LOST, HeldState.GONE})


@clause("RUN-38")
def test_every_state_is_reached_and_left() -> None:
    assert set(STEPS.values()) == set(HeldState) - {HeldState.BLOCKED}
    assert {before for before, _ in STEPS} == set(HeldState) - {HeldState.GONE}
    assert {event for _, event in STEPS} == set(HeldEvent)


@clause("RUN-38")
def test_the_page_shows_every_step_and_no_other() -> None:
    assert shown(LIVES["held run"]) == LIVES["held run"].drawn()


@clause("RUN-38", "RUN-6")
@pytest.mark.parametrize("number", range(40))
def test_many_runs_are_counted_queued_and_leased_as_one_by_one(number: int) -> None:
    """Against a list of all runs, of which each question is asked anew."""
    dice = random.Random(f"{SEED} {number}")
    runs, known, queue = HeldRuns(), list[HeldRun](), list[HeldRun]()
    freed, at = list[HeldRun](), AT
    for fence in range(200):
        at = at.plus(dice.randrange(20_000))
        held = [run for run in known if run.state is not HeldState.GONE]
        if not held or dice.random() < 0.4:
            run = runs.take(
                claim(f"key {dice.randrange(9)}", fence), at, blocked=dice.random() < 0.5
            )
            known.append(run)
            if run.state is HeldState.READY:
                queue.append(run)
        elif dice.random() < 0.4:
            runs.let_in()
            queue, freed = queue + freed, []
            if queue:
                first = queue.pop(0)
                assert runs.next_ready() is first
        else:
            run = dice.choice(held)
            before = run.state
            events = [event for state, event in STEPS if state is before]
            event = dice.choice([one for one in events if one is not HeldEvent.LAUNCH])
            after = runs.move(run, event)
            queue, freed = ([one for one in some if one is not run] for some in (queue, freed))
            if after is HeldState.READY and event is HeldEvent.STRAINED:
                queue.insert(0, run)
            elif after is HeldState.READY:
                freed.append(run)
        held = [run for run in known if run.state is not HeldState.GONE]
        assert runs.has_ready == bool(queue)
        assert runs.has_claims == any(run.state in WAITING for run in held)
        assert runs.has_launched == any(run.state in IN_LAUNCHER for run in held)
        assert len(runs) == sum(run.state is not HeldState.LOST for run in held)
        tries = [run.key for run in held if run.state in IN_LAUNCHER]
        assert sorted(tries) == sorted(set(tries)), "the launcher has one try of a key"
        due = {(run.key, run.fence) for run in held if run.lease and run.lease.renew.has_come(at)}
        assert {(one.key, one.fence) for one in runs.due(at)} == due
