"""
What time is it, and how long is it still to wait? The only module that reads the clock.

Everything else takes `now` as an argument, so that every answer can be asked again. Waiting goes
through a clock too, so that the host that gives the clock decides how long a second takes.
"""

import time
from typing import NamedTuple

__all__ = ["Reading", "SystemClock", "since_boot_ms"]


class Reading(NamedTuple):
    """One look at both clocks: the one on the wall, and the one that never jumps."""

    now_ms: int
    monotonic_ms: int

    def plus(self, length_ms: int) -> "Reading":
        return Reading(self.now_ms + length_ms, self.monotonic_ms + length_ms)

    def has_come(self, at: "Reading") -> bool:
        """Whether one of the clocks says that it is time."""
        return at.now_ms >= self.now_ms or at.monotonic_ms >= self.monotonic_ms


class SystemClock:
    """The clock of this machine: a `gnomon.ports.Clock`."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, length_ms: int) -> None:
        import asyncio  # who waits has it already; who only asks for the time does without

        await asyncio.sleep(length_ms / 1000)


def since_boot_ms() -> int:
    """How long this machine has been up, time asleep included; Linux counts processes' age so."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
