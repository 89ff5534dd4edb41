"""
How does a process that runs schedules come to its end?

The first signal lets runs come to their end, for as long as their grace; the second leaves at once,
and the runs in flight to themselves: they go on, and the next process finds them.

Spec: CLI-29.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator

from gnomon.shell.observe.log import log
from gnomon.shell.worker.runtime import Runtime

__all__ = ["Stopper"]


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
