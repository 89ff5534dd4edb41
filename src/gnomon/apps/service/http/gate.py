"""
What does not even get in? Requests that are too large, too slow, or meant for another host.

A middleware of plain ASGI around everything else. It reads a whole body before the application sees
any of it, so that the size, the time and the form of the JSON are settled in one place. Host names
are compared with those the service was told about: a page in somebody's browser that has its name
point to the loopback address gets nothing.

Spec: HTTP-5 to HTTP-9.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.apps.service.http.problem import ProblemError, problem_response
from gnomon.apps.service.http.strict_json import check_json

__all__ = ["Gate", "Limits"]

_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a request is taken."""

    body_bytes: int = 1_048_576
    header_bytes: int = 16_384
    target_bytes: int = 4_096
    """The path and the query together."""
    body_seconds: float = 30
    requests: int = 500
    """How many requests are answered at once; streams of events count too."""


class Gate:
    """Lets requests in that keep the limits; the others get a problem."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str], limits: Limits) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._limits = limits
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        self._inside += 1
        try:
            self._check_head(scope)
            body = await self._body(scope, receive)
        except ProblemError as error:
            await problem_response(error.problem, instance=scope["path"])(scope, receive, send)
        else:
            await self._app(scope, _replay(body, receive), send)
        finally:
            self._inside -= 1

    def _check_head(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self._inside > self._limits.requests:
            raise ProblemError(
                503, "the service has too many requests at once", headers={"retry-after": "1"}
            )
        if len(scope["raw_path"]) + len(scope["query_string"]) > self._limits.target_bytes:
            limit = self._limits.target_bytes
            raise ProblemError(414, f"the path and the query are longer than {limit} bytes")
        if sum(len(name) + len(value) for name, value in headers.raw) > self._limits.header_bytes:
            raise ProblemError(
                431, f"the headers are longer than {self._limits.header_bytes} bytes"
            )
        host = _host_name(headers.get("host", ""))
        if "*" not in self._hosts and host not in self._hosts:
            raise ProblemError(421, "this service does not answer for that host")

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        headers, limit = Headers(scope=scope), self._limits.body_bytes
        announced = headers.get("content-length", "0")
        if not (announced.isascii() and announced.isdigit()):
            raise ProblemError(400, "content-length must be a number")
        if len(announced) > 19 or int(announced) > limit:
            raise ProblemError(413, f"the body is longer than {limit} bytes")
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                body = await _read(receive, limit)
        except TimeoutError:
            raise ProblemError(408, "the body did not arrive in time") from None
        if body and scope["method"] in _WITH_BODY:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json":
                raise ProblemError(
                    415, "the body must be JSON, with content-type: application/json"
                )
            check_json(body)
        return body


async def _read(receive: Receive, limit: int) -> bytes:
    parts: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(400, "the request was cut off")
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > limit:
            raise ProblemError(413, f"the body is longer than {limit} bytes")
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hands the body on, and then whatever comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _host_name(text: str) -> str:
    """The name without the port; an address of IPv6 keeps its brackets."""
    if text.startswith("["):
        return text.partition("]")[0].lower() + "]"
    return text.partition(":")[0].lower()
