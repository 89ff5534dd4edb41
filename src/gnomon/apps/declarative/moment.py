"""
Which instant is it, for a scheduler that must not be fooled by a clock?

A moment is one reading of three times. What the clock on the wall shows is for people. What it has
shown at most decides what is due, so that an instant once passed does not come again when the clock
is set back. Time that never goes back measures delays, and goes on from one owner of a store to the
next.

Spec: CLOCK-1 to CLOCK-3.
"""

from collections.abc import Callable
from typing import NamedTuple

from gnomon.ports import Clock, Head

__all__ = ["MINUTE_MS", "Moment", "Timekeeper"]

MINUTE_MS = 60_000


class Moment(NamedTuple):
    """One instant, in milliseconds."""

    wall_ms: int
    """What the clock on the wall shows."""
    through_ms: int
    """The latest that it has ever shown: everything up to here has been due once."""
    t_ms: int
    """Time that never goes back."""

    @property
    def minute_ms(self) -> int:
        """The beginning of the latest minute that has begun."""
        return self.through_ms - self.through_ms % MINUTE_MS


class Timekeeper:
    """Reads a clock, and goes on where the journal's last writer was."""

    def __init__(self, clock: Clock, head: Head, stepped_back: Callable[[int], None]) -> None:
        self._clock = clock
        self._stepped_back = stepped_back
        wall_ms = max(clock.now_ms(), 0)
        if wall_ms < head.wall_ms:
            stepped_back(head.wall_ms - wall_ms)
        # Nobody measured the time between two owners but the clock on the wall.
        self._origin_ms = head.t_ms + max(wall_ms - head.wall_ms, 0) if head.fence else 0
        self._started_ms = clock.monotonic_ms()
        self._wall_ms = wall_ms
        self._through_ms = max(head.through_ms, wall_ms)

    def moment(self) -> Moment:
        wall_ms = max(self._clock.now_ms(), 0)
        if wall_ms < self._wall_ms:
            self._stepped_back(self._wall_ms - wall_ms)
        self._wall_ms = wall_ms
        self._through_ms = max(self._through_ms, wall_ms)
        t_ms = self._origin_ms + self._clock.monotonic_ms() - self._started_ms
        return Moment(wall_ms, self._through_ms, t_ms)
