"""
Which KronJob is to be looked at next, and when?

Each has one place in the queue: the earliest instant at which a look was asked for. While a pass
over it is under way it is not given out again; what is asked for meanwhile comes right after. A
KronJob in trouble is held back, longer each time, and no other waits for it.

Instants are epoch milliseconds; `now_ms` is an argument.

Spec: OPERATOR-31.
"""

from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from gnomon.ports.kubernetes_object import digest

__all__ = ["HELD_MS", "WorkQueue"]

HELD_MS = (1_000, 2_000, 4_000, 8_000, 15_000)
"""So long a KronJob is held back after the first, the second, ... pass that met trouble."""

_NEVER = 1 << 62


@dataclass(slots=True)
class _Place:
    at_ms: int = _NEVER
    held_ms: int = 0
    """Not given out before this instant."""
    failures: int = 0
    is_busy: bool = False


class WorkQueue:
    """KronJobs by uid, in the order of their instants."""

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}
        self._heap: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._places)

    @property
    def held(self) -> int:
        """How many are in trouble."""
        return sum(1 for place in self._places.values() if place.failures)

    def due(self, now_ms: int) -> int:
        """How many wait for a pass that could begin now."""
        return sum(
            1 for one in self._places.values() if not one.is_busy and _instant(one) <= now_ms
        )

    def add(self, uid: str, at_ms: int) -> None:
        """Look at it at this instant, or earlier when that was asked for."""
        place = self._places.setdefault(uid, _Place())
        if at_ms < place.at_ms:
            place.at_ms = at_ms
            self._push(uid, place)

    def forgive(self, uid: str) -> None:
        """What held it back may have changed: do not wait any longer."""
        place = self._places.get(uid)
        if place is not None and place.failures:
            place.failures = place.held_ms = 0
            self._push(uid, place)

    def forget(self, uid: str) -> None:
        self._places.pop(uid, None)

    def take(self, now_ms: int) -> str | None:
        """The one that has waited longest, if there is one to look at now."""
        while self._heap and self._heap[0][0] <= now_ms:
            at_ms, uid = heappop(self._heap)
            place = self._places.get(uid)
            if place is None or place.is_busy or _instant(place) != at_ms:
                continue
            place.at_ms, place.is_busy = _NEVER, True
            return uid
        return None

    def done(
        self, uid: str, now_ms: int, *, wake_ms: int | None, trouble: bool, held_ms: int = 0
    ) -> None:
        """
        A pass has ended; look again at `wake_ms`, and after the time that trouble takes.

        Trouble does not delay what is due at `wake_ms`; the wish of the server (`held_ms`) does.
        """
        place = self._places.get(uid)
        if place is None:
            return
        place.is_busy = False
        place.failures = place.failures + 1 if trouble else 0
        place.held_ms = 0
        if trouble:
            hold = HELD_MS[min(place.failures, len(HELD_MS)) - 1]
            share = int(digest(uid, place.failures)[:4], 16) / 0xFFFF  # not all at once
            until_ms = now_ms + round(hold * (0.75 + 0.25 * share))
            if wake_ms is not None:
                until_ms = min(until_ms, max(wake_ms, now_ms + HELD_MS[0]))
            place.held_ms = max(until_ms, now_ms + held_ms)
            place.at_ms = min(place.at_ms, place.held_ms)
        if wake_ms is not None:
            place.at_ms = min(place.at_ms, wake_ms)
        self._push(uid, place)

    def all_now(self, now_ms: int) -> None:
        """The clock was set: nothing that was reckoned with it holds."""
        for place in self._places.values():
            place.at_ms, place.held_ms = min(place.at_ms, now_ms), 0
        self._heap = [
            (_instant(place), uid) for uid, place in self._places.items() if not place.is_busy
        ]
        heapify(self._heap)

    def next_ms(self) -> int | None:
        """When the next one is to be looked at."""
        while self._heap:
            at_ms, uid = self._heap[0]
            place = self._places.get(uid)
            if place is not None and not place.is_busy and _instant(place) == at_ms:
                return at_ms
            heappop(self._heap)
        return None

    def _push(self, uid: str, place: _Place) -> None:
        if not place.is_busy and place.at_ms < _NEVER:
            heappush(self._heap, (_instant(place), uid))


def _instant(place: _Place) -> int:
    return max(place.at_ms, place.held_ms)
