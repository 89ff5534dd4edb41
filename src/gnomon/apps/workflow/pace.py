"""
How fast may consumers feed each other?

A consumer that publishes to its own topic, or in a circle with others, always has something to do.
An event knows through how many consumers what it comes from has gone; one that has gone through
more than there are comes from a circle, and a run that reserves nothing and publishes may be one. A
hundred such runs may go at once, as when a long list is dealt with page by page; then one begins
each second, so that the host rests in between, a producer whose time has come runs, and what comes
in meanwhile goes first.

Spec: WHEN-16.
"""

from typing import NamedTuple

__all__ = ["BURST", "EVERY_MS", "Hold", "Pace"]

BURST = 100
"""So many runs of a circle may begin at once."""
EVERY_MS = 1_000
"""After that, one begins in this time."""


class Hold(NamedTuple):
    """Consumers are not called for what is there already before this instant."""

    until_ms: int
    arrivals: int
    """The newest arrival when that began; what is newer calls its consumer at once."""


class Pace:
    """Of one workflow, as long as its host lives."""

    def __init__(self) -> None:
        self._full_ms = 0
        """When all of the burst can be had again."""

    def run(self, *, now_ms: int) -> int | None:
        """A run of a circle is over; until when consumers wait, None when they need not."""
        self._full_ms = max(self._full_ms, now_ms) + EVERY_MS
        until_ms = self._full_ms - BURST * EVERY_MS
        return until_ms if until_ms > now_ms else None
