"""
When does a consumer want to be woken, and how soon or late may that be?

`wakeAt` is a hint of a script: it is brought within bounds that keep a workflow from turning in
circles and from sleeping for ever. What is no instant at all is brought to the nearer bound, so
that the consumer is called rather too early than never, and the author is told.

Spec: WAKE-1 to WAKE-4, WAKE-8.
"""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gnomon.apps.workflow.storable import storable
from gnomon.core.civil.instant import parse_instant
from gnomon.errors import DefinitionError

__all__ = ["WAKE_MAX_MS", "WAKE_MIN_MS", "Wake", "read_wake"]

WAKE_MIN_MS = 30_000
WAKE_MAX_MS = 24 * 3_600_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


class Wake(NamedTuple):
    """When a consumer is woken."""

    at_ms: int | None
    """Within bounds; None when it did not ask for it."""
    problem: str = ""
    """What is wrong with the wish; empty when nothing is."""


def read_wake(value: object, *, now_ms: int) -> Wake:
    """When to wake a consumer that has asked for this."""
    if value is None:
        return Wake(None)
    try:
        asked = parse_instant(value, where="wakeAt") if isinstance(value, str) else value
        if not isinstance(asked, datetime) or asked.utcoffset() is None:
            return _none(value, now_ms)
        asked_ms = (asked - _EPOCH) // _MS
    except (DefinitionError, ValueError, OverflowError):
        return _none(value, now_ms)
    return Wake(min(max(asked_ms, now_ms + WAKE_MIN_MS), now_ms + WAKE_MAX_MS))


def _none(value: object, now_ms: int) -> Wake:
    shown = storable(f"{value!r:.100}", most=200)
    return Wake(
        now_ms + WAKE_MIN_MS,
        f"wakeAt: must be an instant with an offset, got {shown}; it wakes in "
        f'{WAKE_MIN_MS // 1000} s; write e.g. "2026-03-01T09:00:00Z", or leave it out',
    )
