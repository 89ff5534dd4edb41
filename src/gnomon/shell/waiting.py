"""
How long is it still to wait, when somebody may call before the time is over?

Spec: POLL-2.
"""

import asyncio

from gnomon.ports import Clock

__all__ = ["set_within"]


async def set_within(clock: Clock, event: asyncio.Event, length_ms: int) -> bool:
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
