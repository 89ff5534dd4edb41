"""
Which process is it? A process id alone is given to another process sooner or later.

Process id, start time and boot together name one process for good. A process that has ended and
only waits to be reaped counts as gone.

Spec: LAUNCH-8.
"""

import os
from pathlib import Path
from typing import NamedTuple, Self

from gnomon.shell.boot import read_boot_id

__all__ = ["ProcessId", "identify"]

_BOOT_DIGITS = 8
"""How much of the id of a boot stands in that of a run."""
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_GONE = ("Z", "X", "x")


class ProcessId(NamedTuple):
    """One process, for good."""

    pid: int
    start: int
    """In ticks since the machine was started."""
    boot: str

    def age_ms(self, *, since_boot_ms: int) -> int:
        """How long ago it began, when the machine has been up for this long."""
        return max(since_boot_ms - self.start * 1000 // _TICKS_A_SECOND, 0)

    def text(self, timeout_ms: int, grace_ms: int) -> str:
        """The id of a run: this process, and the limits that its next worker must keep."""
        return f"{self.pid}:{self.start}:{self.boot}:{timeout_ms}:{grace_ms}"

    @classmethod
    def read(cls, run_id: str) -> tuple[Self, int, int] | None:
        """What `text` wrote; None for anything else."""
        parts = run_id.split(":")
        if len(parts) != 5 or not all(parts[at].isdecimal() for at in (0, 1, 3, 4)):
            return None
        pid, start, timeout_ms, grace_ms = (int(parts[at]) for at in (0, 1, 3, 4))
        return None if pid < 2 else (cls(pid, start, parts[2]), timeout_ms, grace_ms)


def identify(pid: int) -> ProcessId | None:
    """The process that has this id now; None when there is none that still runs."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    boot_id = read_boot_id()
    if boot_id is None:
        return None
    # The name, in parentheses, may hold anything; the fields after it are numbers and a letter.
    state, *rest = stat.rpartition(")")[2].split()
    return None if state in _GONE else ProcessId(pid, int(rest[18]), boot_id[:_BOOT_DIGITS])
