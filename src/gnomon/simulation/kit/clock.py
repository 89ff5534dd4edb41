"""
The clocks of a simulated world: one that never jumps, and one on the wall that can be set.

All workers of a world share the wall clock, as all processes of a machine do.

Spec: SIM-2.
"""

import asyncio

from gnomon.simulation.kit.gate import Gate, Nature

__all__ = ["GatedClock", "UngatedClock", "Wall"]


class Wall:
    """The clock on the wall."""

    def __init__(self, start_ms: int, loop: asyncio.AbstractEventLoop) -> None:
        self._start_ms = start_ms
        self._offset_ms = 0
        self._loop = loop
        self.highest_ms = start_ms
        """The latest instant it has ever shown."""

    def at(self) -> int:
        """Milliseconds since the world began."""
        return round(self._loop.time() * 1000)

    def now_ms(self) -> int:
        now_ms = self._start_ms + self._offset_ms + self.at()
        self.highest_ms = max(self.highest_ms, now_ms)
        return now_ms

    def step(self, by_ms: int) -> None:
        self.now_ms()
        self._offset_ms += by_ms
        self.now_ms()

    def catch_up(self) -> None:
        """Show the latest instant that was ever shown, or a later one."""
        self._offset_ms += max(self.highest_ms - self.now_ms(), 0)


class UngatedClock:
    """The clocks as a person reads them."""

    def __init__(self, wall: Wall) -> None:
        self._wall = wall

    def now_ms(self) -> int:
        return self._wall.now_ms()

    def monotonic_ms(self) -> int:
        return self._wall.at()

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.sleep(max(length_ms, 0) / 1000)


class GatedClock(UngatedClock):
    """The clocks as one worker reads them."""

    def __init__(self, wall: Wall, gate: Gate[Nature]) -> None:
        super().__init__(wall)
        self._gate = gate

    def now_ms(self) -> int:
        self._gate.check()
        return super().now_ms()

    def monotonic_ms(self) -> int:
        self._gate.check()
        return super().monotonic_ms()

    async def sleep_ms(self, length_ms: int) -> None:
        self._gate.check()
        await super().sleep_ms(length_ms)
        self._gate.check()
