"""
A stage for the real host: virtual time, a store in memory that outlives it, and crashes.

    async def scenario(stage: Stage) -> None:
        await stage.start(workflow)
        await stage.advance(seconds=5)
        await stage.crash()

`play` runs it. Handlers are called in the loop itself, so that a scenario always goes the same way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TypeVar

from gnomon.apps.workflow.alarm import Alert
from gnomon.apps.workflow.context import Context
from gnomon.apps.workflow.definition import Consumer, Workflow
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.repair import Repairer
from gnomon.ports.workflow_facts import Facts, Run
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from gnomon.simulation.declarative.stage import run as run_on_virtual_time

__all__ = ["START", "Stage", "everything", "play", "simple"]

START = 1_772_323_200_000  # 2026-03-01T00:00:00Z
_BREATHS = 200
_T = TypeVar("_T")


class Stage:
    """Time, a store, and the host that lives on it; also the host's clock."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._offset_ms = START - self.monotonic_ms()
        self.log = SqliteWorkflowLog(Database(MEMORY, family="workflow"), lasting=True)
        self.host: Host
        self._lives = 0
        self._tokens = 0

    async def start(
        self, *workflows: Workflow, repairer: Repairer | None = None, keep_ms: int | None = None,
        alert: Alert | None = None,
    ) -> None:  # fmt: skip
        """A host begins, with these workflows in its memory."""
        self._lives += 1
        self.host = Host(
            self.log, self, holder=f"life {self._lives}", draw_token=self._draw_token, threads=0,
            repairer=repairer, keep_ms=keep_ms, alert=alert,
        )  # fmt: skip
        for workflow in workflows:
            await self.host.deploy(workflow)
        await self.host.start()
        await self.advance()

    async def advance(self, *, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Let so much time pass, with everything that happens in it."""
        await asyncio.sleep(hours * 3600 + minutes * 60 + seconds)
        for _ in range(_BREATHS):
            await asyncio.sleep(0)

    async def crash(self) -> None:
        """End everything else that runs here; the store stays as it is."""
        mine = asyncio.current_task()
        others = [task for task in asyncio.all_tasks() if task is not mine]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def publish(self, *ids: str, topic: str = "orders", workflow: str = "orders") -> None:
        for id in ids:
            await self.host.commands.publish(workflow, topic, id, id)
        await self.advance()

    async def runs(self, workflow: str = "orders") -> list[Run]:
        """Oldest first."""
        return (await self.log.runs(workflow, limit=1000))[::-1]

    async def events(self, workflow: str = "orders") -> dict[str, str]:
        """The status of each event, by its id."""
        found = await self.log.events(workflow, limit=1000)
        return {one.id: one.status.value for one in reversed(found)}

    async def facts(self, workflow: str = "orders") -> Facts:
        facts = await self.log.load(workflow)
        assert facts is not None
        return facts

    async def story(self, workflow: str = "orders") -> list[str]:
        """Each run in a line: `2 sheet committed committed`."""
        return [
            f"{one.number} {one.handler} {one.phase} {one.status}"
            + (f" retry of {one.retry_of}" if one.retry_of else "")
            for one in await self.runs(workflow)
        ]

    def _draw_token(self) -> str:
        self._tokens += 1
        return f"t{self._tokens}"

    def now_ms(self) -> int:
        return self._offset_ms + self.monotonic_ms()

    def monotonic_ms(self) -> int:
        return round(self._loop.time() * 1000)

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.sleep(length_ms / 1000)


def play(scenario: Callable[[Stage], Awaitable[_T]]) -> _T:
    """Run a scenario on a stage, and clear the stage."""

    async def whole() -> _T:
        stage = Stage()
        try:
            return await scenario(stage)
        finally:
            await stage.crash()
            stage.log.database.close()

    made: Coroutine[object, object, _T] = whole()
    return run_on_virtual_time(made)


def everything(ctx: Context, topics: Sequence[str]) -> dict[str, object]:
    """What prepare returns to take all that is pending."""
    found = {topic: ctx.peek(topic) for topic in topics}
    return {
        "reservations": [
            {"topic": topic, "ids": [one.id for one in events]}
            for topic, events in found.items()
            if events
        ],
        "data": [one.payload for events in found.values() for one in events],
    }


def simple(name: str = "orders") -> tuple[Workflow, Consumer]:
    """A consumer `sheet` that takes all of `orders`, and does nothing about it yet."""
    made = Workflow(name)
    sheet = made.consumer("sheet", subscribes=["orders"], publishes=["done"])
    sheet.prepare(lambda ctx, state: everything(ctx, ["orders"]))
    sheet.next(lambda ctx, prepared, outcome: None)
    return made, sheet
