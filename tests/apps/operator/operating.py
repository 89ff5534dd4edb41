"""
Operators at work in a small world: an API server in memory, its controllers, and virtual time.

A world begins at midnight of 2026-03-01, or when it is told to, and has the namespace `prod`. What
one operator is told and asks can be disturbed through its `Way`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from gnomon.apps.operator.controller import Controller, LeaseAt
from gnomon.core.civil.instant import format_instant
from gnomon.ports.kubernetes import (
    Answer,
    Call,
    Change,
    Create,
    Delete,
    Denied,
    Done,
    Find,
    Found,
    Get,
    Kind,
    MergePatch,
    NoAnswer,
    Object,
    Watch,
)
from gnomon.ports.kubernetes_object import at, text, things
from gnomon.simulation.kubernetes.api import WATCH_LOOK_MS, SimulatedApi
from gnomon.simulation.kubernetes.controllers import collect_garbage, run_jobs
from gnomon.simulation.kubernetes.server import Happened, SimulatedServer
from tests.apps.operator.lone_operator import POD, kronjob
from tests.shell.virtual_time import START_MS, VirtualClock, run_virtually

__all__ = ["LEASE", "Operating", "Way", "in_a_world"]

LEASE = LeaseAt("prod", "gnomon-operator")


class Way:
    """The way of one operator to the server, which can be disturbed."""

    def __init__(self, server: SimulatedServer, *, look_ms: int = WATCH_LOOK_MS) -> None:
        self.api = SimulatedApi(server, look_ms=look_ms)
        self.asked: list[Call | Find] = []
        self.deny: Callable[[Call], Denied | NoAnswer | None] = lambda call: None
        self.lag_ms: Callable[[Call], int] = lambda call: 0
        self.is_cut = False
        self.is_silent = False
        """Whether watches tell nothing, and do not end either."""

    async def send(self, call: Call) -> Answer:
        self.asked.append(call)
        if self.is_cut:
            return NoAnswer("cut off")
        await asyncio.sleep(self.lag_ms(call) / 1000)
        return self.deny(call) or await self.api.send(call)

    async def find(self, call: Find) -> Found | Denied | NoAnswer:
        self.asked.append(call)
        return NoAnswer("cut off") if self.is_cut else await self.api.find(call)

    async def watch(self, call: Watch) -> AsyncIterator[Change | Denied | NoAnswer]:
        async for one in self.api.watch(call):
            if self.is_silent:
                await asyncio.Event().wait()
            if self.is_cut:
                yield NoAnswer("cut off")
                return
            yield one


class Operating:
    """The world, and the operators in it."""

    def __init__(self, start_ms: int = START_MS, look_ms: int = WATCH_LOOK_MS) -> None:
        self.start_ms = start_ms
        self.look_ms = look_ms
        """How often watches look, for worlds of many hours."""
        self.clock = VirtualClock()
        self.clock.offset_ms = start_ms
        self.server = SimulatedServer(self.clock.now_ms)
        self.lasts_s = 30
        self._released: dict[str, tuple[str, str]] = {}
        self.server.on_change.append(self._note)
        self._tasks: dict[Controller, asyncio.Task[None]] = {}

    def operator(
        self, name: str = "a", *, lease: LeaseAt | None = None, namespace: str | None = None
    ) -> tuple[Controller, Way]:
        """One more operator, at work."""
        way = Way(self.server, look_ms=self.look_ms)
        one = Controller(way, self.clock, reporter=name, namespace=namespace, lease=lease)
        self._tasks[one] = asyncio.ensure_future(one.run())
        return one, way

    def make(self, name: str = "report", **spec: object) -> None:
        template = {"spec": {"template": {"spec": POD}}}
        one = kronjob(schedule="*/5 * * * *", jobTemplate=template, **spec) if not spec else None
        made = dict(one or kronjob(**spec), metadata={"name": name})
        self.done(Create(Kind.KRONJOB, "prod", made))

    def edit(self, name: str = "report", **spec: object) -> None:
        self.done(MergePatch(Kind.KRONJOB, "prod", name, {"spec": spec}))

    def done(self, call: Call) -> Object:
        answer = self.server.send(call)
        assert isinstance(answer, Done), answer
        return answer.object

    def kronjob(self, name: str = "report") -> Object:
        return self.done(Get(Kind.KRONJOB, "prod", name))

    def delete(self, kind: Kind, name: str) -> None:
        uid = text(self.done(Get(kind, "prod", name)), "metadata", "uid")
        self.done(Delete(kind, "prod", name, uid))

    def job_names(self) -> list[str]:
        return [text(one, "metadata", "name") for one in self.server.objects_of(Kind.JOB)]

    def outcomes(self, name: str = "report") -> list[str]:
        """What became of periods, the oldest first: `00:05 executed Succeeded`."""
        lines = []
        for one in reversed(things(self.kronjob(name), "status", "recent")):
            words = [text(one, key) for key in ("outcome", "result", "reason")]
            when = text(one, "period") or text(one, "from")
            lines.append(" ".join([when[11:16], *filter(None, words)]))
        return lines

    def released(self) -> list[tuple[str, str]]:
        """The periods whose Jobs were released, and the instants at which they were."""
        return list(self._released.values())

    def events(self) -> list[str]:
        """Reasons and messages of Events, the oldest first."""
        told = [
            one.object for one in self.server.history if one.kind is Kind.EVENT
        ]  # in the order in which they were made
        return [f"{text(one, 'reason')}: {text(one, 'message')}" for one in told]

    def _note(self, one: Happened) -> None:
        if one.kind is Kind.JOB and at(one.object, "spec", "suspend") is False:
            period = text(one.object, "metadata", "annotations", "gnomon.dev/period")
            now = format_instant(self.clock.now_ms() // 1000)
            uid = text(one.object, "metadata", "uid")
            self._released.setdefault(uid, (period[11:19], now[11:19]))

    async def until(self, second: int, *, every_s: int = 1) -> None:
        """Let time pass until so many seconds after the beginning."""
        while (left_ms := self.start_ms + second * 1000 - self.clock.now_ms()) > 0:
            await asyncio.sleep(min(every_s, left_ms / 1000))
            run_jobs(self.server, lambda job: self.lasts_s)
            collect_garbage(self.server)

    async def stop(self, one: Controller) -> None:
        one.stop()
        await self._tasks.pop(one)

    async def kill(self, one: Controller) -> None:
        task = self._tasks.pop(one)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def end(self) -> None:
        """End all; an error in one of them is an error here."""
        for one in list(self._tasks):
            if self._tasks[one].done():
                await self._tasks[one]
            await self.kill(one)


def in_a_world(
    scenario: Callable[[Operating], Awaitable[None]], *, start_ms: int = START_MS,
    look_ms: int = WATCH_LOOK_MS,
) -> None:  # fmt: skip
    """Play a scenario on virtual time."""

    async def play() -> None:
        world = Operating(start_ms, look_ms)
        try:
            await scenario(world)
        finally:
            await world.end()

    run_virtually(play())
