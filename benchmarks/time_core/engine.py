"""
How a cron library is asked: the adapter that each of them implements.

Text becomes the library's own spelling and instants its own type before the clock starts; what it
returns becomes epoch seconds after the clock stopped. In between nothing stands between the loop
and the library but, where its interface needs one, a closure. An adapter takes the fastest public
way to a right answer, and one private way, in cronsim, which has no public one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from benchmarks.harness.protocol import Answer
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.time_core.cells import Cell

__all__ = ["Engine"]

InstantT = TypeVar("InstantT")
FoundT = TypeVar("FoundT")


class Engine(ABC, Generic[InstantT, FoundT]):
    """One library in one mode. `InstantT` is what it is asked with, `FoundT` what it answers."""

    distributions: tuple[str, ...] = ()
    reads_both_days_as_or: bool = True

    def spell(self, text: str) -> str:
        """The expression as this library writes it."""
        return text

    @abstractmethod
    def instant(self, text: str, zone: str, epoch: int) -> InstantT:
        """An instant as this library takes it for this schedule."""

    @abstractmethod
    def epoch(self, zone: str, found: FoundT) -> Answer:
        """What it answered, as epoch seconds."""

    @abstractmethod
    def parse(self, text: str) -> object:
        """Text to the state that later questions reuse, with nothing remembered."""

    @abstractmethod
    def next_of(self, text: str, zone: str) -> Callable[[InstantT], FoundT]:
        """The first occurrence after an instant, from state that is already parsed."""

    def first(self, text: str, zone: str, after: InstantT) -> FoundT:
        """The first occurrence after an instant, from text."""
        return self.next_of(text, zone)(after)

    def latest_of(self, text: str, zone: str) -> Callable[[InstantT], FoundT]:
        """The last occurrence before an instant."""
        raise Unsupported("it cannot search backwards")

    @abstractmethod
    def iterate(self, text: str, zone: str, after: InstantT, count: int) -> Sequence[FoundT]:
        """That many successive occurrences, from text."""

    def batch_job(self, cell: Cell) -> Job | None:
        """Many schedules at one instant in one call; None when the library has no such thing."""
        return None

    def decide_job(self, cell: Cell) -> Job:
        """The cost of a decision."""
        raise Unsupported("it makes no decisions")
