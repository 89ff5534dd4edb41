"""
Deadline: when is a period too late to start?

Whole seconds are compared: with a deadline of zero a period may start within its chosen second and
not in the next. The question is asked once, when the period is first judged, and not again while it
waits its turn.

Spec: POLICY-12.
"""

from datetime import timedelta

__all__ = ["is_too_late", "last_too_late"]

_SECOND = timedelta(seconds=1)


def is_too_late(fire_ms: int, deadline: timedelta | None, *, now_ms: int) -> bool:
    return deadline is not None and now_ms // 1000 > fire_ms // 1000 + deadline // _SECOND


def last_too_late(tail_ms: int, deadline: timedelta, *, now_ms: int) -> int:
    """The greatest nominal instant that is too late wherever in its window it was to run."""
    return (now_ms - tail_ms - 1) // 1000 - deadline // _SECOND - 1
