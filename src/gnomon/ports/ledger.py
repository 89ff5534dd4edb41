"""
The ledger as a contract: where the facts about periods are kept.

Each call is one transaction. Every implementation passes the suite of tests/contract. What goes in
and comes out is in `ledger_rows`.

Spec: PORT-1 to PORT-9, ASK-1, ASK-2, ASK-7 to ASK-11, ASK-15.
"""

from collections.abc import Sequence
from typing import Protocol

from gnomon.core.engine import Change, Due
from gnomon.core.schedule import Schedule
from gnomon.ports.ledger_rows import (
    Breach,
    By,
    Committed,
    Expected,
    Held,
    Judged,
    LogRow,
    Only,
    Renewal,
    Report,
    RevisionRow,
    RunRow,
    RunsOnly,
    RunsPlace,
    Saved,
    ScheduleRow,
    ToEnd,
)

__all__ = ["Ledger"]


class Ledger(Protocol):
    """
    Where the facts are kept.

    Each method is one transaction: all of it happens, or nothing. A method that raises has done
    nothing, or cannot know, and may be called again; every write is guarded by a version or a
    fencing number, so that doing it twice does it once.
    """

    async def load(self, *, now_ms: int, limit: int) -> list[Due]:
        """
        The schedules to look at: those whose wake has come, and those with lost runs.

        A schedule that was deleted comes with its lost runs, which are all that is left to settle.
        """
        ...

    async def commit(
        self, changes: Sequence[Change], *, owner: str, confirmed: bool, now_ms: int
    ) -> Committed:
        """
        Write the changes whose schedule still has its version; return them and the claims won.

        A change is written as a whole or, when another worker was faster, not at all. `confirmed`
        says that a claim without a report of its launch will certainly not have been started.
        """
        ...

    async def report(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        """
        Write what launchers said; False for each report that came with an old fencing number.

        A launch that is told after its end says what the end did not: what the run is called, and
        when it began. Where claims are confirmed it is refused, because nothing may begin any more.
        """
        ...

    async def renew(self, runs: Sequence[Held], *, owner: str, now_ms: int) -> list[Renewal]:
        """Extend the leases of runs; say of each what became of it."""
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

    async def save(
        self, schedule: Schedule, *, now_ms: int, by: By | None = None,
        if_revision: int | None = None,
    ) -> Saved:  # fmt: skip
        """
        Add or replace a definition; nothing before `now_ms` is owed.

        `ConflictError` when the caller asks and it belongs to another than the definition says, or
        when it is not at that revision; 0 for one that is not there.
        """
        ...

    async def save_all(
        self, schedules: Sequence[Schedule], *, now_ms: int, by: By | None = None,
        removed: Sequence[str] = (),
    ) -> list[Saved]:  # fmt: skip
        """Save many, each id once, and delete others: all of it, or nothing."""
        ...

    async def pause(
        self, schedule_id: str, *, until_ms: int | None, reason: str, now_ms: int,
        by: By | None = None,
    ) -> bool:  # fmt: skip
        """Pause until an instant, or until further notice; False when there is no such schedule."""
        ...

    async def resume(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        """End a pause now; False when there is no such schedule."""
        ...

    async def delete(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> bool:
        """Forget a schedule and keep its history; False when there is none."""
        ...

    async def trigger(
        self, schedule_id: str, *, name: str, now_ms: int, by: By | None = None,
        nominal: int | None = None, params: str | None = None,
    ) -> RunRow | None:  # fmt: skip
        """
        Have a run by hand start now; None when there is no such schedule.

        It stands for this instant, or for `nominal`, and keeps the text of what it is given.
        The same name again asks for nothing new, and is answered with what became of it.
        """
        ...

    async def backfill(
        self, schedule_id: str, *, name: str, nominals: Sequence[int], now_ms: int,
        by: By | None = None,
    ) -> int | None:  # fmt: skip
        """Have a run for each of these instants; how many are new, None without a schedule."""
        ...

    async def skip_next(self, schedule_id: str, *, now_ms: int, by: By | None = None) -> int | None:
        """Leave out the next period that lies ahead; its nominal instant, None for nothing."""
        ...

    async def kill(self, key: str, *, by: By, now_ms: int) -> RunRow | None:
        """
        Have a run ended: at once when it never began, else by who holds it, or by anybody.

        None when there is none. What is over stays as it is; nothing else is started again.
        """
        ...

    async def to_end(self, *, owner: str) -> list[ToEnd]:
        """The runs that are to be ended: this worker's, and those that no worker holds."""
        ...

    async def run(self, key: str) -> RunRow | None:
        """One row."""
        ...

    async def schedules(
        self, *, after: str = "", limit: int = 100, only: Only | None = None
    ) -> list[ScheduleRow]:
        """Schedules in the order of their ids, from the one after `after`."""
        ...

    async def get(self, schedule_id: str) -> ScheduleRow | None:
        """One schedule."""
        ...

    async def runs(
        self, schedule_id: str, *, before: int | None = None, before_key: str = "", limit: int = 100
    ) -> list[RunRow]:
        """
        The rows of a schedule, newest nominal first, those before `before`.

        With a key, also those at that very instant whose keys are smaller, so that a page can end
        among rows of one instant.
        """
        ...

    async def find_runs(
        self, only: RunsOnly, *, after: RunsPlace | None = None, limit: int = 100
    ) -> list[RunRow]:
        """Runs of all schedules: open ones, newest nominal first, then the last ended first."""
        ...

    async def covering(self, schedule_id: str, nominal: int) -> list[RunRow]:
        """The rows of one instant: the period's, or the range's that holds it, and others."""
        ...

    async def revisions(
        self, schedule_id: str, *, before: int | None = None, limit: int = 100
    ) -> list[RevisionRow]:
        """The definitions that a schedule had, newest first, those before `before`."""
        ...

    async def log(
        self, *, schedule_id: str | None = None, user_id: str | None = None,
        before: int | None = None, limit: int = 100,
    ) -> list[LogRow]:  # fmt: skip
        """Who changed what, newest first, before line `before`."""
        ...

    async def expected(self, *, now_ms: int, limit: int) -> list[Expected]:
        """The schedules whose expectations are to be looked at by now."""
        ...

    async def judge(self, one: Expected, judged: Judged, *, now_ms: int) -> Sequence[Breach]:
        """Write down what was found; return the breaches that were not noted before."""
        ...

    async def retain(self, *, before_ms: int, limit: int) -> int:
        """Remove up to `limit` finished rows that ended before an instant; say how many."""
        ...

    async def close(self) -> None:
        """Let go of the store."""
        ...
