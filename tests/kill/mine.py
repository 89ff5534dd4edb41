"""
Mines: points at which a process kills or stops itself, and how they are laid.

The process kills itself, with SIGKILL, at the N-th point it passes; the last line it writes says
which point it was. Laid with -N it stops itself there, with SIGSTOP, and says so before.
"""

import json
import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gnomon.shell.store.database import Database

__all__ = ["LEDGER_CALLS", "Bomb", "MinedDatabase", "mined"]

LEDGER_CALLS = (
    "load", "commit", "report", "renew", "orphans", "recover", "next_wake_ms", "save_all", "delete",
    "schedules", "install",
)  # fmt: skip

_Result = TypeVar("_Result")


class Bomb:
    """Counts points down, and goes off."""

    left = 0
    stops = False
    """Whether it only stops the process, until another one continues it."""

    @classmethod
    def lay(cls, number: int) -> None:
        """At this point the process dies; with a number below 0 it is stopped; with 0, neither."""
        cls.left, cls.stops = abs(number), number < 0

    @classmethod
    def point(cls, name: str) -> None:
        cls.left -= 1
        if cls.left == 0:
            event = "stopped" if cls.stops else "died"
            os.write(2, json.dumps({"event": event, "at": name}).encode() + b"\n")
            os.kill(os.getpid(), signal.SIGSTOP if cls.stops else signal.SIGKILL)


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
