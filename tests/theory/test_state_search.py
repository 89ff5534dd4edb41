"""The complete search of the theory's states: no conflict, and the search itself is no fiction."""

import random

import pytest

from gnomon.theory import Monitor
from gnomon.trace import Event, Header, Kind, Registration, Reinitialize
from tests.clauses import clause
from tests.theory.state_search import (
    EMPTY,
    SEARCHES,
    Move,
    Name,
    Search,
    World,
    moves,
    owed,
    search,
    step,
)
from tests.theory.story import CRONS

CRON_TEXTS = [CRONS[""], CRONS["2"]]


@clause("THEORY-6")
@pytest.mark.parametrize("asked", SEARCHES[1:], ids=str)
def test_no_state_of_the_theory_asks_for_the_impossible(asked: Search) -> None:
    found = search(asked.configurations, reconcile=asked.reconcile)

    assert found.conflicts == {}
    assert found.states > 100


@clause("THEORY-6")
def test_without_its_last_repair_the_theory_contradicts_itself() -> None:
    """The run of a changed task is interrupted, and the task changed back has already succeeded."""
    found = search((2,), orphan_is_boundary=False)

    assert found.conflicts == {
        "an owed start whose success breaks S2": (
            ("Minute", "0"), ("Init", "0"), ("Minute", "1"), ("RunStart", "0"), ("RunSuccess", "0"),
            ("Crash",), ("Init", "1"), ("RunStart", "0"), ("Crash",), ("Init", "0"),
        )
    }  # fmt: skip


@clause("THEORY-6", "THEORY-2")
@pytest.mark.parametrize("seed", range(60))
def test_the_search_and_the_monitor_agree_on_what_is_owed(seed: int) -> None:
    dice = random.Random(seed)
    names = tuple(Name(tasks=EMPTY.names[0].tasks * count) for count in ((2,), (2, 1))[seed % 2])
    reconcile = seed % 3 == 0
    rule = Reinitialize.RECONCILE if reconcile else Reinitialize.REJECT
    world, monitor = World(names=names), Monitor(Header(reinitialize=rule))
    for t in range(60):
        move = dice.choice(list(moves(world, reconcile=reconcile)))
        world = step(world, move)
        for event in events_of(move, t * 10, world):
            assert list(monitor.see(event)) == []
        expected = sum(owed(world, number) for number in range(len(names)))
        assert monitor.findings()["L1"].open == expected


def events_of(move: Move, t: int, world: World) -> list[Event]:
    """A step of the search as the events of a trace."""
    match move:
        case ("Crash",):
            return [Event(Kind.CRASH, t)]
        case ("Minute", *due):
            dues = [
                Event(Kind.DUE, t, str(number), cron=CRON_TEXTS[int(index)])
                for number, indices in enumerate(due)
                for index in indices
            ]
            return [Event(Kind.MINUTE_START, t), *dues]
        case ("Init", *listed):
            registrations = tuple(
                Registration(str(number), CRON_TEXTS[int(index)], 0)
                for number, index in enumerate(listed)
                if index != "-1"
            )
            begin = Event(Kind.INIT_START, t, call=1, registrations=registrations)
            return [begin, Event(Kind.INIT_SUCCESS, t, call=1)]
        case ("StopStart" | "StopEnd" as word,):
            return [Event(Kind(word), t, call=1)]
        case (word, number):
            return [Event(Kind(word), t, number)]
    raise AssertionError(move)
