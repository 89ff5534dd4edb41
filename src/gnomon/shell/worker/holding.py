"""
Which runs does this worker hold, and when must it say so again?

A run is held by a lease, which is renewed when a third of it has passed, for the length that it had
when the run was taken, whatever becomes of the definition. Both clocks are asked: the
one on the wall, because the ledger may judge leases by it, and the one that never jumps, because
another machine may.

Spec: RUN-6.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from gnomon.core.schedule import Schedule
from gnomon.ports import Held, Renewal

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
    length_ms: int
    renew: Moment

    @property
    def third_ms(self) -> int:
        return max(self.length_ms // 3, 1)


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
        lease = _Lease(fence, length // _MS, at)
        lease = self._leases[key] = lease._replace(renew=at.plus(lease.third_ms))
        self._newest = at, length, lease
        self._bound(lease.renew)

    def drop(self, key: str, fence: int) -> None:
        lease = self._leases.get(key)
        if lease is not None and lease.fence == fence:
            del self._leases[key]

    def due(self, at: Moment) -> list[Held]:
        """The leases to renew now."""
        if self._first is None or not self._first.has_come(at):
            return []
        self.look_again()
        return [
            Held(key, lease.fence, lease.length_ms)
            for key, lease in self._leases.items()
            if lease.renew.has_come(at)
        ]

    def held(self, key: str, fence: int) -> Held:
        """A run as it is held; for as long as its schedule says, where it is not."""
        lease = self._leases.get(key)
        if lease is None or lease.fence != fence:
            return Held(key, fence)
        return Held(key, fence, lease.length_ms)

    def look_again(self) -> None:
        """Find out when the next lease is to be renewed, now that some have been or are gone."""
        self._first = None
        for lease in self._leases.values():
            self._bound(lease.renew)

    def answered(
        self, runs: Sequence[Held], answers: Sequence[Renewal], *, at: Moment
    ) -> list[tuple[Held, Renewal]]:
        """Take note of what the ledger said; the runs that are not held any more."""
        gone = list[tuple[Held, Renewal]]()
        for run, answer in zip(runs, answers, strict=True):
            lease = self._leases.get(run.key)
            if answer is not Renewal.HELD:
                gone.append((run, answer))
            elif lease is not None and lease.fence == run.fence:
                self._leases[run.key] = lease._replace(renew=at.plus(lease.third_ms))
        return gone

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
