"""
Which worlds of a scenario are tried, and what came of many of them.

A scenario names its kinds of worlds, how a seed draws one and how it is run. A seed stands for one
world or, where processes only die, for many: a first world shows how many calls there are; then the
process dies at each of them, once, and at pairs of them, in an order that the seed draws. A world
in which a promise was broken is told with the line that lets it happen once more.

Spec: SIM-1.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count, islice
from typing import Generic, Protocol, TypeVar

from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import CRASHES, Fault, Kind, Step, crash_plans
from gnomon.simulation.kit.notes import Notes

__all__ = ["Deaths", "Scenario", "SteppedSpec", "Tally", "Trial", "WorldSpec"]

_CRASH = "crash"
"""The kind of worlds in which nothing goes wrong but that processes die."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """What decides everything that happens in a world, whatever its scenario adds."""

    world: StrEnum
    seed: int
    faults: tuple[Fault, ...] = ()

    def words(self) -> str:
        """What was not drawn, for the line that lets it happen again."""
        named = ",".join(map(str, self.faults)) if self.world == _CRASH else ""
        return f"--faults {named}" if named else ""

    def lines(self) -> Iterator[str]:
        """What was drawn, for a person."""
        yield f"faults: {','.join(map(str, self.faults))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SteppedSpec(WorldSpec):
    """And the clock on the wall may be set."""

    steps: tuple[Step, ...] = ()

    def lines(self) -> Iterator[str]:
        yield from WorldSpec.lines(self)
        yield f"clock: {','.join(map(str, self.steps))}"


class Trial(Protocol):
    """What came of a world."""

    @property
    def complaints(self) -> Sequence[object]: ...

    @property
    def notes(self) -> Notes: ...

    @property
    def calls(self) -> int:
        """How many calls there were while faults could happen."""
        ...

    @property
    def lasted_ms(self) -> int: ...

    @property
    def figures(self) -> Mapping[str, int]:
        """What else is counted, such as starts."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Deaths:
    """How the processes of a scenario die, where nothing else goes wrong."""

    kinds: Sequence[StrEnum] = CRASHES
    born_again: int
    """So many calls more a process makes that is born again."""
    apart_max: int
    """How many calls lie between two deaths."""
    plans_max: int | None = None
    """So many of the ways to die are tried with one seed, before the next seed's turn comes."""
    calls: int = 1
    """About as many as a small world has."""


@dataclass(slots=True)
class Tally:
    """What many worlds came to."""

    worlds: int = 0
    simulated_s: int = 0
    calls: int = 0
    troubles: list[str] = field(default_factory=list)
    """Each world in which a promise was broken, with the line that shows it again."""
    counters: Counter[str] = field(default_factory=Counter)
    figures: Counter[str] = field(default_factory=Counter)

    def add(self, trial: Trial, line: str) -> None:
        self.simulated_s += trial.lasted_ms // 1000
        self.calls += trial.calls
        self.counters.update(trial.notes.counters)
        self.figures.update(trial.figures)
        if trial.complaints:
            more = len(trial.complaints) - 1
            said = f"{trial.complaints[0]}" + (f" (and {more} more)" if more else "")
            self.troubles.append(f"{said}: {line}")


_W = TypeVar("_W", bound=StrEnum)
_D = TypeVar("_D", bound=WorldSpec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Generic[_W, _D]):
    """What is simulated: its worlds, how they are drawn and run, and how processes die in them."""

    name: str
    kinds: type[_W]
    draw: Callable[[_W, int], _D]
    run: Callable[[_D], Trial]
    deaths: Deaths
    strikes: type[StrEnum] = Kind
    """What can go wrong at a call."""

    def worlds(self, world: _W, first_seed: int) -> Iterator[_D]:
        """The worlds of a kind without end, from a seed on."""
        for seed in count(first_seed):
            yield from self._of_seed(world, seed)

    def whole_seeds(self, world: _W, first_seed: int, least: int) -> Iterator[_D]:
        """All worlds of a seed, and of the next, until there were at least so many."""
        seen = 0
        for seed in count(first_seed):
            for spec in self._of_seed(world, seed):
                seen += 1
                yield spec
            if seen >= least:
                return

    def crashes(self, seed: int) -> Iterator[_D]:
        """A world undisturbed, then dying once at each call, and at pairs of calls."""
        undisturbed = self.draw(self.kinds(_CRASH), seed)
        yield undisturbed
        plans = crash_plans(
            Dice(seed, "pairs"), calls=self.run(undisturbed).calls,
            born_again=self.deaths.born_again, apart_max=self.deaths.apart_max,
            deaths=self.deaths.kinds,
        )  # fmt: skip
        for faults in plans:
            yield replace(undisturbed, faults=faults)

    def sample(self, world: _W, seed: int) -> _D:
        """One world of a seed: for crashes undisturbed or dying once, by turns."""
        spec = self.draw(world, seed)
        if world != _CRASH or not seed % 3:
            return spec
        dice = Dice(seed, "sample")
        call, kind = dice.between(1, self.deaths.calls), dice.pick(self.deaths.kinds)
        return replace(spec, faults=(Fault(call, kind),))

    def replay_line(self, spec: _D) -> str:
        """The command that lets a world happen once more."""
        line = f"python -m gnomon.simulation {self.name} --world {spec.world} --seed {spec.seed}"
        return f"{line} {spec.words()}".rstrip()

    def tally(self, specs: Iterable[_D], into: Tally | None = None) -> Tally:
        """Let worlds happen and add up what came of them."""
        found = Tally() if into is None else into
        for spec in specs:
            found.worlds += 1
            line = self.replay_line(spec)
            try:
                found.add(self.run(spec), line)
            except Exception as error:  # of the judges too: who replays it sees where
                found.troubles.append(f"raised {error!r}: {line}")
        return found

    def _of_seed(self, world: _W, seed: int) -> Iterable[_D]:
        if world == _CRASH:
            return islice(self.crashes(seed), self.deaths.plans_max)
        return [self.draw(world, seed)]
