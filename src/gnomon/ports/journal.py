"""
The journal as a contract: what a declarative scheduler has done, and what it knows of its tasks.

A journal has one writer at a time. Each write carries the writer's fencing number and counts the
writes made under it, so that a former owner is refused, and a write whose answer was lost can be
asked about. The events and the task records they change are written together or not at all: the
journal is the trace. Records are texts here; what stands in them is the scheduler's business.

Spec: JOURNAL-1 to JOURNAL-8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

__all__ = [
    "Change", "Entry", "Event", "Head", "Journal", "JournalOpener", "JournalView", "Looked",
    "Registered", "Stretch",
]  # fmt: skip


class Event(StrEnum):
    """What can be observed of a scheduler; the values are the names of a trace's events."""

    INIT_START = "InitStart"
    INIT_SUCCESS = "InitSuccess"
    INIT_FAILURE = "InitFailure"
    STOP_START = "StopStart"
    STOP_END = "StopEnd"
    RUN_START = "RunStart"
    RUN_SUCCESS = "RunSuccess"
    RUN_FAILURE = "RunFailure"
    UNEXPECTED_SHUTDOWN = "UnexpectedShutdown"


class Registered(NamedTuple):
    """A registration as a trace knows it."""

    name: str
    cron: str
    retry_ms: int


class Entry(NamedTuple):
    """One event, at one instant on two clocks."""

    event: Event
    t_ms: int
    """Time that never goes back, continued from one owner to the next."""
    wall_ms: int
    """What the clock on the wall showed."""
    task: str = ""
    call: int = 0
    registrations: tuple[Registered, ...] = ()
    detail: str = ""
    """Why a run was started, or how it failed: one line, for people."""
    number: int = 0
    """Its place in the journal, from 1; 0 until it is written."""


class Stretch(NamedTuple):
    """Instants of the clock on the wall that were looked at one after the other, in ms."""

    first_ms: int
    last_ms: int
    is_left: bool = False
    """Whether the clock was set back before it since: what was due in it is settled for all."""


class Looked(NamedTuple):
    """What a scheduler has seen of the clock on the wall."""

    stretches: tuple[Stretch, ...] = ()
    """In the order of time; what lies between was leapt over."""
    fresh_ms: int | None = None
    """The beginning of the present minute, if it has come for the first time."""


class Head(NamedTuple):
    """How far a journal has come, and who writes it."""

    fence: int = 0
    """The fencing number of the present owner; 0 before the first."""
    writes: int = 0
    """How often that owner has written."""
    identifier: str = ""
    ended: bool = True
    """Whether the owner has taken its leave."""
    t_ms: int = 0
    wall_ms: int = 0
    through_ms: int = 0
    """Up to here the clock on the wall had been looked at by the last write, from where it was."""
    calls: int = 0
    """The highest number of a call."""
    entries: int = 0
    """How many entries there have ever been."""
    looked: Looked = Looked()
    """What had been seen of the clock by the last write; nothing if that was not written yet."""


class JournalView(NamedTuple):
    """What a reader who owns nothing has seen of a journal, all at one instant."""

    entries: list[Entry]
    """The oldest may be gone: then the first has a number above 1."""
    records: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one write does, as a whole."""

    identifier: str
    t_ms: int
    wall_ms: int
    through_ms: int
    calls: int
    ended: bool = False
    looked: Looked = field(default_factory=Looked)
    entries: Sequence[Entry] = ()
    records: Mapping[str, str | None] = field(default_factory=dict)
    """The records that change, by name; None for one that is removed."""


class Journal(Protocol):
    """
    Where a declarative scheduler keeps its facts; the process that has one open owns it.

    Each method is one transaction. A write that raises has done nothing, or cannot know: `head`
    tells which.
    """

    @property
    def owner(self) -> str:
        """Who holds the store, in words for people."""
        ...

    async def load(self) -> tuple[Head, dict[str, str]]:
        """The head and all records, in one view."""
        ...

    async def head(self) -> Head:
        """How far the journal has come."""
        ...

    async def acquire(self, change: Change, *, after: int) -> int:
        """
        Become the owner that follows fencing number `after`; return the new number.

        `OwnershipLostError` when another was faster.
        """
        ...

    async def write(self, change: Change, *, fence: int, number: int) -> None:
        """
        Write as the owner with this fencing number; `number` is how often it has written then.

        A write that was made already is not made again. `OwnershipLostError` when the fencing
        number is not the present one, and then nothing is written.
        """
        ...

    async def entries(self, *, after: int = 0, limit: int = 1000) -> list[Entry]:
        """Entries in their order, from the one after `after`; the oldest may be gone."""
        ...

    async def close(self) -> None:
        """Let go of the store, and of its ownership."""
        ...


class JournalOpener(Protocol):
    """What a scheduler gets its journal from, each time it is initialized."""

    @property
    def name(self) -> str:
        """The store, in words for people."""
        ...

    async def open(self) -> Journal:
        """Open and own the journal; `StoreHeldError` when another process owns it."""
        ...
