"""
How much longer one engine takes than another, over many cells: the geometric mean and the worst
cell.

Only cells that both engines answered count. Ratios, not times, are what a noisy machine leaves
intact.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Comparison", "compare", "geometric_mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`ratio` is other / subject: above 1 the subject is faster."""

    ratio: float
    worst: float
    worst_cell: str
    cells: int
    subject_ns: float
    other_ns: float


def geometric_mean(values: Iterable[float]) -> float:
    """The nth root of the product; of nothing, it is an error."""
    logarithms = [math.log(value) for value in values]
    if not logarithms:
        raise ValueError("the geometric mean of no values")
    return math.exp(math.fsum(logarithms) / len(logarithms))


def compare(subject: Mapping[str, float], other: Mapping[str, float]) -> Comparison | None:
    """Nanoseconds by cell on both sides; None when they have no cell in common."""
    shared = [cell for cell in subject if cell in other]
    if not shared:
        return None
    ratios = {cell: other[cell] / subject[cell] for cell in shared}
    worst_cell = min(ratios, key=ratios.__getitem__)
    return Comparison(
        ratio=geometric_mean(ratios.values()),
        worst=ratios[worst_cell],
        worst_cell=worst_cell,
        cells=len(shared),
        subject_ns=geometric_mean(subject[cell] for cell in shared),
        other_ns=geometric_mean(other[cell] for cell in shared),
    )
