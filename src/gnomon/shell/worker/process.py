"""
A process that runs schedules: what every such process is made of, and how it comes to its end.

It has a ledger, a launcher and a clock, and a runtime over them. One that owns its ledger alone
takes over from its predecessor first. Then it runs until it is stopped, with the retention of old
rows and whatever else is asked for beside it; when the runtime ends, that ends too.

What schedules there are is not its business: the program that makes it saves them.

The first signal lets runs come to their end, for as long as their grace; the second leaves at once,
and the runs in flight to themselves: they go on, and the next process finds them.

Spec: CLI-29.
"""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Coroutine, Sequence

from gnomon.ports import Clock, Launcher, Ledger, Observer
from gnomon.shell.clock_ahead import ClockAhead
from gnomon.shell.clock_change import told_of_clock_changes
from gnomon.shell.observe.log import log
from gnomon.shell.worker.retention import Retention
from gnomon.shell.worker.runtime import Runtime

__all__ = ["Process", "Stopper"]


class Stopper:
    """What ends the runtime: signals, from the first moment on, or a caller of `stop`."""

    def __init__(self, grace_ms: int) -> None:
        self._grace_ms = grace_ms
        self._signals = 0
        self._wanted_ms: int | None = None
        self._runtime: Runtime | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopping: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            loop.add_signal_handler(number, self._on_signal)
        try:
            yield
        finally:
            for number in numbers:
                loop.remove_signal_handler(number)

    def stop(self, grace_ms: int) -> None:
        self._wanted_ms = grace_ms
        if self._runtime is not None:
            self._stopping.add(asyncio.create_task(self._runtime.stop(grace_ms)))

    async def watch(self, runtime: Runtime) -> bool:
        """Run until stopped; False when it had to be left at once."""
        self._runtime = runtime
        self._running = asyncio.create_task(runtime.run())
        if self._wanted_ms is not None:
            self.stop(self._wanted_ms)
        try:
            await self._running
        except asyncio.CancelledError:
            log(logging.WARNING, "left at once; runs in flight go on")
            return False
        finally:
            for task in self._stopping:
                task.cancel()
            await asyncio.gather(*self._stopping, return_exceptions=True)
        return True

    def _on_signal(self) -> None:
        self._signals += 1
        if self._signals > 1 and self._running is not None:
            self._running.cancel()
        else:
            self.stop(self._grace_ms)


class Process:
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
