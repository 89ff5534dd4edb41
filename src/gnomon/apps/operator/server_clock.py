"""
Does the local clock agree with the server's? As far as the last answers can tell.

An answer carries the server's time in whole seconds. It was written between the question and the
moment in which it was heard; a time that lies within both, give or take the tolerance, agrees. An
answer says nothing when it took long, or when the local clock was set meanwhile: an operator that
was frozen over such a step would find any time between the two. What was found is forgotten after
a while, and at once when the local clock is set.

Spec: OPERATOR-18.
"""

from gnomon.apps.operator.asking import Agreement
from gnomon.apps.operator.periods import TOLERANCE_S

__all__ = ["KNOWN_MS", "ServerClock"]

KNOWN_MS = 10_000
"""So long an answer says what time it is, and so long it may take."""
_SET_MS = 500


class ServerClock:
    """What is known of the local clock beside the server's."""

    def __init__(self) -> None:
        self._found = Agreement.UNKNOWN
        self._at_ms = self._offset_ms = 0

    def see(
        self, at: int | None, *, asked_ms: int, heard_ms: int, took_ms: int, monotonic_ms: int
    ) -> None:
        """An answer came with the server's time in seconds; `took_ms` is by the monotonic clock."""
        was_set = abs(heard_ms - asked_ms - took_ms) > _SET_MS
        if at is None or was_set or took_ms > KNOWN_MS:
            return
        tolerance_ms = TOLERANCE_S * 1000
        agrees = asked_ms - tolerance_ms <= at * 1000 <= heard_ms + tolerance_ms
        self._found = Agreement.AGREES if agrees else Agreement.DIFFERS
        self._at_ms, self._offset_ms = monotonic_ms, heard_ms - monotonic_ms

    def agreement(self, *, now_ms: int, monotonic_ms: int) -> Agreement:
        """What still holds of it."""
        is_set = abs(now_ms - monotonic_ms - self._offset_ms) > _SET_MS
        is_old = monotonic_ms - self._at_ms > KNOWN_MS
        return Agreement.UNKNOWN if is_set or is_old else self._found
