"""
The heartbeat: a URL that is called again and again for as long as krond does its work.

Whoever watches it notices when the machine is gone, or krond is, or when its loop no longer turns.

Spec: NOTIFY-9.
"""

from collections.abc import Callable

from gnomon.apps.daemon.notification.message import Call
from gnomon.apps.daemon.notification.outbox import send_stubbornly
from gnomon.apps.daemon.notification.sender import Sender
from gnomon.ports import Clock

__all__ = ["Heartbeat"]


class Heartbeat:
    """Calls a URL every so often while `is_well`."""

    def __init__(
        self, clock: Clock, sender: Sender, *, url: str, every_ms: int,
        is_well: Callable[[], bool] = lambda: True,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._sender = sender
        self._url = url
        self._every_ms = every_ms
        self._is_well = is_well

    async def work(self) -> None:
        """Beat until cancelled."""
        while True:
            if self._is_well():
                await send_stubbornly(self._sender, Call(url=self._url), self._clock, {})
            await self._clock.sleep_ms(self._every_ms)
