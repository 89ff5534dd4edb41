"""
The port to an API server in memory, for one caller: what it asks, and what it sees.

Calls and watches can be delayed, cut off and left silent by the world that owns the server. A watch
tells what happened in order and without a gap, later than it happened.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from gnomon.ports.kubernetes import (
    Answer,
    Call,
    Change,
    Denied,
    Find,
    Found,
    NoAnswer,
    Seen,
    Watch,
)
from gnomon.simulation.kubernetes.server import SimulatedServer

__all__ = ["WATCH_LOOK_MS", "SimulatedApi"]

WATCH_LOOK_MS = 50
"""How often a watch that has nothing to tell looks again."""


class SimulatedApi:
    """A caller's way to the server, undisturbed."""

    def __init__(self, server: SimulatedServer, *, look_ms: int = WATCH_LOOK_MS) -> None:
        self._server = server
        self._look_ms = look_ms
        self.deny: Callable[[Call], Denied | NoAnswer | None] = _nothing
        """What this caller is refused, before anything happens."""

    async def send(self, call: Call) -> Answer:
        return self.deny(call) or self._server.send(call)

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        return self._server.find(call)

    async def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        version, waited_ms = int(call.resource_version), 0
        while True:
            until = self._server.version
            for one in list(self._server.changes_after(version, call)):
                if isinstance(one, Denied):
                    yield one
                    return
                version = one[0]
                yield one[1]
            version = max(version, until)
            if waited_ms >= call.timeout_s * 1000:
                yield Change(Seen.BOOKMARK, {"metadata": {"resourceVersion": str(version)}})
                return
            await asyncio.sleep(self._look_ms / 1000)
            waited_ms += self._look_ms


def _nothing(call: Call) -> None:
    return None
