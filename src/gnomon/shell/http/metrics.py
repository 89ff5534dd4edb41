"""
How many answers were given, and how long did they take? Counted by route.

Spec: HTTP-22.
"""

from collections import Counter
from collections.abc import Iterator

from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from gnomon.ports import Clock
from gnomon.shell.http.outage import Outage
from gnomon.shell.observe.counts import Family, Histogram, counter, histogram

__all__ = ["HttpCounts", "Measured"]

_BOUNDS_MS = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000)


class HttpCounts:
    """What every application counts: its answers."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._lengths: dict[str, Histogram] = {}

    def add(self, method: str, route: str, status: int, *, length_ms: int) -> None:
        self._answers[method, route, status] += 1
        self._lengths.setdefault(route, Histogram(_BOUNDS_MS)).add(length_ms)

    def families(self) -> Iterator[Family]:
        """The figures of all answers so far."""
        answers = counter("http_requests_total", "Requests that were answered.")
        for (method, route, status), number in self._answers.items():
            answers.add(number, method=method, route=route, status=str(status))
        lengths = histogram("http_request_duration_seconds", "How long answers took.")
        for route, length in self._lengths.items():
            lengths.add(length, route=route)
        yield from (answers, lengths)


class Measured:
    """Counts and times every answer, by its route, and notes the end of an outage."""

    def __init__(self, app: FastAPI, *, counts: HttpCounts, clock: Clock) -> None:
        self._app = app
        self._outage: Outage = app.state.outage
        self._counts = counts
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
            length_ms = self._clock.monotonic_ms() - began
            self._counts.add(_method(scope), route, status, length_ms=length_ms)


def _method(scope: Scope) -> str:
    known = ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS")
    return scope["method"] if scope["method"] in known else "other"
