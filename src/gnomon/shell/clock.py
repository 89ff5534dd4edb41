"""
What time is it, and how long is it still to wait? The only module that reads the clock.

Everything else takes `now` as an argument, so that every answer can be asked again. Waiting goes
through a clock too, so that the host that gives the clock decides how long a second takes.
"""

import time

__all__ = ["SystemClock", "since_boot_ms"]


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
