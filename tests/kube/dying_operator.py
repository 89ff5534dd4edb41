"""
An operator with a bomb in it: `python -m tests.kube.dying_operator KUBECONFIG POINTS SEED`.

It kills itself, with SIGKILL, at the POINTS-th point that it passes; 0 is never. Points lie before
each question to the API server, while it is on its way, and after its answer. What it decides is
the product's; it looks at everything again and again, and sometimes decides from what it saw
before, as an operator does whose watch lags.
"""

import asyncio
import os
import random
import signal
import sys
from collections.abc import Sequence

from gnomon.apps.operator.asking import Agreement, Asking, Heard
from gnomon.apps.operator.one_pass import one_pass
from gnomon.ports.kubernetes import Find, Found, Kind, NoAnswer, Object
from gnomon.shell.clock import SystemClock
from gnomon.shell.kubernetes.access import load_of
from gnomon.shell.kubernetes.client import KubernetesServer

_LOOK_S = 0.3
_STALE = 0.3
_AGREE_S = 2
_ANSWER_S = 8.0
_ON_ITS_WAY_S = 0.004


class Bomb:
    """Ends this process at a point."""

    def __init__(self, points: int) -> None:
        self._left = points

    def point(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Operator:
    """Passes over every KronJob, again and again."""

    def __init__(self, api: KubernetesServer, bomb: Bomb, dice: random.Random) -> None:
        self._api, self._bomb, self._dice = api, bomb, dice
        self._clock = SystemClock()
        self._agreement = Agreement.UNKNOWN
        self._seen: dict[Kind, Sequence[Object]] = {}

    async def operate(self) -> None:
        while True:
            for kind in (Kind.KRONJOB, Kind.JOB):
                if kind not in self._seen or self._dice.random() > _STALE:
                    found = await self._api.find(Find(kind))
                    if isinstance(found, Found):
                        self._seen[kind] = found.objects
            self._agreement = Agreement.UNKNOWN
            kronjobs = list(self._seen.get(Kind.KRONJOB, ()))
            self._dice.shuffle(kronjobs)
            for one in kronjobs:
                await self._pass_over(one)
            await asyncio.sleep(_LOOK_S)

    async def _pass_over(self, kronjob: Object) -> None:
        asking = Asking(
            kronjob,
            self._seen.get(Kind.JOB, ()),
            now_ms=self._clock.now_ms(),
            clock=self._agreement,
        )
        steps = one_pass(asking)
        try:
            question = next(steps)
            while True:
                self._bomb.point()
                answering = asyncio.ensure_future(
                    self._api.find(question)
                    if isinstance(question, Find)
                    else self._api.send(question)
                )
                await asyncio.sleep(_ON_ITS_WAY_S * self._dice.random())
                self._bomb.point()
                answer = await answering
                self._bomb.point()
                now_ms = self._clock.now_ms()
                if not isinstance(answer, NoAnswer) and answer.at is not None:
                    agrees = abs(answer.at - now_ms / 1000) <= _AGREE_S
                    self._agreement = Agreement.AGREES if agrees else Agreement.DIFFERS
                question = steps.send(Heard(answer, now_ms, self._agreement))
        except StopIteration:
            return


async def main(kubeconfig: str, points: int, seed: str) -> None:
    dice = random.Random(seed)
    async with KubernetesServer(load_of({}, kubeconfig=kubeconfig), answer_s=_ANSWER_S) as api:
        await Operator(api, Bomb(points), dice).operate()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
