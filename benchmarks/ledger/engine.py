"""
What an adapter offers to the benchmark, and how the lateness of many callbacks is told.

An engine turns a cell into a job, or refuses with `Unsupported` what it does not have. It keeps its
files in the directory it is given.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.ledger.cells import Cell

__all__ = ["Engine", "fire_facts", "lateness_facts", "percentile"]


class Engine(Protocol):
    distributions: tuple[str, ...]

    def __init__(self, directory: Path) -> None: ...

    def job(self, cell: Cell) -> Job:
        """The cell made ready, up to the first thing that is timed."""
        ...


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def fire_facts(meter: Meter, cell: Cell) -> dict[str, float]:
    """The processor time of a period in the last pass, beside its wall-clock time."""
    return {"processor us": round(meter.processor_ns / cell.due / 1000, 2)}


def lateness_facts(late_ns: Sequence[int], *, due: int) -> dict[str, float]:
    """What is told about callbacks that began so long after their nominal instant."""
    ms = [ns / 1e6 for ns in late_ns]
    return {
        "p50 ms": round(percentile(ms, 0.5), 1),
        "p99 ms": round(percentile(ms, 0.99), 1),
        "max ms": round(max(ms), 1),
        "dropped": due - len(ms),
    }
