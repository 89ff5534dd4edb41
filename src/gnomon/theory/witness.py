"""
Witnesses: the least budget under which a trace keeps the liveness axioms.

With compute in the trace, a line `a X + b` is laid above the worst answer to each size X of input,
as low as it can be at the mean size. Without compute there is only the lag.

Spec: THEORY-9.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from gnomon.trace import Witnesses

__all__ = ["fit"]

Point = tuple[int, int]


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
