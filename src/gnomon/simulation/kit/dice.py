"""
Chance that can be repeated: every draw of a world follows from its seed.

A stream is named by what it is for, so that a draw more in one place moves no draw in another.

Spec: SIM-1.
"""

from collections.abc import MutableSequence, Sequence
from hashlib import sha256
from typing import TypeVar

from gnomon.core.decision.draw import SplitMix64
from gnomon.core.decision.seed import state_of

__all__ = ["Dice"]

_T = TypeVar("_T")


class Dice:
    """A stream of draws, named by a seed and a purpose."""

    __slots__ = ("_stream",)

    def __init__(self, *name: object) -> None:
        text = ":".join(str(part) for part in name)
        self._stream = SplitMix64(state_of(sha256(text.encode()).digest()))

    def below(self, limit: int) -> int:
        """A number from 0 to limit - 1."""
        return self._stream.next_word() % limit

    def between(self, first: int, last: int) -> int:
        """A number from first to last, both included."""
        return first + self.below(last - first + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def pick(self, choices: Sequence[_T]) -> _T:
        return choices[self.below(len(choices))]

    def shuffle(self, items: MutableSequence[_T]) -> None:
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]
