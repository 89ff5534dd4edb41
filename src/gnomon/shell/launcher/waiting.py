"""
How long does a launcher wait for runs to be over? As long as its clock says.
"""

import asyncio
from collections.abc import Iterable

from gnomon.ports import Clock

__all__ = ["all_done_within"]


async def all_done_within(
    clock: Clock, futures: Iterable["asyncio.Future[None]"], length_ms: int
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
