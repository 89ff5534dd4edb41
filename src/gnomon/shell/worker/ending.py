"""
How does a worker have runs ended?

Ending a run may take as long as its grace, so it happens beside the turns, and says when it is
done. A launcher that does not have a run can say that it is over only if this worker is alone: else
it may go on elsewhere, and is not called over. The worker asks the ledger which runs callers want
ended, at most once a second unless it is woken or must know at once. The worker that sees a run
that none holds ends it through the launcher, and reports its end, because no other does so for
certain. A run that cannot be ended is listed again.

Spec: ASK-9, ASK-11, ASK-15, ASK-18.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Ended, Launcher, Ledger, ToEnd
from gnomon.shell.observe.log import log
from gnomon.shell.worker.holding import Moment
from gnomon.shell.worker.reports import Reports

__all__ = ["KILLS_MS", "Ending"]

KILLS_MS = 1_000
"""How often a worker asks what is to be ended, unless it is woken."""


class Ending:
    """What one worker is about to end."""

    def __init__(
        self, ledger: Ledger, launcher: Launcher, owner: str, reports: Reports,
        wake: Callable[[], None],
    ) -> None:  # fmt: skip
        self._ledger, self._launcher, self._owner = ledger, launcher, owner
        self._reports = reports
        self._wake = wake
        self._being_killed: set[tuple[str, int]] = set()
        self._asked_ms: int | None = None
        self._is_due = True
        """Whether it was time to ask what is to be ended: what cannot be ended is tried then, and
        not whenever a claim has to know whether it may still start."""
        self.is_alone = False
        """Whether no other worker has runs of this ledger."""
        self.is_called = False
        """Whether the worker was woken: something outside has changed."""
        self.beside: set[asyncio.Task[None]] = set()

    async def to_end(self, at: Moment, *, at_once: bool) -> list[ToEnd]:
        """The runs that callers want ended: this worker's, and those that no worker holds."""
        asked_ms = self._asked_ms
        is_early = asked_ms is not None and at.monotonic_ms < asked_ms + KILLS_MS
        self._is_due = self.is_called or not is_early
        if self._is_due:
            self.is_called, self._asked_ms = False, at.monotonic_ms
        elif not at_once:
            return []
        return await self._ledger.to_end(owner=self._owner)

    def kill(self, key: str, fence: int, *, detached: bool) -> None:
        """End a run, unless that is under way already, or it was tried a moment ago."""
        if self._is_due and (key, fence) not in self._being_killed:
            self._being_killed.add((key, fence))
            self.do_beside(self._kill(key, fence, detached=detached))

    async def end(self, key: str, reason: Reason, *, is_mine: bool = False) -> bool:
        """Whether a run is over now; the worker that has it reports its end."""
        try:
            over = await self._launcher.end(key, reason)
        except Exception as error:
            log(logging.ERROR, "the launcher failed", failure=error, key=key)
            return False
        return is_mine or self.is_alone if over is None else over

    async def end_detached(self, key: str, fence: int, reason: Reason) -> bool:
        """End a run that no worker holds, and whose end no other reports for certain."""
        over = await self.end(key, reason)
        if over:
            self._reports.add_end(Ended(key, fence, False, reason.value, reason))
        return over

    def do_beside(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self.beside.add(task)
        task.add_done_callback(self.beside.discard)

    async def _kill(self, key: str, fence: int, *, detached: bool) -> None:
        if detached:
            await self.end_detached(key, fence, Reason.KILLED)
        else:
            await self.end(key, Reason.KILLED)  # its end is reported as any other
        self._being_killed.discard((key, fence))
        self._wake()
