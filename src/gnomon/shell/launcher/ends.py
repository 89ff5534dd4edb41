"""
How did a run end, in one line, and which ends was the worker not told of yet?

What it used stands in the same line, where the launcher measures it, and can be read out of it.

Spec: LAUNCH-4, LAUNCH-14.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

from gnomon.ports import Ended

__all__ = [
    "Ends",
    "Exit",
    "Usage",
    "exit_line",
    "read_exit",
    "without_usage",
]

_EXIT = re.compile(
    r"(?:exit (?P<code>\d+|unknown)|signal (?P<signal>\d+))"
    r"(?: \(user (?P<user>[\d.]+)s, system (?P<system>[\d.]+)s(?:, memory (?P<memory>\d+) KiB)?\))?"
)


class Usage(NamedTuple):
    """What a process and the children it waited for have used."""

    user_s: float
    system_s: float
    memory_kib: int | None = None
    """The most that one of them had at a time; None when that was less than the worker has, with
    whose memory a process is counted until it begins."""

    def __str__(self) -> str:
        memory = "" if self.memory_kib is None else f", memory {self.memory_kib} KiB"
        return f"(user {self.user_s:.3f}s, system {self.system_s:.3f}s{memory})"


class Exit(NamedTuple):
    """How a process ended; None for what is not known."""

    code: int | None
    signal: int | None
    usage: Usage | None


def exit_line(status: int | None, usage: Usage | None = None) -> str:
    """`exit 3`, `signal 9` or `exit unknown`; and what was used, if that is known."""
    if status is None:
        return "exit unknown"
    line = f"exit {status}" if status >= 0 else f"signal {-status}"
    return line if usage is None else f"{line} {usage}"


def without_usage(line: str) -> str:
    """What `exit_line` wrote, without what was used; anything else as it is."""
    return line if read_exit(line) is None else line.partition(" (")[0]


def read_exit(line: str | None) -> Exit | None:
    """What `exit_line` wrote; None for anything else."""
    found = _EXIT.fullmatch(line or "")
    if found is None:
        return None
    code, signal = found["code"], found["signal"]
    usage = None
    if found["user"] is not None:
        memory = found["memory"]
        usage = Usage(
            float(found["user"]), float(found["system"]), None if memory is None else int(memory)
        )
    return Exit(
        int(code) if code is not None and code.isdecimal() else None,
        None if signal is None else int(signal),
        usage,
    )


class Ends:
    """Ends that the worker has not been told of yet."""

    def __init__(self) -> None:
        self._ends: list[Ended] = []
        self._some = asyncio.Event()

    def add(self, end: Ended) -> None:
        if not self._ends:
            self._some.set()
        self._ends.append(end)

    async def take(self) -> Sequence[Ended]:
        """Wait until there are some, and hand them over."""
        await self._some.wait()
        self._some.clear()
        ends, self._ends = self._ends, []
        return ends
