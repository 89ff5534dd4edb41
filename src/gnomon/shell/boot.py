"""
Which boot of the machine is this, and when was it?

The kernel draws an id at each boot. A clock that is set later moves the instant, and never the id.
A container has the boots of its machine: a restart of a container is none.

Spec: KROND-41, LAUNCH-8.
"""

from pathlib import Path
from typing import NamedTuple

__all__ = ["MachineBoot", "read_boot", "read_boot_id"]

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class MachineBoot(NamedTuple):
    """One boot of one machine."""

    boot_id: str
    at: int
    """In seconds since 1970, by the clock of the moment at which it was asked."""


def read_boot_id() -> str | None:
    """The id of this boot; None where the kernel tells none."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip() or None
    except OSError:
        return None


def read_boot(*, now_ms: int, since_boot_ms: int) -> MachineBoot | None:
    """This boot, when the machine has been up for this long; None where boots cannot be told."""
    boot_id = read_boot_id()
    return None if boot_id is None else MachineBoot(boot_id, max(now_ms - since_boot_ms, 0) // 1000)
