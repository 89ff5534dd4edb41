"""
`gnomon` with a bomb in it: `python -m tests.kill.dying_run N ARGUMENTS...`

The process kills itself, with SIGKILL, at the N-th point it passes. Points lie before and after
every call of the ledger and the launcher, inside every transaction right before its commit, and
between the birth of a process and everything that is done about it. The last line it writes says
which point it was. Everything else is the product, put together by the product.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from gnomon.cli import krond_start, main, run_command
from gnomon.shell.launcher.process import Order, ProcessLauncher, _Run
from gnomon.shell.narrating import NarratingLedger
from gnomon.shell.store import sqlite as store
from gnomon.shell.store.database import Database

LEDGER_CALLS = (
    "load", "commit", "report", "renew", "orphans", "recover", "next_wake_ms", "save_all", "delete",
    "schedules", "install",
)  # fmt: skip
LAUNCHER_CALLS = ("launch", "release", "adopt", "end", "ended", "drain")

_Result = TypeVar("_Result")


class Bomb:
    """Counts points down, and goes off."""

    left = 0

    @classmethod
    def point(cls, name: str) -> None:
        cls.left -= 1
        if cls.left == 0:
            os.write(2, json.dumps({"event": "died", "at": name}).encode() + b"\n")
            os.kill(os.getpid(), signal.SIGKILL)


def mined(name: str, call: Callable[..., Awaitable[_Result]]) -> Callable[..., Awaitable[_Result]]:
    """The call, with a point before and a point after it."""

    async def passing(*arguments: object, **named: object) -> _Result:
        Bomb.point(f"before {name}")
        result = await call(*arguments, **named)
        Bomb.point(f"after {name}")
        return result

    return passing


class MinedDatabase(Database):
    """A database with a point before each commit."""

    def write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        def passing(connection: sqlite3.Connection) -> _Result:
            result = work(connection)
            Bomb.point("inside a transaction")
            return result

        return super().write(passing)


class MinedLauncher(ProcessLauncher):
    """A launcher with a point right after a process was born."""

    def _admit(
        self, order: Order, process: "subprocess.Popen[bytes]", gate: int, path: Path | None
    ) -> _Run:
        Bomb.point("inside launch")
        return super()._admit(order, process, gate, path)


def lay_mines() -> None:
    ledger = type(
        "MinedLedger",
        (NarratingLedger,),
        {name: mined(name, getattr(NarratingLedger, name)) for name in LEDGER_CALLS},
    )
    launcher = type(
        "MinedProcessLauncher",
        (MinedLauncher,),
        {name: mined(name, getattr(MinedLauncher, name)) for name in LAUNCHER_CALLS},
    )
    for program in (run_command, krond_start):
        vars(program).update(NarratingLedger=ledger, ProcessLauncher=launcher)
    setattr(store, "Database", MinedDatabase)  # noqa: B010


if __name__ == "__main__":
    Bomb.left = int(sys.argv[1])
    lay_mines()
    sys.exit(main(sys.argv[2:]))
