"""
How is the service doing, in numbers that Prometheus reads?

The names of seed 002 stand as they are (counters end in `_total`, as Prometheus has it). Drift is
signed: a run that begins before its planned instant, because of jitter, is not one that begins
late. A histogram with negative bounds has no sum, so there is none.

Spec: HTTP-22.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from gnomon.shell.http.metrics import HttpMetrics, OwnRegistry

__all__ = ["Figures", "Metrics", "WorkerMetrics"]

_COUNTERS = {
    "schedules_due": "Schedules that were found due.",
    "runs_emitted": "Runs that were handed to the executor.",
    "runs_skipped_overlap": "Periods skipped because another run was in flight.",
    "runs_failed_launch": "Launches that failed.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the service has counted so far."""

    counts: Mapping[str, int]
    """By the names of seed 002, and by any others."""
    drift_ms: Mapping[int, int]
    """For each bound in milliseconds, negative ones too, how many runs began not later."""
    drift_count: int


class Metrics(HttpMetrics):
    """The metrics of the service and of its answers."""

    def __init__(
        self, counted: Callable[[], Figures], gauges: Callable[[], Mapping[str, float]]
    ) -> None:
        super().__init__(_ServiceCollector(counted, gauges))


class WorkerMetrics(OwnRegistry):
    """The metrics of the service as one worker counts them, which answers no requests."""

    def __init__(self, counted: Callable[[], Figures]) -> None:
        super().__init__(_ServiceCollector(counted, dict))


class _ServiceCollector(Collector):
    """Reads the service's own counters when it is asked."""

    def __init__(
        self, counted: Callable[[], Figures], gauges: Callable[[], Mapping[str, float]]
    ) -> None:
        self._counted = counted
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        found = self._counted()
        for name, value in {**dict.fromkeys(_COUNTERS, 0), **found.counts}.items():
            known = name in _COUNTERS
            family = CounterMetricFamily(
                name if known else f"gnomon_{name}", _COUNTERS.get(name, "Counted by the worker.")
            )
            family.add_metric([], value)
            yield family
        yield _drift(found)
        for name, level in self._gauges().items():
            yield GaugeMetricFamily(f"gnomon_{name}", "As it is now.", value=level)


def _drift(found: Figures) -> Metric:
    family = HistogramMetricFamily(
        "scheduling_drift_seconds",
        "When runs began after their planned instant; before it is negative.",
    )
    bounds = [(str(bound / 1000), float(count)) for bound, count in found.drift_ms.items()]
    family.add_metric([], [*bounds, ("+Inf", float(found.drift_count))], sum_value=None)
    return family
