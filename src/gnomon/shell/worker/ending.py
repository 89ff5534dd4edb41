"""
How does a worker have runs ended, and claims come to nothing?

Ending a run may take as long as its grace, so it happens beside the turns, and says when it is
done. A launcher that does not have a run can say that it is over only if this worker is alone: else
it may go on elsewhere, and is not called over. The worker asks the ledger which runs callers want
ended, at most once a second unless it is woken or must know at once. The worker that sees a run
that none holds ends it through the launcher, and reports its end, because no other does so for
certain. A run that cannot be ended is listed again.

A run that takes the place of others waits until they are over. Of another worker's runs it cannot
end any, and then it fails to launch.

Spec: RUN-8, ASK-9, ASK-11, ASK-15, ASK-18.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Ended, Failed, Launcher, Ledger, ToEnd
from gnomon.shell.clock import Reading
from gnomon.shell.observe.counts import Telemetry
from gnomon.shell.observe.log import log
from gnomon.shell.worker.held_run import IN_LAUNCHER, HeldEvent, HeldRun, HeldState
from gnomon.shell.worker.held_runs import HeldRuns
from gnomon.shell.worker.reports import Reports

__all__ = ["KILLS_MS", "Ending"]

KILLS_MS = 1_000
"""How often a worker asks what is to be ended, unless it is woken."""


class Ending:
    """What one worker is about to end."""

    def __init__(
        self, ledger: Ledger, launcher: Launcher, owner: str, runs: HeldRuns, reports: Reports,
        telemetry: Telemetry, wake: Callable[[], None],
    ) -> None:  # fmt: skip
        self._ledger, self._launcher, self._owner = ledger, launcher, owner
        self._runs, self._reports, self._telemetry = runs, reports, telemetry
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

    async def see_kills(self, at: Reading, *, at_once: bool = False) -> None:
        """End the runs that callers want ended, if this worker holds them or none does."""
        for key, fence, detached in await self._to_end(at, at_once=at_once):
            run = self._runs.get(key, fence)
            if detached or (run is not None and run.state in IN_LAUNCHER):
                self._kill(key, fence, detached=detached)
            elif run is not None and run.may_be_withdrawn:
                message = "ended before it began"
                failed = Failed(key, fence, message, permanent=True, reason=Reason.KILLED)
                self.fail(run, HeldEvent.KILLED, failed)
                # An earlier try may be running: then any worker may end it from now on.
                self.is_called |= run.claim.launches > 1

    def make_room(self, run: HeldRun) -> None:
        """End what is in the way of a claim; then it is ready, or has failed."""
        claim = run.claim
        mine = [one for one in claim.replaces if one[0] in claim.detached or self._is_mine(*one)]
        self._do_beside(self._make_room(run, mine))

    def end_lost(self, run: HeldRun) -> None:
        """End what may go on here of a run that is not this worker's any more."""
        self._do_beside(self._end_lost(run))

    def fail(self, run: HeldRun, event: HeldEvent, failed: Failed) -> None:
        """A claim comes to nothing."""
        self._telemetry.launches_failed += 1
        if run.state is not HeldState.GONE:
            self._runs.move(run, event)
        self._reports.add_end(failed)
        log(
            logging.WARNING, "launch failed", schedule=run.claim.schedule.schedule_id, key=run.key,
            message=failed.message, permanent=failed.permanent,
        )  # fmt: skip

    async def _to_end(self, at: Reading, *, at_once: bool) -> list[ToEnd]:
        """The runs that callers want ended: this worker's, and those that no worker holds."""
        asked_ms = self._asked_ms
        is_early = asked_ms is not None and at.monotonic_ms < asked_ms + KILLS_MS
        self._is_due = self.is_called or not is_early
        if self._is_due:
            self.is_called, self._asked_ms = False, at.monotonic_ms
        elif not at_once:
            return []
        return await self._ledger.to_end(owner=self._owner)

    def _kill(self, key: str, fence: int, *, detached: bool) -> None:
        """End a run, unless that is under way already, or it was tried a moment ago."""
        if self._is_due and (key, fence) not in self._being_killed:
            self._being_killed.add((key, fence))
            self._do_beside(self._end_killed(key, fence, detached=detached))

    async def _end_killed(self, key: str, fence: int, *, detached: bool) -> None:
        if detached:
            await self._end_detached(key, fence, Reason.KILLED)
        else:
            await self._end(key, Reason.KILLED)  # its end is reported as any other
        self._being_killed.discard((key, fence))
        self._wake()

    async def _end_lost(self, run: HeldRun) -> None:
        over = await self._end(run.key, Reason.UNCERTAIN, is_mine=True)
        if over and run.state is HeldState.LOST:
            self._runs.move(run, HeldEvent.ENDED)

    async def _make_room(self, run: HeldRun, mine: list[tuple[str, int]]) -> None:
        claim = run.claim
        ends = [
            self._end_detached(key, fence, Reason.REPLACED)
            if key in claim.detached
            else self._replace(key, fence)
            for key, fence in mine
        ]
        if self._runs.in_launcher(claim.key) is not None:
            ends.append(self._end(claim.key, Reason.UNCERTAIN, is_mine=True))
        # A run under another number is another worker's, and cannot be ended here.
        over = all(await asyncio.gather(*ends)) and len(mine) == len(claim.replaces)
        if run.state is HeldState.BLOCKED:  # else it was lost, or replaced in its turn
            if over:
                self._runs.move(run, HeldEvent.CLEARED)
            else:
                message = "the run in flight could not be ended"
                failed = Failed(claim.key, claim.fence, message, permanent=False)
                self.fail(run, HeldEvent.NOT_CLEARED, failed)
        self._wake()

    def _is_mine(self, key: str, fence: int) -> bool:
        """Whether this worker has a run, or its claim, or knows that it is over."""
        run = self._runs.get(key, fence)
        if run is None:
            return self._reports.has_end(key, fence)
        return run.state is not HeldState.PARKED

    async def _replace(self, key: str, fence: int) -> bool:
        """End a run that is this worker's, if it is not over by now."""
        run, in_launcher = self._runs.get(key, fence), self._runs.in_launcher(key)
        if in_launcher is not None and in_launcher is not run:
            return False  # a later try of it is there
        if run is not None and run.state is HeldState.LAUNCHING:
            return False  # it cannot be ended in this very moment
        if run is not None and run.may_be_withdrawn:
            return await self._give_way(run)
        # What is not known to be over is ended: a launch that has failed since may have worked.
        over = self._reports.has_end(key, fence)
        return over or await self._end(key, Reason.REPLACED, is_mine=True)

    async def _give_way(self, run: HeldRun) -> bool:
        """Never start a claim that another takes the place of; whether none of its tries runs."""
        over = run.claim.launches == 1
        if not over:  # an earlier try may be running
            self._runs.move(run, HeldEvent.GAVE_WAY)
            over = await self._end(run.key, Reason.REPLACED)
            if run.state is not HeldState.GIVING_WAY:
                return over  # it was given back meanwhile
        message = "replaced before it began" if over else "an earlier try could not be ended"
        reason = Reason.SUPERSEDED if over else Reason.LAUNCH_FAILED
        event = HeldEvent.REPLACED if over else HeldEvent.NOT_CLEARED
        self.fail(run, event, Failed(run.key, run.fence, message, permanent=over, reason=reason))
        return over

    async def _end(self, key: str, reason: Reason, *, is_mine: bool = False) -> bool:
        """Whether a run is over now; the worker that has it reports its end."""
        try:
            over = await self._launcher.end(key, reason)
        except Exception as error:
            log(logging.ERROR, "the launcher failed", failure=error, key=key)
            return False
        return is_mine or self.is_alone if over is None else over

    async def _end_detached(self, key: str, fence: int, reason: Reason) -> bool:
        """End a run that no worker holds, and whose end no other reports for certain."""
        over = await self._end(key, reason)
        if over:
            self._reports.add_end(Ended(key, fence, False, reason.value, reason))
        return over

    def _do_beside(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self.beside.add(task)
        task.add_done_callback(self.beside.discard)
