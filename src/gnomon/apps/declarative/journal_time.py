"""
Which instant is it, for a scheduler that must not be fooled by a clock?

A journal time is one reading of three times. What the clock on the wall shows is for people. What
was looked at of it decides what is due, so that a minute once looked at does not come again when
the clock is set back. Time that never goes back measures delays, and goes on from one owner of a
store to the next.

Minutes that the clock leapt over were owed once, at the leap; when it is set back before them, they
come like any others. So what was looked at is kept in stretches, with holes between them. To be set
back before a stretch is to leave it: everything in it is settled, for all tasks.

Spec: CLOCK-1 to CLOCK-4.
"""

from collections.abc import Callable
from typing import NamedTuple

from gnomon.ports import Clock, Head, Looked, Stretch

__all__ = ["MINUTE_MS", "STRETCHES_MAX", "Back", "Island", "JournalTime", "Sight", "Timekeeper"]

MINUTE_MS = 60_000
STRETCHES_MAX = 32
"""So many stretches are kept; of more, those farthest from the present are forgotten."""

Island = tuple[int, int]
"""The first and the last ms of a stretch that was left."""


class Back(NamedTuple):
    """The clock was set back to where it had not been, or before what it had leapt over."""

    former_ms: int
    """What was due up to here, before that, is owed all the same."""
    base_ms: int
    """What comes after this comes, unless it lies in one of the islands."""
    before: tuple[Island, ...]
    islands: tuple[Island, ...]
    """The stretches that were left, before that and now."""


class JournalTime(NamedTuple):
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

    def time(self) -> JournalTime:
        t_ms = self._origin_ms + self._clock.monotonic_ms() - self._started_ms
        wall_ms = max(self._clock.now_ms(), 0)
        self._see(wall_ms, t_ms)
        sight = self._sight
        return JournalTime(wall_ms, sight.through_ms, t_ms, sight.looked, sight.islands)

    def _see(self, wall_ms: int, t_ms: int) -> None:
        former_ms, self._wall_ms = self._wall_ms, wall_ms
        if back := self._sight.look(wall_ms):
            self._backs.append((t_ms, back))
        if wall_ms < former_ms:
            self._stepped_back(former_ms - wall_ms, self._sight.through_ms)


class Sight:
    """What has been looked at up to now."""

    def __init__(self, looked: Looked, *, wall_ms: int, through_ms: int) -> None:
        stretches = list(looked.stretches)
        if not stretches and through_ms:  # written before stretches were: its last minute counts
            stretches = [Stretch(_minute(through_ms), through_ms)]
        self._stretches = stretches
        self._minute_ms = _minute(wall_ms)
        self._is_fresh = looked.fresh_ms == self._minute_ms if looked.stretches else True
        self.through_ms = through_ms
        """Everything up to here has been looked at, from where the clock is now."""
        self.islands = _islands(stretches)

    @property
    def looked(self) -> Looked:
        return Looked(tuple(self._stretches), self.fresh_ms)

    @property
    def fresh_ms(self) -> int | None:
        return self._minute_ms if self._is_fresh else None

    def look(self, wall_ms: int) -> Back | None:
        """The clock shows this; something else than None when it has gone back to what is new."""
        minute_ms = _minute(wall_ms)
        if minute_ms != self._minute_ms or not self._stretches:
            self._minute_ms = minute_ms
            self._is_fresh = not any(
                one.first_ms < minute_ms + MINUTE_MS and one.last_ms >= minute_ms
                for one in self._stretches
            )
        base_ms = self._add(wall_ms)
        former_ms, before = self.through_ms, self.islands
        self.through_ms = self._top(wall_ms)
        if self.through_ms >= former_ms:
            return None
        self._stretches = [
            one._replace(is_left=one.is_left or one.first_ms > self.through_ms)
            for one in self._stretches
        ]
        self.islands = _islands(self._stretches)
        return Back(former_ms, base_ms, before, self.islands)

    def _add(self, wall_ms: int) -> int:
        """See to it that a stretch has this instant; return up to where it was known before."""
        place = sum(one.first_ms <= wall_ms for one in self._stretches)
        last = self._stretches[place - 1] if place else Stretch(-1, -MINUTE_MS - 1)
        if wall_ms <= last.last_ms:
            return self._top(wall_ms)
        if _minute(wall_ms) > _minute(last.last_ms) + MINUTE_MS:  # a minute was leapt over
            self._insert(place, Stretch(_minute(wall_ms), wall_ms), wall_ms)
            return _minute(wall_ms) - 1
        if last.is_left:
            self._insert(place, Stretch(last.last_ms + 1, wall_ms), wall_ms)
        else:
            self._stretches[place - 1] = last._replace(last_ms=wall_ms)
        return last.last_ms

    def _insert(self, place: int, stretch: Stretch, wall_ms: int) -> None:
        self._stretches.insert(place, stretch)
        if len(self._stretches) > STRETCHES_MAX:
            farthest = max(self._stretches, key=lambda one: _distance(one, wall_ms))
            self._stretches.remove(farthest)

    def _top(self, wall_ms: int) -> int:
        """The end of what was looked at without a hole from this instant on."""
        top_ms = wall_ms
        for one in self._stretches:
            if one.first_ms <= top_ms + 1:
                top_ms = max(top_ms, one.last_ms)
        return top_ms


def _islands(stretches: list[Stretch]) -> tuple[Island, ...]:
    return tuple((one.first_ms, one.last_ms) for one in stretches if one.is_left)


def _minute(at_ms: int) -> int:
    return at_ms - at_ms % MINUTE_MS


def _distance(stretch: Stretch, wall_ms: int) -> int:
    return max(stretch.first_ms - wall_ms, wall_ms - stretch.last_ms)
