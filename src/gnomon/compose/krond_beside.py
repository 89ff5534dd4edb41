"""
What goes on beside the jobs of krond: it tells people, keeps figures, and sends a heartbeat.

Here these parts are put together from what the command line says. Each is there only when an option
asks for it, except the outbox, which jobs ask for themselves.

Spec: NOTIFY-6, NOTIFY-9, METRICS-4.
"""

import asyncio
import contextlib
import socket
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path

from gnomon.apps.krond.counts import KrondFacts, Tally
from gnomon.apps.krond.daemon import Daemon
from gnomon.apps.krond.log import JobLog
from gnomon.apps.krond.metrics_file import MetricsFile
from gnomon.apps.krond.state import StateDirectory
from gnomon.apps.krond.status import read_status
from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.observe.notify.call import UrlCaller
from gnomon.shell.observe.notify.heartbeat import Heartbeat, TurnWatch
from gnomon.shell.observe.notify.mail import MailRoute
from gnomon.shell.observe.notify.message import Happening
from gnomon.shell.observe.notify.outbox import MachineSender, Notifier
from gnomon.shell.version import installed_version

__all__ = ["Beside", "BesideOptions"]

AGENT = "gnomon-krond"
"""What the servers see that krond calls."""

LAST_WORDS_MS = 5_000
"""How long a stop waits for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideOptions:
    """What to do beside."""

    route: MailRoute
    heartbeat: str = ""
    heartbeat_every_ms: int = 60_000
    metrics: Path | None = None


class Beside:
    """The parts, and what to tell them."""

    def __init__(self, clock: Clock, options: BesideOptions, state: StateDirectory) -> None:
        self._clock = clock
        self._options = options
        self._state = state
        self._sender = MachineSender(options.route, UrlCaller(AGENT))
        self._notifier = Notifier(clock, self._sender, host=socket.gethostname())
        self._tally = Tally()

    def tell(self, happening: Happening) -> None:
        """What became of a period; returns at once."""
        self._notifier.tell(happening)
        if self._options.metrics is not None:
            self._tally.tell(happening)

    def works(self, daemon: Daemon, job_log: JobLog) -> list[Coroutine[object, object, None]]:
        """What is to run beside the runtime."""
        found = [self._notifier.work()]
        telemetry = daemon.process.runtime.telemetry
        if self._options.heartbeat:
            turns = TurnWatch(self._clock, lambda: telemetry.turns)
            heart = Heartbeat(
                self._clock, self._sender, url=self._options.heartbeat,
                every_ms=self._options.heartbeat_every_ms, is_well=turns.is_well,
            )  # fmt: skip
            found.append(heart.work())
        if self._options.metrics is not None:
            file = MetricsFile(
                self._options.metrics, self._clock, self._tally,
                jobs=lambda: list(job_log.jobs.values()), facts=lambda: _facts(daemon),
            )  # fmt: skip
            found.append(self._keep(file))
        return found

    async def _keep(self, file: MetricsFile) -> None:
        """Find what came last before the start, beside the loop, and keep the file from then on."""
        with contextlib.suppress(StoreError):  # then the figures begin now
            status = await asyncio.to_thread(asyncio.run, read_status(self._state))
            self._tally.recall(job.last for job in status.jobs if job.last is not None)
        await file.work()

    async def finish(self) -> None:
        """Let the last messages out, for a moment."""
        await self._notifier.finish(grace_ms=LAST_WORDS_MS)
        self._sender.close()


def _facts(daemon: Daemon) -> KrondFacts:
    runtime, condition = daemon.process.runtime, daemon.condition
    return KrondFacts(
        version=installed_version(),
        started_ms=condition.started_ms,
        loaded_ms=condition.loaded_ms,
        is_valid=condition.problem is None,
        active=runtime.in_hand,
        telemetry=runtime.telemetry,
    )
