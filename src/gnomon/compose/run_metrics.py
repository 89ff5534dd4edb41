"""
`--metrics ADDRESS`: how a worker is doing, for Prometheus, beside its work.

What this process has counted is told in any case; how all workers of a database are, where others
can be there too. `gnomon worker` tells the same and what the service counts besides.

Spec: CLI-37, METRICS-6 to METRICS-9.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from socket import socket

from gnomon.shell.http.listening import bind, url_of
from gnomon.shell.observe.counts import Family, build_family, gauge, runtime_families
from gnomon.shell.observe.log import log
from gnomon.shell.observe.page import PATH, Page, serving_page
from gnomon.shell.observe.prometheus import page_text
from gnomon.shell.version import installed_version
from gnomon.shell.worker.process import Process
from gnomon.shell.worker.runtime import Runtime

__all__ = ["RunPage", "metrics_listener", "metrics_served", "worker_page_families"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """The page of one worker."""

    process: Process
    schedules: int
    started_ms: int
    others: Callable[[], Awaitable[Sequence[Family]]] | None
    """What there is to tell about all workers; None where this one is alone."""

    async def text(self) -> str:
        """The page as it is now."""
        others = [] if self.others is None else await self.others()
        return page_text([*self._families(), *others])

    def _families(self) -> list[Family]:
        process = self.process
        return [
            *worker_page_families(process.runtime, process.owner, started_ms=self.started_ms),
            gauge("gnomon_schedules", "Schedules of the file.", self.schedules),
        ]


def metrics_listener(
    address: tuple[str, int] | None,
) -> contextlib.AbstractContextManager[socket | None]:
    """The port, to be taken before anything is done; None where no metrics are asked for."""
    return contextlib.nullcontext() if address is None else bind(*address)


def worker_page_families(runtime: Runtime, owner: str, *, started_ms: int) -> list[Family]:
    """What every worker tells of itself."""
    return [
        build_family("gnomon", "Which Gnomon this is.", installed_version(), worker=owner),
        gauge("gnomon_start_time_seconds", "When this worker was started.", started_ms / 1000),
        gauge("gnomon_runs_active", "Runs that this worker holds.", runtime.in_hand),
        gauge("gnomon_stopping", "Whether this worker was told to stop.", int(runtime.is_stopping)),
        *runtime_families("gnomon", runtime.telemetry),
    ]


@contextlib.asynccontextmanager
async def metrics_served(listener: socket | None, page: Page) -> AsyncIterator[None]:
    """Serve the page inside the block, where a port was taken for it."""
    if listener is None:
        yield
        return
    async with serving_page(listener, page):
        log(logging.INFO, "metrics", url=url_of(listener.getsockname()[0], listener) + PATH)
        yield
