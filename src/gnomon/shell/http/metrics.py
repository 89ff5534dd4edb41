"""
How many answers were given, and how long did they take? Counted for Prometheus, by route.

Each application has a registry of its own.

Spec: HTTP-22.
"""

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.registry import Collector
from starlette.types import Message, Receive, Scope, Send

from gnomon.ports import Clock
from gnomon.shell.http.outage import Outage

__all__ = ["HttpMetrics", "Measured", "OwnRegistry"]

_DURATIONS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class OwnRegistry:
    """Collectors in a registry of their own."""

    def __init__(self, *collectors: Collector) -> None:
        self._registry = CollectorRegistry()
        for one in collectors:
            self._registry.register(one)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class HttpMetrics(OwnRegistry):
    """What every application counts: its answers."""

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


def _method(scope: Scope) -> str:
    known = ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS")
    return scope["method"] if scope["method"] in known else "other"
