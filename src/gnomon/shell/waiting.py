"""
How long is it still to wait, when somebody may call before the time is over?

Spec: POLL-2.
"""

import asyncio

from gnomon.ports import Clock

__all__ = ["Bell"]


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

    async def wait(self, clock: Clock, length_ms: int) -> None:
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


def _fulfil(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
