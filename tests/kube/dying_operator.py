"""
An operator with a bomb in it: `python -m tests.kube.dying_operator KUBECONFIG POINTS SEED`.

It kills itself, with SIGKILL, at the POINTS-th point that it passes; 0 is never. Points lie before
each question to the API server, while it is on its way, and after its answer. Everything else is
the product's, its loop and its watches too; what a watch tells is held back at times, longer than
a network would.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

from gnomon.apps.operator.controller import Controller
from gnomon.ports.kubernetes import (
    Answer,
    ApiServer,
    Call,
    Change,
    Denied,
    Find,
    Found,
    NoAnswer,
    Watch,
)
from gnomon.shell.clock import SystemClock
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer

_ANSWER_S = 8.0
_ON_ITS_WAY_S = 0.004
_STALE, _STALE_S = 0.1, 2.0
"""How often what a watch tells comes late, and how late at most."""
_Heard = TypeVar("_Heard")


class Bomb:
    """Ends this process at a point."""

    def __init__(self, points: int) -> None:
        self._left = points

    def point(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Mined:
    """The way to the API server, with points on it."""

    def __init__(self, api: ApiServer, bomb: Bomb, dice: random.Random) -> None:
        self._api, self._bomb, self._dice = api, bomb, dice

    async def send(self, call: Call) -> Answer:
        return await self._pass(self._api.send(call))

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        return await self._pass(self._api.find(call))

    async def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        async for told in self._api.watch(call):
            if self._dice.random() < _STALE:
                await asyncio.sleep(_STALE_S * self._dice.random())
            yield told

    async def _pass(self, asking: Awaitable[_Heard]) -> _Heard:
        self._bomb.point()
        answering = asyncio.ensure_future(asking)
        await asyncio.sleep(_ON_ITS_WAY_S * self._dice.random())
        self._bomb.point()
        answer = await answering
        self._bomb.point()
        return answer


async def main(kubeconfig: str, points: int, seed: str) -> None:
    dice = random.Random(seed)
    async with KubernetesServer(load_of({}, kubeconfig=kubeconfig), answer_s=_ANSWER_S) as api:
        way = Mined(api, Bomb(points), dice)
        await Controller(way, SystemClock(), reporter=seed.replace(" ", "-")).run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
