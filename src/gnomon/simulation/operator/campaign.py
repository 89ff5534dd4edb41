"""
Which worlds of the operator are tried, and what came of many of them.

- `crash`: a first world shows how many calls there are; then an operator dies before and after each
  of them, once, and at pairs of them, in an order that the seed draws.
- `storm`: late and lost answers, freezes, people, quotas and wrong clocks, all at once.
- `calendar`: four hours around a change of clocks, with edits of the zone.

Spec: OSIM-1, OSIM-7.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import crash_plans
from gnomon.simulation.kit.seeds import endless, replay_of, trouble
from gnomon.simulation.operator.plan import Spec, Strike, World, draw_spec
from gnomon.simulation.operator.world import run_world

__all__ = ["Tally", "crashes", "replay_line", "tally", "worlds"]

WORLDS_A_SEED = 60
"""So many of the ways to die are tried with one seed, before the next seed's turn comes."""
_DEATHS = (Strike.DIES_BEFORE, Strike.DIES_AFTER, Strike.LATE_DEAD)
_APART_MAX = 25


@dataclass(slots=True)
class Tally:
    """What many worlds came to."""

    worlds: int = 0
    simulated_s: int = 0
    calls: int = 0
    due: int = 0
    executions: int = 0
    candidates: int = 0
    troubles: list[str] = field(default_factory=list)
    """Each world in which a promise was broken, with the line that shows it again."""
    counters: Counter[str] = field(default_factory=Counter)


def worlds(world: World, first_seed: int) -> Iterator[Spec]:
    """The worlds of a kind without end, from a seed on."""
    return endless(partial(_of_seed, world), first_seed)


def crashes(seed: int) -> Iterator[Spec]:
    """A world undisturbed, then dying once at each call, and at pairs of calls."""
    undisturbed = draw_spec(World.CRASH, seed)
    yield undisturbed
    plans = crash_plans(
        Dice(seed, "pairs"), calls=run_world(undisturbed).calls, born_again=_APART_MAX,
        apart_max=_APART_MAX, deaths=_DEATHS,
    )  # fmt: skip
    for faults in plans:
        yield replace(undisturbed, faults=faults)


def replay_line(spec: Spec) -> str:
    """The command that lets a world happen once more."""
    faults = spec.faults if spec.world is World.CRASH else ()
    return replay_of(f"operator --world {spec.world}", spec.seed, faults)


def tally(specs: Iterable[Spec]) -> Tally:
    """Let worlds happen and add up what came of them."""
    into = Tally()
    for spec in specs:
        trial = run_world(spec)
        into.worlds += 1
        into.simulated_s += trial.lasted_ms // 1000
        into.calls += trial.calls
        into.due += trial.due
        into.executions += trial.executions
        into.candidates += trial.candidates
        into.counters.update(trial.notes.counters)
        if trial.complaints:
            into.troubles.append(trouble(trial.complaints, replay_line(spec)))
    return into


def _of_seed(world: World, seed: int) -> Iterable[Spec]:
    return (
        islice(crashes(seed), WORLDS_A_SEED) if world is World.CRASH else [draw_spec(world, seed)]
    )
