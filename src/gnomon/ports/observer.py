"""
The observer as a contract: who hears what a worker has written.

A worker tells it after the ledger has accepted a write, so that nothing is told that did not hold.
A process that is killed in between has done more than it said. An observer returns at once and
never raises; log lines, counts, events and messages are made of what it hears.

Spec: CLI-21.
"""

from collections.abc import Collection, Sequence

from gnomon.ports.ledger_rows import Committed, Report, RunRow

__all__ = ["Observer"]


class Observer:
    """Hears of nothing; a door overrides what it wants to hear."""

    def committed(self, held: Committed) -> None:
        """These changes were written, and these claims won."""

    def reported(self, reports: Sequence[Report]) -> None:
        """The ledger has accepted these reports."""

    def took_over(self, found: Sequence[RunRow], adopted: Collection[str]) -> None:
        """A former worker had these runs in flight; this worker has those with these keys now."""
