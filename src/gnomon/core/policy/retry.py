"""
Retry: when is a launch that failed tried again?

Spec: POLICY-10.
"""

from datetime import timedelta

__all__ = ["BACKOFF_MAX", "retry_ms"]

BACKOFF_MAX = timedelta(minutes=10)
_MS = timedelta(milliseconds=1)


def retry_ms(launches: int, launches_max: int, backoff: timedelta, *, now_ms: int) -> int | None:
    """When to try again after `launches` tries; None when the launch is given up."""
    if launches >= launches_max:
        return None
    wait = min(backoff, BACKOFF_MAX) * (1 << min(launches - 1, 30))
    return now_ms + min(wait, BACKOFF_MAX) // _MS
