"""
How fast may consumers feed each other?

A consumer that publishes to its own topic, or in a circle with others, always has something to do.
An event that comes from outside passes each consumer once at most; one that was made of more
rounds than there are consumers comes from a circle. A hundred such runs may go at once, as when a
long list is dealt with page by page; then one begins each second, so that the host rests in
between, a producer whose time has come runs, and what comes in meanwhile goes first.

What is counted lives in memory only: a host that begins anew counts anew.

Spec: WHEN-16.
"""

from collections import OrderedDict
from collections.abc import Collection
from typing import NamedTuple

from gnomon.ports.workflow_facts import Run

__all__ = ["BURST", "EVERY_MS", "Hold", "Pace"]

BURST = 100
"""So many runs of a circle may begin at once."""
EVERY_MS = 1_000
"""After that, one begins in this time."""
_KNOWN_MAX = 10_000


class Hold(NamedTuple):
    """Consumers are not called for what is there already before this instant."""

    until_ms: int
    arrivals: int
    """The newest arrival when that began; what is newer calls its consumer at once."""


class Pace:
    """Of one workflow."""

    def __init__(self) -> None:
        self._rounds: OrderedDict[int, int] = OrderedDict()
        self._empty: dict[int, bool] = {}
        self._full_ms = 0
        """When all of the burst can be had again."""

    def prepared(self, run: Run, makers: Collection[int | None]) -> None:
        """A run has reserved what these runs have published; None stands for the outside."""
        before = max((self._rounds.get(one, 0) for one in makers if one is not None), default=0)
        self._note(run, before + 1, is_empty=not makers)

    def followed(self, run: Run) -> None:
        """A run goes on with what an earlier attempt has prepared."""
        if run.number not in self._rounds and run.retry_of is not None:
            rounds = self._rounds.get(run.retry_of, 1)
            self._note(run, rounds, is_empty=self._empty.get(run.retry_of, False))

    def committed(self, run: Run, *, publishes: bool, consumers: int, now_ms: int) -> int | None:
        """A run of a consumer is over; until when consumers wait, None when they need not."""
        circles = self._rounds.get(run.number, 1) > consumers
        if not circles and not (publishes and self._empty.get(run.number, False)):
            return None
        self._full_ms = max(self._full_ms, now_ms) + EVERY_MS
        until_ms = self._full_ms - BURST * EVERY_MS
        return until_ms if until_ms > now_ms else None

    def _note(self, run: Run, rounds: int, *, is_empty: bool) -> None:
        self._rounds[run.number] = rounds
        self._empty[run.number] = is_empty
        if len(self._rounds) > _KNOWN_MAX:
            oldest, _ = self._rounds.popitem(last=False)
            del self._empty[oldest]
