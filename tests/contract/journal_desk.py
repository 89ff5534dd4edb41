"""
A desk to work on a journal from: the port's calls, with the small values that the tests speak of.

Nothing here knows which store is behind the port.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from gnomon.ports import Change, Entry, Event, Head, Journal, JournalOpener

__all__ = ["JournalDesk", "change", "start"]

_Result = TypeVar("_Result")


def start(task: str = "backup", t_ms: int = 1_000) -> Entry:
    """A run of this task was started."""
    return Entry(Event.RUN_START, t_ms, 1_772_323_200_000 + t_ms, task=task)


def change(
    *entries: Entry, owner: str = "anna", t_ms: int = 1_000, calls: int = 0, ended: bool = False,
    **records: str | None,
) -> Change:  # fmt: skip
    """A change by an owner, with the records it puts or removes."""
    wall_ms = 1_772_323_200_000 + t_ms
    return Change(
        identifier=owner, t_ms=t_ms, wall_ms=wall_ms, through_ms=wall_ms + 5, calls=calls,
        ended=ended, entries=entries, records=records,
    )  # fmt: skip


class JournalDesk:
    """A journal, its opener, and the loop they live in."""

    def __init__(self, runner: asyncio.Runner, opener: Callable[[int, str], JournalOpener]) -> None:
        self._runner = runner
        self._make = opener
        self._opener = opener(100, "default")
        self.journal: Journal = self.do(self._opener.open())

    def do(self, call: Coroutine[object, object, _Result]) -> _Result:
        return self._runner.run(call)

    def reopen(self, *, kept: int = 100) -> None:
        self.close()
        self._opener = self._make(kept, "default")
        self.journal = self.do(self._opener.open())

    def beside(self, namespace: str) -> Journal:
        """Another journal in the same store; the caller closes it."""
        return self.do(self._make(100, namespace).open())

    def again(self) -> Journal:
        """The same journal a second time, as another process would open it."""
        return self.do(self._make(100, "default").open())

    def close(self) -> None:
        self.do(self.journal.close())

    def acquire(self, made: Change, *, after: int = 0) -> int:
        return self.do(self.journal.acquire(made, after=after))

    def write(self, made: Change, *, fence: int = 1, number: int = 1) -> None:
        self.do(self.journal.write(made, fence=fence, number=number))

    def head(self) -> Head:
        return self.do(self.journal.head())

    def records(self) -> dict[str, str]:
        return self.do(self.journal.load())[1]

    def entries(self, *, after: int = 0, limit: int = 1000) -> list[Entry]:
        return self.do(self.journal.entries(after=after, limit=limit))

    def tasks(self) -> list[str]:
        """The tasks of the entries, in their order."""
        return [entry.task for entry in self.entries()]
