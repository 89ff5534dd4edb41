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

__all__ = ["Clock", "SystemClock", "all_done_within", "set_within"]


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


async def set_within(clock: ports.Clock, event: asyncio.Event, length_ms: int) -> bool:
    """Wait until the event is set, but no longer than this; say whether it is."""
    if event.is_set() or length_ms <= 0:
        return event.is_set()
    waiting = asyncio.ensure_future(event.wait())
    alarm = asyncio.ensure_future(clock.sleep_ms(length_ms))
    try:
        await asyncio.wait([waiting, alarm], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        alarm.cancel()
        await asyncio.gather(waiting, alarm, return_exceptions=True)
    return event.is_set()
