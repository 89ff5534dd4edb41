"""
Which runs does this worker hold, and when must it say so again?

A run is held by a lease, which is renewed when a third of it has passed. Both clocks are asked: the
one on the wall, because the ledger may judge leases by it, and the one that never jumps, because
another machine may.

Spec: RUN-6.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from gnomon.core.schedule import Schedule

__all__ = ["Holding", "Moment"]

_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Moment:
    """One reading of both clocks."""

    now_ms: int
    monotonic_ms: int

    def plus(self, length_ms: int) -> "Moment":
        return Moment(self.now_ms + length_ms, self.monotonic_ms + length_ms)

    def has_come(self, at: "Moment") -> bool:
        """Whether one of the clocks says that it is time."""
        return at.now_ms >= self.now_ms or at.monotonic_ms >= self.monotonic_ms


class _Lease(NamedTuple):
    fence: int
    third_ms: int
    renew: Moment


class Holding:
    """The runs of one worker, from their claims to their ends."""

    def __init__(self) -> None:
        self._leases: dict[str, _Lease] = {}
        self._first: Moment | None = None
        """No lease is to be renewed earlier than this."""
        self._newest: tuple[Moment, timedelta, _Lease] | None = None
        """What was taken last, and when: much is taken in one turn, and on the same terms."""

    def __len__(self) -> int:
        return len(self._leases)

    def take(self, key: str, fence: int, schedule: Schedule, at: Moment) -> None:
        length, newest = schedule.policy.lease, self._newest
        if newest is not None and newest[0] is at and newest[1] is length:
            lease = newest[2]
            self._leases[key] = lease if lease.fence == fence else lease._replace(fence=fence)
            return
        third_ms = max(length // _MS // 3, 1)
        lease = self._leases[key] = _Lease(fence, third_ms, at.plus(third_ms))
        self._newest = at, length, lease
        self._bound(lease.renew)

    def drop(self, key: str, fence: int) -> None:
        lease = self._leases.get(key)
        if lease is not None and lease.fence == fence:
            del self._leases[key]

    def due(self, at: Moment) -> list[tuple[str, int]]:
        """The leases to renew now."""
        if self._first is None or not self._first.has_come(at):
            return []
        self.look_again()
        return [
            (key, lease.fence) for key, lease in self._leases.items() if lease.renew.has_come(at)
        ]

    def look_again(self) -> None:
        """Find out when the next lease is to be renewed, now that some have been or are gone."""
        self._first = None
        for lease in self._leases.values():
            self._bound(lease.renew)

    def renewed(self, key: str, fence: int, *, at: Moment) -> None:
        lease = self._leases.get(key)
        if lease is not None and lease.fence == fence:
            self._leases[key] = lease._replace(renew=at.plus(lease.third_ms))

    def rest_ms(self, at: Moment) -> int | None:
        """How long nothing has to be renewed; None when nothing is held."""
        if self._first is None or not self._leases:
            return None
        first = self._first
        return max(min(first.now_ms - at.now_ms, first.monotonic_ms - at.monotonic_ms), 0)

    def _bound(self, renew: Moment) -> None:
        first = self._first
        self._first = renew if first is None else Moment(
            min(first.now_ms, renew.now_ms), min(first.monotonic_ms, renew.monotonic_ms)
        )  # fmt: skip
