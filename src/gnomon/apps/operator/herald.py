"""
Events are told beside the work: what waits to be told never holds up a pass.

An Event is not asked for twice, and one that the server does not take is only counted: the truth is
the status. When too many wait, newer ones are dropped, and counted too.

Spec: OPERATOR-30.
"""

from collections import deque

from gnomon.apps.operator.figures import Figures
from gnomon.ports import Clock
from gnomon.ports.kubernetes import ApiServer, Create, Done
from gnomon.shell.wake import Wakeup

__all__ = ["WAITING_MAX", "Herald"]

WAITING_MAX = 2_000
_LOOK_MS = 60_000


class Herald:
    """Tells Events, one after the other."""

    def __init__(self, api: ApiServer, clock: Clock, figures: Figures) -> None:
        self._api, self._clock, self._figures = api, clock, figures
        self._waiting: deque[Create] = deque()
        self._wakeup = Wakeup()

    def tell(self, event: Create) -> None:
        if len(self._waiting) >= WAITING_MAX:
            self._figures.events_dropped += 1
            return
        self._waiting.append(event)
        self._wakeup.set()

    async def run(self) -> None:
        """Tell what comes, until cancelled."""
        while True:
            self._wakeup.clear()
            await self.flush()
            await self._wakeup.wait(self._clock, _LOOK_MS)

    async def flush(self) -> None:
        """Tell all that waits."""
        while self._waiting:
            event = self._waiting.popleft()
            answer = await self._api.send(event)
            self._figures.asked(event, answer)
            if not isinstance(answer, Done):
                self._figures.events_dropped += 1
