"""
Which instant is it, for a scheduler that must not be fooled by a clock?

A moment is one reading of three times. What the clock on the wall shows is for people. What has
been looked at of it (`looked`) decides what is due, so that a minute once looked at does not come
again when the clock is set back. Time that never goes back measures delays, and goes on from one
owner of a store to the next.

Spec: CLOCK-1 to CLOCK-4.
"""

from collections.abc import Callable
from typing import NamedTuple

from gnomon.apps.declarative.looked import MINUTE_MS, Back, Island, Sight
from gnomon.ports import Clock, Head, Looked

__all__ = ["MINUTE_MS", "Moment", "Timekeeper"]


class Moment(NamedTuple):
    """One instant, in milliseconds."""

    wall_ms: int
    """What the clock on the wall shows."""
    through_ms: int
    """Everything up to here has been due once, but what lies in holes further back."""
    t_ms: int
    """Time that never goes back."""
    looked: Looked = Looked()
    islands: tuple[Island, ...] = ()
    """What has been looked at and left: nothing in it is due any more."""

    @property
    def minute_ms(self) -> int:
        """The beginning of the latest minute that has begun."""
        return self.through_ms - self.through_ms % MINUTE_MS

    @property
    def new_ms(self) -> int:
        """Up to here a task that is new owes nothing: only a fresh minute is its own."""
        return self.through_ms if self.looked.fresh_ms is None else self.looked.fresh_ms - 1


class Timekeeper:
    """Reads a clock, and goes on where the journal's last writer was."""

    def __init__(self, clock: Clock, head: Head, stepped_back: Callable[[int, int], None]) -> None:
        self._clock = clock
        self._stepped_back = stepped_back
        self._backs: list[tuple[int, Back]] = []
        wall_ms = max(clock.now_ms(), 0)
        # Between two owners only the clock on the wall measured the time.
        self._origin_ms = head.t_ms + max(wall_ms - head.wall_ms, 0) if head.fence else 0
        self._started_ms = clock.monotonic_ms()
        self._wall_ms = head.wall_ms
        self._sight = Sight(head.looked, wall_ms=head.wall_ms, through_ms=head.through_ms)
        self._see(wall_ms, self._origin_ms)

    @property
    def has_gone_back(self) -> bool:
        """Whether there is a `Back` that `take_backs` has not given yet."""
        return bool(self._backs)

    def take_backs(self) -> list[tuple[int, Back]]:
        """Every time that the clock went back to what is new, since this was last asked."""
        taken, self._backs = self._backs, []
        return taken

    def moment(self) -> Moment:
        t_ms = self._origin_ms + self._clock.monotonic_ms() - self._started_ms
        wall_ms = max(self._clock.now_ms(), 0)
        self._see(wall_ms, t_ms)
        sight = self._sight
        return Moment(wall_ms, sight.through_ms, t_ms, sight.looked, sight.islands)

    def _see(self, wall_ms: int, t_ms: int) -> None:
        former_ms, self._wall_ms = self._wall_ms, wall_ms
        if back := self._sight.look(wall_ms):
            self._backs.append((t_ms, back))
        if wall_ms < former_ms:
            self._stepped_back(former_ms - wall_ms, self._sight.through_ms)
