"""
The heartbeat: a URL that is called again and again for as long as a process does its work.

The watcher behind it notices when the machine is gone, or the process is, or its loop no longer
turns.

Spec: NOTIFY-9.
"""

from collections.abc import Callable

from gnomon.ports import Clock
from gnomon.shell.observe.notify.message import Call, Sender
from gnomon.shell.observe.notify.outbox import send_stubbornly

__all__ = ["STILL_MAX_MS", "Heartbeat", "TurnWatch"]

STILL_MAX_MS = 120_000
"""How long a process may take no turn; one that idles takes one every 30 s."""


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


class TurnWatch:
    """Whether a process still takes turns."""

    def __init__(self, clock: Clock, turns: Callable[[], int]) -> None:
        self._clock = clock
        self._turns = turns
        self._seen = -1
        self._since_ms = 0

    def is_well(self) -> bool:
        now_ms, turns = self._clock.monotonic_ms(), self._turns()
        if turns != self._seen:
            self._seen, self._since_ms = turns, now_ms
        return now_ms - self._since_ms <= STILL_MAX_MS
