"""
What do all applications of ours have in common? The frame around their routes.

Errors are answered as problems, requests are numbered, counted and timed, and two questions have an
answer everywhere: `/healthz` says that the process answers, for a supervisor that restarts
processes; `/readyz` says whether it can reach its store, for a proxy that sends it requests. While
a store cannot be reached, each request is answered with 503 and counted. The log says so once, and
again when requests are answered; a line for each would bury the one that says why. Which other
routes there are is the business of each application.

Spec: HTTP-1, HTTP-11, HTTP-14, HTTP-22, HTTP-41, AUTH-16.
"""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from itertools import count

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gnomon.ports import Clock
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.openapi import Health, problems
from gnomon.shell.http.query import check_query
from gnomon.shell.http.responses import add_handlers
from gnomon.shell.observe.counts import Family, Histogram, counter, histogram
from gnomon.shell.observe.log import log
from gnomon.shell.version import installed_version

__all__ = ["HttpCounts", "Measured", "Outage", "health_router", "new_app", "request_numbers"]

REASONS_MAX = 8
_WITHOUT_STORE = ("none", "/healthz", "/openapi.json", "/metrics", "/events")
"""Routes whose answers say nothing about the store."""
_BOUNDS_MS = (1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000)


def new_app(
    title: str, summary: str, authenticator: Authenticator, *, metrics_open: bool
) -> FastAPI:
    """
    An application without routes, which answers every error with a problem.

    `metrics_open` says whether anybody may read its metrics.
    """
    app = FastAPI(
        title=title,
        version=installed_version() or "0",
        summary=summary,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=_operation,
    )
    app.state.authenticator = authenticator
    app.state.metrics_open = metrics_open
    app.state.outage = Outage()
    add_handlers(app)
    return app


def request_numbers(clock: Clock) -> Callable[[], str]:
    """Names for requests: the instant at which the service began, and a count."""
    began, numbers = clock.now_ms(), count(1)
    return lambda: f"{began:x}-{next(numbers):x}"


def _operation(route: APIRoute) -> str:
    return route.name


def health_router(check_store: Callable[[], Awaitable[None]]) -> APIRouter:
    """The routes of a server; `check_store` raises while its store cannot be reached."""
    router = APIRouter(
        tags=["health"], responses=problems(guarded=False), dependencies=[Depends(check_query)]
    )

    @router.get("/healthz")
    async def healthz() -> Health:
        """The process answers."""
        return Health(status="ok")

    @router.head("/healthz", response_class=Response)
    async def healthz_head() -> Response:
        """The process answers, in a status alone."""
        return Response()

    @router.head("/readyz", response_class=Response)
    async def readyz_head() -> Response:
        """The server can reach its store, in a status alone."""
        await check_store()
        return Response()

    @router.get("/readyz")
    async def readyz() -> Health:
        """The server can reach its store."""
        await check_store()
        return Health(status="ready")

    return router


class Outage:
    """Whether the store of an application can be reached, as its requests have found."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self._requests = 0

    def failed(self, path: str, reason: str) -> None:
        """A request could not be answered for this reason."""
        self._requests += 1
        if reason not in self._reasons and len(self._reasons) < REASONS_MAX:
            self._reasons.add(reason)
            log(logging.ERROR, "requests cannot be answered", path=path, reason=reason)

    def answered(self, route: str, status: int) -> None:
        """A request of this route was answered."""
        if self._requests and status < 400 and route not in _WITHOUT_STORE:
            log(logging.INFO, "requests are answered again", unanswered=self._requests)
            self._reasons.clear()
            self._requests = 0


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
