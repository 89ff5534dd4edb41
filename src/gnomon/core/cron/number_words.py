"""
How numbers and lists of them are said in English.

A set of values is said as a list, in which three or more neighbours are a range. A progression is a
set with one step between all its values. These are the words that the sentence for an expression
shares between its times and its days; what a value means is not known here.

Spec: DESC-1.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Progression", "join", "ordinal", "progression", "runs", "spans", "values"]

_RUN_MIN = 3
_PROGRESSION_MIN = 5


class Progression(NamedTuple):
    """Values from `first` to `last` with the same step between them."""

    first: int
    last: int
    step: int


def values(mask: int) -> list[int]:
    """The values of a bit mask, in order."""
    return [value for value in range(mask.bit_length()) if mask >> value & 1]


def join(parts: Sequence[str], word: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f" {word} ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `11th`, `23rd`."""
    suffix = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of each group of neighbours."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def spans(numbers: Sequence[int], say: Callable[[int], str] = str) -> str:
    """A list of values, such as `1, 5 to 9 and 13`."""
    parts = []
    for first, last in runs(numbers):
        if last - first + 1 >= _RUN_MIN:
            parts.append(f"{say(first)} to {say(last)}")
        else:
            parts += [say(number) for number in range(first, last + 1)]
    return join(parts)


def progression(numbers: Sequence[int]) -> Progression | None:
    """The step between values, when there is one and enough of them to be worth a word."""
    if len(numbers) < _PROGRESSION_MIN:
        return None
    step = numbers[1] - numbers[0]
    if any(later - sooner != step for sooner, later in pairwise(numbers)):
        return None
    return Progression(numbers[0], numbers[-1], step)
