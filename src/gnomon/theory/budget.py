"""
Budgets: how much compute may go by before a scheduler has answered, and the least that a trace
keeps to.

An answer to an input of |X| bits may take `a |X| + b` units of compute, not counting the busiest
`lag_ms` milliseconds since the question. Without any record of compute the lag alone counts, as
time on the clock. The size of an input is eight bits for each byte of its shortest JSON, and the
time of the question adds the bits of its number.

The numbers a, b and lag are witnesses. To fit them to a trace, a line `a X + b` is laid above the
worst answer to each size X of input, as low as it can be at the mean size.

Spec: THEORY-8, THEORY-9.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from gnomon.trace import Registration, Witnesses

__all__ = ["WITNESSES", "allowance", "excess", "fit", "list_bits", "time_bits"]

WITNESSES = Witnesses(a=0.0, b=0.0, lag_ms=60_000)
"""What is asked of a scheduler that publishes nothing else: to answer within one minute."""

Point = tuple[int, int]


def list_bits(registrations: tuple[Registration, ...]) -> int:
    """The size of a list of registrations, in bits."""
    return 8 * len(json.dumps(registrations, separators=(",", ":")))


def time_bits(t: int) -> int:
    """The size of an instant, in bits: its sign and its digits."""
    return 1 + abs(t).bit_length()


def allowance(witnesses: Witnesses, bits: int, t: int) -> float:
    """The units of compute for an input of so many bits that is given at `t`."""
    return witnesses.a * (bits + time_bits(t)) + witnesses.b


def excess(spent: Iterable[tuple[int, int]], lag_ms: int) -> int:
    """What is left of (t, units) without the `lag_ms` milliseconds in which most was spent."""
    ticks = Counter[int]()
    for t, units in spent:
        ticks[t] += units
    if len(ticks) <= lag_ms:
        return 0
    return sum(sorted(ticks.values())[: len(ticks) - lag_ms])


def fit(worst: Mapping[int, int], worst_ms: int, *, is_metered: bool) -> Witnesses:
    """From the most compute that an answer took for each size, and the longest time of any."""
    if not is_metered or not worst:
        return Witnesses(0.0, 0.0, 0 if is_metered else worst_ms)
    points = sorted(worst.items())
    hull = _upper_hull(points)
    mean = sum(size for size, _ in points) / len(points)
    flat = Witnesses(0.0, float(max(worst.values())), 0)
    lines = [flat, *(_line(*edge) for edge in pairwise(hull))]
    possible = [line for line in lines if line.a >= 0 and line.b >= 0 and _covers(line, points)]
    return min(possible, key=lambda line: line.a * mean + line.b)


def _line(left: Point, right: Point) -> Witnesses:
    a = (right[1] - left[1]) / (right[0] - left[0])
    return Witnesses(a, left[1] - a * left[0], 0)


def _covers(line: Witnesses, points: Sequence[Point]) -> bool:
    # Rounding may leave a line a hair too low; such a one is no witness.
    return all(took <= line.a * size + line.b for size, took in points)


def _upper_hull(points: Sequence[Point]) -> list[Point]:
    hull: list[Point] = []
    for point in points:
        while len(hull) > 1 and _is_below(hull[-1], hull[-2], point):
            hull.pop()
        hull.append(point)
    return hull


def _is_below(middle: Point, left: Point, right: Point) -> bool:
    rise = (middle[1] - left[1]) * (right[0] - left[0])
    return rise <= (right[1] - left[1]) * (middle[0] - left[0])
