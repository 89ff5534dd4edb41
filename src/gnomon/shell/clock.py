"""
What time is it, and how long is it still to wait? The only module that reads the clock.

Everything else takes `now` as an argument, so that every answer can be asked again. Waiting goes
through a clock too, so that whoever supplies the clock decides how long a second takes.
"""

import asyncio
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Protocol

from gnomon import ports

__all__ = ["Bell", "Clock", "SystemClock", "all_done_within"]


class Clock(Protocol):
    """What the command line needs of a clock; the runtime needs `ports.Clock`."""

    def now(self) -> datetime:
        """The present instant, aware and in UTC."""
        ...


class SystemClock:
    """The clock of this machine, for the command line and for the runtime."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.sleep(length_ms / 1000)


class Bell:
    """Can be rung; whoever waits for it goes on, or when the time is up."""

    def __init__(self) -> None:
        self.is_rung = False
        self._waiter: asyncio.Future[None] | None = None

    def ring(self) -> None:
        self.is_rung = True
        if self._waiter is not None:
            _fulfil(self._waiter)

    def hush(self) -> None:
        self.is_rung = False

    async def wait(self, clock: ports.Clock, length_ms: int) -> None:
        """Return when it has been rung since it was hushed, or this much time has passed."""
        if self.is_rung or length_ms <= 0:
            return
        waiter = self._waiter = asyncio.get_running_loop().create_future()
        alarm = asyncio.ensure_future(clock.sleep_ms(length_ms))
        alarm.add_done_callback(lambda _: _fulfil(waiter))
        try:
            await waiter
        finally:
            alarm.cancel()
        if alarm.done():
            alarm.result()  # whatever the clock has to say


async def all_done_within(
    clock: ports.Clock, futures: Iterable["asyncio.Future[None]"], length_ms: int
) -> bool:
    """Wait until all of these are done, but no longer than this; say whether they are."""
    waiting = [future for future in futures if not future.done()]
    if not waiting:
        return True
    whole = asyncio.ensure_future(asyncio.wait(waiting))
    alarm = asyncio.ensure_future(clock.sleep_ms(length_ms))
    try:
        await asyncio.wait([whole, alarm], return_when=asyncio.FIRST_COMPLETED)
    finally:
        whole.cancel()
        alarm.cancel()
        await asyncio.wait([whole, alarm])
    return all(future.done() for future in waiting)


def _fulfil(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
