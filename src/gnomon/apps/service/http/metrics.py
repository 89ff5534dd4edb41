"""
How is the service doing, in numbers that Prometheus reads?

The names of seed 002 stand as they are (counters end in `_total`, as Prometheus has it). Drift is
signed: a run that begins before its planned instant, because of jitter, is not one that begins
late. A histogram with negative bounds has no sum, so there is none. Each application has a registry
of its own.

Spec: HTTP-22.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from starlette.types import Message, Receive, Scope, Send

from gnomon.apps.service.http.outage import Outage
from gnomon.ports import Clock

__all__ = ["Counted", "Figures", "HttpMetrics", "Measured", "Metrics", "WorkerMetrics"]

_DURATIONS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
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


class Counted(Protocol):
    """Where the figures come from."""

    def figures(self) -> Figures: ...


class _Registered:
    """Collectors in a registry of their own."""

    def __init__(self, *collectors: Collector) -> None:
        self._registry = CollectorRegistry()
        for one in collectors:
            self._registry.register(one)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class HttpMetrics(_Registered):
    """What every application counts, its answers."""

    def __init__(self, *collectors: Collector) -> None:
        super().__init__(*collectors)
        self.requests = Counter(
            "http_requests", "Requests that were answered.", ["method", "route", "status"],
            registry=self._registry,
        )  # fmt: skip
        self.durations = Histogram(
            "http_request_duration_seconds", "How long answers took.", ["route"],
            buckets=_DURATIONS, registry=self._registry,
        )  # fmt: skip


class Metrics(HttpMetrics):
    """The metrics of the service and of its answers."""

    def __init__(
        self, counted: Callable[[], Figures], gauges: Callable[[], Mapping[str, float]]
    ) -> None:
        super().__init__(_ServiceCollector(counted, gauges))


class WorkerMetrics(_Registered):
    """The metrics of the service as one worker counts them, which answers nobody."""

    def __init__(self, counted: Callable[[], Figures]) -> None:
        super().__init__(_ServiceCollector(counted, dict))


class Measured:
    """Counts and times every answer, by its route, and notes the end of an outage."""

    def __init__(self, app: FastAPI, *, metrics: HttpMetrics, clock: Clock) -> None:
        self._app = app
        self._outage: Outage = app.state.outage
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = self._clock.monotonic_ms(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self._outage.answered(route, status)
            self._metrics.requests.labels(_method(scope), route, str(status)).inc()
            length = (self._clock.monotonic_ms() - began) / 1000
            self._metrics.durations.labels(route).observe(length)


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


def _method(scope: Scope) -> str:
    known = ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS")
    return scope["method"] if scope["method"] in known else "other"
