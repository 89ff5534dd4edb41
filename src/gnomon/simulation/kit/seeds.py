"""
How do worlds follow from seeds, and how is one of them told, whatever is simulated?

A seed stands for one world or for many: the same world once for each way to die in it. A campaign
goes on from seed to seed and meets all of them. A world in which a promise was broken is told with
the line that lets it happen once more.

Spec: SIM-1.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TypeVar

from gnomon.simulation.kit.faults import Fault

__all__ = ["endless", "replay_of", "trouble", "whole_seeds"]

_Spec = TypeVar("_Spec")


def endless(of_seed: Callable[[int], Iterable[_Spec]], first_seed: int) -> Iterator[_Spec]:
    """The worlds of each seed, from one on, without end."""
    for seed in count(first_seed):
        yield from of_seed(seed)


def whole_seeds(
    of_seed: Callable[[int], Iterable[_Spec]], first_seed: int, least: int
) -> Iterator[_Spec]:
    """All worlds of a seed, and of the next, until there were at least so many."""
    seen = 0
    for seed in count(first_seed):
        for spec in of_seed(seed):
            seen += 1
            yield spec
        if seen >= least:
            return


def replay_of(kind: str, seed: int, faults: Iterable[Fault]) -> str:
    """The command that lets a world happen once more; with `faults` where they were not drawn."""
    line = f"python -m gnomon.simulation {kind} --seed {seed}"
    named = ",".join(map(str, faults))
    return f"{line} --faults {named}" if named else line


def trouble(complaints: Sequence[object], line: str) -> str:
    """The first complaint about a world, how many more there are, and how to see it again."""
    more = len(complaints) - 1
    return f"{complaints[0]} (and {more} more): {line}" if more else f"{complaints[0]}: {line}"
