"""
What has a service counted? The numbers of seed 002, and by how much runs missed their instants.

Drift is signed: a run that begins before its planned instant, because of jitter, is not one that
begins late, and an absolute value would hide it.

Spec: SERVICE-31.
"""

from bisect import bisect_left
from dataclasses import dataclass, field

__all__ = ["Drift", "ServiceCounters"]

_BOUNDS_MS = (
    -60_000, -10_000, -1_000, -100, 0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000,
    10_000, 30_000, 60_000, 300_000, 3_600_000,
)  # fmt: skip


@dataclass(slots=True)
class Drift:
    """How long after their planned instants runs began, as a histogram; before is negative."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS_MS) + 1))
    count: int = 0
    least_ms: int | None = None
    most_ms: int | None = None

    def add(self, drift_ms: int) -> None:
        self.counts[bisect_left(_BOUNDS_MS, drift_ms)] += 1
        self.count += 1
        self.least_ms = drift_ms if self.least_ms is None else min(self.least_ms, drift_ms)
        self.most_ms = drift_ms if self.most_ms is None else max(self.most_ms, drift_ms)

    def buckets(self) -> dict[int, int]:
        """For each bound in milliseconds, how many were not later than that."""
        total, found = 0, {}
        for bound, count in zip(_BOUNDS_MS, self.counts, strict=False):
            total += count
            found[bound] = total
        return found


@dataclass(slots=True)
class ServiceCounters:
    """What a service has done since it began."""

    schedules_due: int = 0
    runs_emitted: int = 0
    runs_skipped_overlap: int = 0
    runs_failed_launch: int = 0
    drift: Drift = field(default_factory=Drift)

    def counts(self) -> dict[str, int]:
        """The counters by name."""
        return {
            "schedules_due": self.schedules_due,
            "runs_emitted": self.runs_emitted,
            "runs_skipped_overlap": self.runs_skipped_overlap,
            "runs_failed_launch": self.runs_failed_launch,
        }
