"""
What has still to be written to the ledger about runs?

Reports wait here and are written in batches. One is let go only after the ledger has answered, so
that an end is not lost when the ledger fails. When a run ends before its launch was written, the
end says it all, and the launch is dropped.

Spec: RUN-5.
"""

from itertools import islice

from gnomon.ports import Ended, Launched, Ledger, Report

__all__ = ["Reports"]


class Reports:
    """Reports in the order in which they came, at most one for each run."""

    def __init__(self, batch: int) -> None:
        self._batch = batch
        self._waiting: dict[tuple[str, int], Report] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, report: Report) -> None:
        place = report.key, report.fence
        former = self._waiting.get(place)
        if former is None or isinstance(former, Launched):
            self._waiting[place] = report

    def has_end(self, key: str) -> bool:
        """Whether a run is known to be over, though the ledger does not know it yet."""
        return any(
            isinstance(report, Ended) and report.key == key for report in self._waiting.values()
        )

    async def write(self, ledger: Ledger, *, now_ms: int) -> list[Report]:
        """Write everything that waits; return what was refused."""
        refused = []
        left = len(self._waiting)
        while left > 0:
            batch = list(islice(self._waiting.items(), min(self._batch, left)))
            answers = await ledger.report([report for _, report in batch], now_ms=now_ms)
            for (place, report), accepted in zip(batch, answers, strict=True):
                # While the ledger wrote the launch, the run may have ended; that still waits.
                if self._waiting[place] is report:
                    del self._waiting[place]
                if not accepted:
                    refused.append(report)
            left -= len(batch)
        return refused
