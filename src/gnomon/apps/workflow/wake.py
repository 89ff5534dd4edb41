"""
When does a consumer want to be woken, and how soon or late may that be?

`wakeAt` is a hint of a script that nobody has to trust: it is brought within bounds that keep a
workflow from turning in circles and from sleeping for ever. What is no instant at all is a mistake
of the script, because a consumer that silently never wakes is worse than one that fails.

Spec: WAKE-1 to WAKE-5.
"""

from datetime import UTC, datetime, timedelta

from gnomon.core.civil.instant import parse_instant
from gnomon.errors import DefinitionError, LogicError

__all__ = ["WAKE_MAX_MS", "WAKE_MIN_MS", "read_wake"]

WAKE_MIN_MS = 30_000
WAKE_MAX_MS = 24 * 3_600_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def read_wake(value: object, *, now_ms: int) -> int | None:
    """The instant to wake at, within bounds; None when none was asked for."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = parse_instant(value, where="wakeAt")
        except DefinitionError as error:
            raise LogicError(str(error)) from None
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise LogicError(
            f"wakeAt: must be an instant with an offset, got {value!r}; "
            'write e.g. "2026-03-01T09:00:00Z", or leave it out'
        )
    asked_ms = (value - _EPOCH) // _MS
    return min(max(asked_ms, now_ms + WAKE_MIN_MS), now_ms + WAKE_MAX_MS)
