"""
What does a launcher wait for? Runs that end, and runs that should be over by now.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TypeVar

from gnomon.ports import Clock, Ended

__all__ = ["Ends", "all_done_within"]

_Result = TypeVar("_Result")


class Ends:
    """Ends that the worker has not been told of yet."""

    def __init__(self) -> None:
        self._ends: list[Ended] = []
        self._some = asyncio.Event()

    def add(self, end: Ended) -> None:
        if not self._ends:
            self._some.set()
        self._ends.append(end)

    async def take(self) -> Sequence[Ended]:
        """Wait until there are some, and hand them over."""
        await self._some.wait()
        self._some.clear()
        ends, self._ends = self._ends, []
        return ends


async def all_done_within(
    clock: Clock, futures: Iterable["asyncio.Future[_Result]"], length_ms: int
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
