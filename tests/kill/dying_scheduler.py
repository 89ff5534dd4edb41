"""
A program with a `gnomon.Scheduler` and a bomb: `python -m tests.kill.dying_scheduler FOLDER N M`.

It kills itself, with SIGKILL, at the N-th point it passes; with -N it stops itself there, with 0
neither. Points lie before and
after every call of the journal, inside every transaction right before its commit, before and after
a callback is set going, and inside callbacks. The last line it prints says which point it was. With
M, it stops as it should after every task has been called M times. With a fourth argument, its facts
are in that database on PostgreSQL, where there are no points inside transactions.

Each callback writes a line of its own into `calls.txt` when it begins and when it ends.
"""

import asyncio
import os
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path

import gnomon
from gnomon.apps.declarative.callback import RunContext
from gnomon.apps.declarative.runner import Runner
from gnomon.apps.declarative.task_plan import Start
from gnomon.shell.store import journal
from tests.kill.mine import Bomb, MinedDatabase, mined

INTERVALS = {"quick": 1, "slow": 1, "failing": 2, "rare": 3}
CALLS = ("load", "acquire", "write", "close")


def lay_mines() -> None:
    kind = journal.StoredJournal
    for name in CALLS:
        setattr(kind, name, mined(name, getattr(kind, name)))
    start = Runner.start

    def passing(self: Runner, one: Start) -> None:
        Bomb.point("before a callback is set going")
        start(self, one)
        Bomb.point("after a callback is set going")

    setattr(Runner, "start", passing)  # noqa: B010
    setattr(journal, "Database", MinedDatabase)  # noqa: B010


class Program:
    def __init__(self, folder: Path, times: int, store: str) -> None:
        self._log = os.open(folder / "calls.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._scheduler = gnomon.Scheduler(store, zone="UTC", standby=True)
        self._times = times
        self._counts = Counter[str]()
        self._enough = asyncio.Event()

    async def live(self) -> None:
        tasks = {"quick": self.quick, "slow": self.slow, "failing": self.failing, "rare": self.rare}
        await self._scheduler.initialize([
            (name, gnomon.every(f"{seconds}s", anchor="1970-01-01T00:00:00Z"), tasks[name],
             timedelta(seconds=1))
            for name, seconds in INTERVALS.items()
        ])  # fmt: skip
        self.say("initialized")
        await self._enough.wait()
        await self._scheduler.stop()
        self.say("stopped")

    def say(self, text: str) -> None:
        os.write(1, f"{text}\n".encode())

    def note(self, what: str, context: RunContext) -> None:
        line = f"{what} {context.task} {context.period} {context.attempt} {context.reason} .\n"
        Bomb.point(f"before {what} is noted")
        os.write(self._log, line.encode())
        Bomb.point(f"after {what} is noted")

    def begin(self, context: RunContext) -> None:
        self.note("start", context)
        self.say(f"start {context.task}")
        self._counts[context.task] += 1
        if self._times and all(self._counts[name] >= self._times for name in INTERVALS):
            self._enough.set()

    async def quick(self, context: RunContext) -> None:
        self.begin(context)
        self.note("success", context)

    async def slow(self, context: RunContext) -> None:
        self.begin(context)
        await asyncio.sleep(0.6)
        self.note("success", context)

    def rare(self, context: RunContext) -> None:
        self.begin(context)
        self.note("success", context)

    async def failing(self, context: RunContext) -> None:
        self.begin(context)
        if context.attempt < 2:
            self.note("failure", context)
            raise ValueError("not yet")
        self.note("success", context)


if __name__ == "__main__":
    Bomb.lay(int(sys.argv[2]))
    lay_mines()
    place = sys.argv[4] if len(sys.argv) > 4 else f"{sys.argv[1]}/state.sqlite3"
    asyncio.run(Program(Path(sys.argv[1]), int(sys.argv[3]), place).live())
