"""What an adapter offers to the benchmark: it turns a cell into a job, or refuses it."""

from typing import Protocol

from benchmarks.harness.timing import Job
from benchmarks.theory.cells import Cell

__all__ = ["Engine"]


class Engine(Protocol):
    distributions: tuple[str, ...]

    def job(self, cell: Cell) -> Job:
        """The cell made ready, up to the first thing that is timed."""
        ...
