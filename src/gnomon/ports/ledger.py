"""
The ledger as a contract: where the facts about periods are kept, and what a launcher reports.

Each call is one transaction. Whoever implements it passes the suite of tests/contract.

Spec: PORT-1 to PORT-6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from gnomon.core.engine import Change, Due, Pause
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.core.schedule import Schedule

__all__ = [
    "Claim",
    "Ended",
    "Failed",
    "Launched",
    "Ledger",
    "Report",
    "RunRow",
    "Saved",
    "ScheduleRow",
]


class Claim(NamedTuple):
    """A run that this worker has claimed and may start, now that the claim is committed."""

    schedule: Schedule
    key: str
    nominal: int
    fire_ms: int
    launches: int
    fence: int
    replaces: tuple[tuple[str, int], ...]
    """Keys and fencing numbers of runs that are to be ended first."""


class Launched(NamedTuple):
    """A launcher has started a run."""

    key: str
    fence: int
    run_id: str
    """What the launcher calls it; a process writes its pid and start time here."""


class Failed(NamedTuple):
    """A launcher could not start a run; it certainly did not start."""

    key: str
    fence: int
    message: str
    permanent: bool
    """Whether trying again cannot help."""
    reason: Reason = Reason.LAUNCH_FAILED
    """`superseded` for a claim that another took the place of before it began."""


class Ended(NamedTuple):
    """A run has ended."""

    key: str
    fence: int
    success: bool
    detail: str
    """Exit status, exception or the like, in one line."""
    reason: Reason | None = None
    run_id: str | None = None
    started_ms: int | None = None
    """When it began. This and its id, from a launcher that does not confirm starts: its report of
    the launch is dropped when the run is over before it was written."""


Report = Launched | Failed | Ended


class Saved(NamedTuple):
    """What saving a definition did."""

    schedule_id: str
    revision: int
    changed: bool
    """False when an equal definition was there already."""
    next_nominal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRow:
    """A schedule as the ledger has it."""

    schedule: Schedule
    revision: int
    version: int
    cursor: int
    wake_ms: int | None
    pause: Pause | None
    pause_reason: str
    in_flight: int
    created_ms: int
    updated_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A row of the ledger: a period, or a range of periods, and what became of it."""

    key: str
    schedule_id: str
    nominal: int
    last_nominal: int
    """0 unless the row stands for a range."""
    periods: int
    fire_ms: int
    state: State
    outcome: Outcome | None
    reason: Reason | None
    status: Status | None
    launches: int
    fence: int
    owner: str | None
    lease_ms: int | None
    run_id: str | None
    detail: str | None
    revision: int
    started_ms: int | None
    ended_ms: int | None
    created_ms: int
    updated_ms: int


class Ledger(Protocol):
    """
    Where the facts are kept.

    Each method is one transaction: all of it happens, or nothing. A method that raises has done
    nothing, or cannot know, and may be called again; every write is guarded by a version or a
    fencing number, so that doing it twice does it once.
    """

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        """The schedules to look at: those whose wake has come, and those with lost runs."""
        ...

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> list[Claim]:
        """
        Write the changes whose schedule still has its version; return the claims that were won.

        A change is written as a whole or, when somebody was faster, not at all. `confirmed` says
        that a claim without a report of its launch will certainly not have been started.
        """
        ...

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        """Write what launchers said; False for each report that came with an old fencing number."""
        ...

    async def renew(
        self, claims: Sequence[tuple[str, int]], *, owner: str, now_ms: int
    ) -> list[bool]:
        """Extend the leases of (key, fence); False for each that is no longer this worker's."""
        ...

    async def orphans(self, *, owner: str) -> list[RunRow]:
        """The runs in flight of other workers."""
        ...

    async def recover(
        self, *, owner: str, adopted: Sequence[str], now_ms: int
    ) -> list[tuple[str, int]]:
        """
        This worker owns the store alone: every run in flight of others is lost at once.

        Except those with a key in `adopted`, which become this worker's: (key, new fence).
        """
        ...

    async def next_wake_ms(self) -> int | None:
        """The earliest instant at which `load` will find something; None for never."""
        ...

    async def save(self, schedule: Schedule, *, now_ms: int) -> Saved:
        """Add or replace a definition; nothing before `now_ms` is owed."""
        ...

    async def pause(
        self, schedule_id: str, *, until_ms: int | None, reason: str, now_ms: int
    ) -> bool:
        """Pause until an instant, or until further notice; False when there is no such schedule."""
        ...

    async def resume(self, schedule_id: str, *, now_ms: int) -> bool:
        """End a pause now; False when there is no such schedule."""
        ...

    async def delete(self, schedule_id: str, *, now_ms: int) -> bool:
        """Forget a schedule and keep its history; False when there is none."""
        ...

    async def schedules(self, *, after: str = "", limit: int = 100) -> list[ScheduleRow]:
        """Schedules in the order of their ids, from the one after `after`."""
        ...

    async def get(self, schedule_id: str) -> ScheduleRow | None:
        """One schedule."""
        ...

    async def runs(
        self, schedule_id: str, *, before: int | None = None, limit: int = 100
    ) -> list[RunRow]:
        """The rows of a schedule, newest nominal first, those before `before`."""
        ...

    async def retain(self, *, before_ms: int, limit: int) -> int:
        """Remove up to `limit` finished rows that ended before an instant; say how many."""
        ...

    async def close(self) -> None:
        """Let go of the store."""
        ...
