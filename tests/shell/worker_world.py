"""A runtime over a real ledger in memory, with functions that tests can hold and let go."""

import asyncio

from gnomon.core.schedule_record import read_schedule
from gnomon.ports import RunRow
from gnomon.shell.worker.runtime import Runtime
from tests.shell.faulty_ledger import FaultyLedger
from tests.shell.virtual_time import VirtualClock
from tests.stand_ins.function_launcher import Context, FunctionLauncher

__all__ = ["World", "every_minute"]


class World:
    """One worker and everything around it; to be made inside the loop."""

    def __init__(self, *, batch: int = 1000) -> None:
        self.clock = VirtualClock()
        self.ledger = FaultyLedger.make()
        self.began: list[str] = []
        self.go = asyncio.Event()
        self._functions = {"quick": self._quick, "held": self._held, "stubborn": self._stubborn}
        self.launcher = FunctionLauncher(self._functions, self.clock)
        self.runtime = self.another("worker-1", batch=batch)

    def another(self, owner: str, *, batch: int = 1000) -> Runtime:
        return Runtime(self.ledger, self.launcher, self.clock, owner, batch=batch)

    def apart(self, owner: str) -> Runtime:
        """A worker in another process: its runs are not those of the others."""
        return Runtime(
            self.ledger, FunctionLauncher(self._functions, self.clock), self.clock, owner
        )

    async def save(self, name: str, function: str = "quick", **more: object) -> None:
        record = every_minute(name, {"function": function}, **more)
        await self.ledger.save(read_schedule(record), now_ms=self.clock.now_ms())

    async def pass_ms(self, length_ms: int) -> None:
        """Let the world go on for this long."""
        await asyncio.sleep(length_ms / 1000)

    async def rows(self, name: str) -> list[RunRow]:
        """The rows of a schedule, oldest first."""
        return (await self.ledger.runs(name))[::-1]

    async def words(self, name: str) -> list[str]:
        """What became of each period, oldest first."""
        return [f"{row.state} {row.status} {row.reason or '-'}" for row in await self.rows(name)]

    async def _quick(self, context: Context) -> None:
        self.began.append(f"{context.schedule_id} {context.period[11:19]} {context.attempt}")

    async def _held(self, context: Context) -> None:
        await self._quick(context)
        await self.go.wait()

    async def _stubborn(self, context: Context) -> None:
        await self._quick(context)
        while not self.go.is_set():
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                continue


def every_minute(name: str, target: object, **more: object) -> dict[str, object]:
    return {"schedule_id": name, "cron_expr": "* * * * *", "target": target, **more}
