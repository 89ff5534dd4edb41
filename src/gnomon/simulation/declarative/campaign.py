"""
Which worlds of the declarative scheduler are tried, and what came of many of them.

- `crash`: a first world shows how many calls of the journal there are; then the process dies before
  and after each of them, once, and at pairs of them, in an order that the seed draws.
- `storm`: crashes, lost answers, freezes, a clock that is set, and a program that stops and
  initializes at the worst moments.
- `long`: many hours, with trouble from time to time.

Spec: SIM-1, SIM-9, SIM-11.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from gnomon.simulation.declarative.plan import Spec, World, draw_spec
from gnomon.simulation.declarative.world import run_world
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import CRASHES, Fault, crash_plans
from gnomon.simulation.kit.seeds import endless, replay_of, trouble
from gnomon.simulation.kit.seeds import whole_seeds as whole_seeds_of

__all__ = ["Tally", "crashes", "replay_line", "sample", "tally", "whole_seeds", "worlds"]

_PAIR_DISTANCE_MAX = 12
_CALLS_OF_A_BIRTH = 4
_CALLS = 14  # about as many as a small world has
_HOUR_MS = 3_600_000


@dataclass(slots=True)
class Tally:
    """What many worlds came to."""

    worlds: int = 0
    simulated_s: int = 0
    calls: int = 0
    starts: int = 0
    events: int = 0
    troubles: list[str] = field(default_factory=list)
    """Each world in which a promise was broken, with the line that shows it again."""
    counters: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        self.worlds += other.worlds
        self.simulated_s += other.simulated_s
        self.calls += other.calls
        self.starts += other.starts
        self.events += other.events
        self.troubles += other.troubles
        self.counters += other.counters


def worlds(world: World, first_seed: int) -> Iterator[Spec]:
    """The worlds of a kind without end, from a seed on."""
    return endless(partial(_of_seed, world), first_seed)


def whole_seeds(world: World, first_seed: int, least: int) -> Iterator[Spec]:
    """All worlds of a seed, and of the next, until there were at least so many."""
    return whole_seeds_of(partial(_of_seed, world), first_seed, least)


def crashes(seed: int) -> Iterator[Spec]:
    """A world undisturbed, then dying once at each call, and at pairs of calls."""
    undisturbed = draw_spec(World.CRASH, seed)
    yield undisturbed
    calls = run_world(undisturbed).calls
    plans = crash_plans(
        Dice(seed, "pairs"), calls=calls,
        born_again=_CALLS_OF_A_BIRTH, apart_max=_PAIR_DISTANCE_MAX,
    )  # fmt: skip
    for faults in plans:
        yield replace(undisturbed, faults=faults)


def sample(world: World, seed: int) -> Spec:
    """One world of a seed: for crashes undisturbed or dying once, by turns."""
    spec = draw_spec(world, seed)
    if world is not World.CRASH or not seed % 3:
        return spec
    dice = Dice(seed, "sample")
    return replace(spec, faults=(Fault(dice.between(1, _CALLS), dice.pick(CRASHES)),))


def replay_line(spec: Spec) -> str:
    """The command that lets a world happen once more."""
    faults = spec.faults if spec.world is World.CRASH else ()
    line = replay_of(f"declarative --world {spec.world}", spec.seed, faults)
    if spec.world is World.LONG:
        line += f" --tasks {len(spec.lists[0])} --hours {spec.length_ms // _HOUR_MS}"
    return line


def tally(specs: Iterable[Spec]) -> Tally:
    """Let worlds happen and add up what came of them."""
    into = Tally()
    for spec in specs:
        trial = run_world(spec)
        into.worlds += 1
        into.simulated_s += trial.lasted_ms // 1000
        into.calls += trial.calls
        into.starts += trial.starts
        into.events += trial.events
        into.counters.update(trial.notes.counters)
        if trial.complaints:
            into.troubles.append(trouble(trial.complaints, replay_line(spec)))
    return into


def _of_seed(world: World, seed: int) -> Iterator[Spec]:
    if world is World.CRASH:
        yield from crashes(seed)
    else:
        yield draw_spec(world, seed)
