"""
`gnomon worker --metrics ADDRESS`: what a worker of the service tells Prometheus by itself.

The API of a service that is split over machines has started nothing and counts nothing of it, so
each worker tells what it has counted, under the names that the service has for it.

Spec: METRICS-8, METRICS-9.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from gnomon.apps.service.counters import ServiceCounters, service_families
from gnomon.apps.service.worker import ServiceWorker
from gnomon.compose.run_metrics import worker_page_families
from gnomon.shell.observe.counts import Family
from gnomon.shell.observe.prometheus import page_text

__all__ = ["WorkerPage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPage:
    """The page of one worker of the service."""

    worker: ServiceWorker
    counters: ServiceCounters
    started_ms: int
    others: Callable[[], Awaitable[Sequence[Family]]] | None
    """What there is to tell about all workers; None where this one is alone."""

    async def text(self) -> str:
        """The page as it is now."""
        runtime, owner = self.worker.runtime, self.worker.owner
        own = worker_page_families(runtime, owner, started_ms=self.started_ms)
        others = [] if self.others is None else await self.others()
        return page_text([*service_families(self.counters), *own, *others])
