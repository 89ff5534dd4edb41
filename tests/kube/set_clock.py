"""
An operator whose clock, and whose server's, are set: on a real cluster, and in another year.

The time that the server says in its answers is moved as far as the operator's clock, because an
operator decides nothing while the two differ. Everything else is real.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.ports.kubernetes import (
    Answer,
    ApiServer,
    Call,
    Change,
    Denied,
    Done,
    Find,
    Found,
    NoAnswer,
    Object,
    Watch,
)
from gnomon.shell.clock import SystemClock

__all__ = ["SetClock", "SetServer", "until_holds"]


class SetClock(SystemClock):
    """This machine's clock, set by whole seconds."""

    ahead_s = 0

    def set_to(self, written: str) -> None:
        self.ahead_s += to_epoch(parse_instant(written)) - self.now_ms() // 1000

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_s * 1000


class SetServer:
    """A way to a server, whose answers tell the time of that clock."""

    def __init__(self, api: ApiServer, clock: SetClock) -> None:
        self._api, self._clock = api, clock

    async def send(self, call: Call) -> Answer:
        ahead_s = self._clock.ahead_s
        answer = await self._api.send(call)
        if isinstance(answer, Done | Denied) and answer.at is not None:
            return answer._replace(at=answer.at + ahead_s)
        return answer

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        ahead_s = self._clock.ahead_s
        found = await self._api.find(call)
        if isinstance(found, Found | Denied) and found.at is not None:
            return found._replace(at=found.at + ahead_s)
        return found

    def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        return self._api.watch(call)


async def until_holds(
    api: ApiServer, call: Find, holds: Callable[[dict[str, Object]], bool], *, limit_s: int = 60
) -> dict[str, Object]:
    """The objects by name, when that holds of them; it fails at the limit."""
    objects: dict[str, Object] = {}
    for _ in range(limit_s * 4):
        found = await api.find(call)
        assert isinstance(found, Found), found
        objects = {str(one["metadata"]["name"]): one for one in found.objects}  # type: ignore[index]
        if holds(objects):
            return objects
        await asyncio.sleep(0.25)
    raise TimeoutError({name: one.get("status") for name, one in objects.items()})
