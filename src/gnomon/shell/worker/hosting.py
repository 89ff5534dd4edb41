"""
A process that runs schedules: what every such process is made of.

A host has a ledger, a launcher and a clock, and a runtime over them. One that owns its ledger alone
takes over from its predecessor first. Then it runs until it is stopped, with the retention of old
rows and whatever else is asked for beside it; when the runtime ends, that ends too.

What schedules there are is not its business: the program that makes a host saves them.
"""

import asyncio
import os
import socket
from collections.abc import Coroutine, Sequence

from gnomon.ports import Clock, Launcher, Ledger, Observer
from gnomon.shell.clock_ahead import ClockAhead
from gnomon.shell.clock_change import told_of_clock_changes
from gnomon.shell.worker.retention import Retention
from gnomon.shell.worker.runtime import Runtime
from gnomon.shell.worker.stopping import Stopper

__all__ = ["Host"]


class Host:
    """A runtime with a name that no other has or has had, and what goes on beside it."""

    def __init__(
        self, ledger: Ledger, launcher: Launcher, clock: Clock, *, batch: int = 1000,
        observer: Observer | None = None, ahead_hint: str = "",
    ) -> None:  # fmt: skip
        """`ahead_hint` says what to do when the clock was ahead; without it that is not said."""
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{clock.now_ms()}"
        self.runtime = Runtime(ledger, launcher, clock, self.owner, batch=batch, observer=observer)
        self._ledger = ledger
        self._clock = clock
        self._ahead = ClockAhead(ledger, clock, hint=ahead_hint) if ahead_hint else None

    async def run(
        self, stopper: Stopper, *, keep_ms: int | None,
        beside: Sequence[Coroutine[object, object, None]] = (),
    ) -> bool:  # fmt: skip
        """Run until stopped; False when it had to be left at once."""
        tasks = [asyncio.create_task(work) for work in beside]
        if self._ahead is not None:
            self.runtime.telemetry.set_back = self._ahead.set_back
            tasks.append(asyncio.create_task(self._ahead.work()))
        try:
            if keep_ms is not None:
                retention = Retention(self._ledger, self._clock, keep_ms=keep_ms)
                await retention.take_portion()  # so that who runs but briefly does its part
                work = retention.work(lambda: self.runtime.is_starting)
                tasks.append(asyncio.create_task(work))
            with told_of_clock_changes(self.runtime.wake):
                return await stopper.watch(self.runtime)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
