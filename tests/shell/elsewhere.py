"""A runtime whose runs live elsewhere, with a launcher that does as the test says."""

import asyncio
from collections.abc import Sequence

from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.schedule_record import read_schedule
from gnomon.ports import By, Claim, Failed, Launched, Report, Strained
from gnomon.shell.worker.runtime import Runtime
from tests.shell.faulty_ledger import FaultyLedger
from tests.shell.virtual_time import VirtualClock
from tests.shell.worker_world import every_minute

__all__ = ["Elsewhere", "Outside"]


class Elsewhere:
    """A launcher whose runs live elsewhere; a launch takes as long as the test says."""

    confirms_start = False

    def __init__(self, *, takes_ms: int = 0, detached_ms: int | None = 600_000) -> None:
        self.takes_ms = takes_ms
        self.detached_ms = detached_ms
        self.refuses = False
        self.unanswered = 0
        """How many launches from now on are not answered."""
        self.can_end = True
        self.ends_ms = 0
        """How long it takes to end a run."""
        self.said: list[str] = []
        self._reports: asyncio.Queue[Report] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()

    async def launch(self, claim: Claim) -> Launched | Failed | Strained | None:
        self.said.append(f"launch {claim.key[:6]} {claim.launches}")
        if self.unanswered:
            self.unanswered -= 1
            message, reason = "no answer", Reason.UNCERTAIN
            return Failed(claim.key, claim.fence, message, permanent=False, reason=reason)
        if not self.takes_ms:
            return Launched(claim.key, claim.fence, "run 7", self.detached_ms)
        task = asyncio.create_task(self._launch(claim))
        self._tasks.add(task)
        return None

    async def _launch(self, claim: Claim) -> None:
        await asyncio.sleep(self.takes_ms / 1000)
        if self.refuses:
            await self._reports.put(Failed(claim.key, claim.fence, "no", permanent=False))
        else:
            launched = Launched(claim.key, claim.fence, "run 7", self.detached_ms)
            await self._reports.put(launched)

    async def release(self, key: str) -> None:
        """Nothing waits here."""

    async def adopt(self, key: str, run_id: str) -> bool:
        return False

    async def ended(self) -> Sequence[Report]:
        return [await self._reports.get()]

    async def end(self, key: str, reason: Reason) -> bool:
        self.said.append(f"end {key[:6]} {reason}")
        await asyncio.sleep(self.ends_ms / 1000)
        return self.can_end

    async def drain(self, *, grace_ms: int) -> None:
        for task in self._tasks:
            task.cancel()


class Outside:
    """One worker whose runs live elsewhere."""

    def __init__(self, launcher: Elsewhere) -> None:
        self.clock, self.ledger = VirtualClock(), FaultyLedger.make()
        self.launcher = launcher
        self.runtime = Runtime(self.ledger, launcher, self.clock, "worker-1")

    async def save(self, **more: object) -> None:
        record = every_minute("one", "x", **more)
        await self.ledger.save(read_schedule(record), now_ms=self.clock.now_ms())

    async def run_for(self, length_ms: int) -> None:
        running = asyncio.create_task(self.runtime.run())
        await asyncio.sleep(length_ms / 1000)
        await self.runtime.stop(0)
        await running

    async def kill(self, place: int = -1) -> None:
        """Ask for the end of the newest run, or of another, and do not wake the worker."""
        key = (await self.ledger.runs("one"))[::-1][place].key
        await self.ledger.kill(key, by=By("anna"), now_ms=self.clock.now_ms())

    async def words(self) -> list[str]:
        rows = (await self.ledger.runs("one"))[::-1]
        return [f"{row.state} {row.status} {row.reason or '-'}" for row in rows]
