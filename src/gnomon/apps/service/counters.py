"""
What has a service counted? The numbers of seed 002, and by how much runs missed their instants.

Drift is signed: a run that begins before its planned instant, because of jitter, is not one that
begins late, and an absolute value would hide it. On the page its histogram has no sum, because
Prometheus allows none where a bound is negative.

Spec: SERVICE-31, HTTP-22.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gnomon.shell.observe.counts import Family, Histogram, counter, histogram

__all__ = ["ServiceCounters", "service_families"]

_DRIFT_BOUNDS_MS = (
    -60_000, -10_000, -1_000, -100, 0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000,
    10_000, 30_000, 60_000, 300_000, 3_600_000,
)  # fmt: skip


@dataclass(slots=True)
class ServiceCounters:
    """What a service has done since it began."""

    schedules_due: int = 0
    runs_emitted: int = 0
    runs_skipped_overlap: int = 0
    runs_failed_launch: int = 0
    drift: Histogram = field(default_factory=lambda: Histogram(_DRIFT_BOUNDS_MS))
    """How long after their planned instants runs began; before is negative."""


def service_families(counted: ServiceCounters) -> Iterator[Family]:
    """The figures, under the names of seed 002; counters end in `_total`, as Prometheus has it."""
    yield counter("schedules_due_total", "Schedules that were found due.", counted.schedules_due)
    yield counter(
        "runs_emitted_total", "Runs that were handed to the executor.", counted.runs_emitted
    )
    yield counter(
        "runs_skipped_overlap_total", "Periods skipped because another run was in flight.",
        counted.runs_skipped_overlap,
    )  # fmt: skip
    yield counter("runs_failed_launch_total", "Launches that failed.", counted.runs_failed_launch)
    yield histogram(
        "scheduling_drift_seconds",
        "When runs began after their planned instant; before it is negative.", counted.drift,
    )  # fmt: skip
