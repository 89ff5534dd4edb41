"""
A clock that counts only what it is told to.

`time_job` reads a job's clock before and after a pass. Where a pass has parts that are not to be
counted (filling a database, waiting for a second to come), the job's clock is a meter: it stands
still but while it runs, or is moved on by hand, in nanoseconds or in whatever the cell is about.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns, process_time_ns

__all__ = ["Meter"]


class Meter:
    """Counts wall-clock time; the processor time of the last run stands beside it."""

    def __init__(self) -> None:
        self.total = 0
        self.processor_ns = 0

    def read(self) -> int:
        return self.total

    def add(self, amount: int) -> None:
        self.total += amount

    @contextmanager
    def running(self) -> Iterator[None]:
        wall, processor = perf_counter_ns(), process_time_ns()
        yield
        self.processor_ns = process_time_ns() - processor
        self.total += perf_counter_ns() - wall
