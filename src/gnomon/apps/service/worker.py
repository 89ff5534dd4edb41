"""
The worker: starts what is due, through the run launcher, and looks after what is expected.

It is the runtime that every ledger has, with the service's launcher and settings: what is planned
stands in the ledger, so that no timer lives only in memory, and any number of workers share one
ledger. A tick is how often it looks by itself; what is due is known to the millisecond, and a
caller that changes something calls `wake`.

Spec: SERVICE-14, SERVICE-19 to SERVICE-21.
"""

import asyncio

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.expectations import Expectations
from gnomon.apps.service.log import ServiceLog
from gnomon.apps.service.run_launcher import RunLauncher
from gnomon.apps.service.settings import Settings
from gnomon.ports import Clock, Ledger
from gnomon.ports.dag import DagStore
from gnomon.ports.executor import Executor
from gnomon.shell.worker.retention import Kept, Retention
from gnomon.shell.worker.runtime import Runtime

__all__ = ["ServiceWorker"]


class ServiceWorker:
    """
    A worker of the service.

    `owner` is a name that no other worker has or has had: a restarted process is another worker.
    """

    def __init__(
        self, ledger: Ledger, executor: Executor, dags: DagStore, clock: Clock,
        owner: str, settings: Settings, events: EventFeed, counters: ServiceCounters, *,
        batch: int = 1000, also: Kept | None = None,
    ) -> None:  # fmt: skip
        """`also` is a store beside the ledger that forgets what is old, too."""
        self.owner = owner
        log = ServiceLog(events, counters)
        self.launcher = RunLauncher(
            dags, executor, clock, at_once=settings.launches_at_once, log=log,
            given=self._params_of,
        )  # fmt: skip
        self._ledger = ledger
        self.runtime = Runtime(
            ledger, self.launcher, clock, owner, limits=settings.limits, batch=batch,
            rest_max_ms=settings.tick_ms, observer=log,
        )  # fmt: skip
        kept: list[Kept] = [ledger] if also is None else [ledger, also]
        self._retentions = [Retention(one, clock, keep_ms=settings.keep_ms) for one in kept]
        self._expectations = Expectations(ledger, clock, log, tick_ms=settings.tick_ms)

    async def _params_of(self, key: str) -> str | None:
        row = await self._ledger.run(key)
        return None if row is None else row.params

    def wake(self) -> None:
        """Look soon: something has changed."""
        self.runtime.wake()

    async def recover(self) -> None:
        """This worker owns the ledger alone: take over from its predecessor, before `run`."""
        await self.runtime.recover()

    async def run(self) -> None:
        """Work until told to stop."""
        work = [one.work(lambda: self.runtime.is_starting) for one in self._retentions]
        beside = [asyncio.create_task(one) for one in (self._expectations.work(), *work)]
        try:
            await self.runtime.run()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    async def stop(self, grace_ms: int) -> None:
        """Claim nothing more, let runs end for this long, and return when all is over."""
        await self.runtime.stop(grace_ms)
