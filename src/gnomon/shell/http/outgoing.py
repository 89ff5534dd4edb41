"""
One request to another machine, and what came of it.

A user who writes a URL into a DAG or an executor's address has this machine make a request, and may
not be trusted with our network. A host is looked up once, for the connection that is made; if a
single one of its addresses is not allowed, none is used. The connection is then made to one of
those very addresses, so that a name which answers differently the second time gains nothing.
Certificates and the Host header still speak of the name.

Either there is an answer, or it is said what is known about the request: the rule does not allow it
(`refused`), it certainly never left (`unsent`), or what became of it is not known (`unknown`).
Redirects are answers like others and are not followed; nothing is taken from the environment, no
proxy and no cookie; nothing is decompressed; and no answer is read beyond its limit. What a request
is for does not belong here.

Spec: OUT-2 to OUT-7.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from gnomon.core.ledger.detail import failure_line, one_line
from gnomon.errors import MissingExtraError
from gnomon.ports import Clock
from gnomon.shell.http.address_rule import PUBLIC, Rule
from gnomon.shell.wake import all_done_within

try:
    import httpcore2
except ImportError as error:
    raise MissingExtraError("making HTTP requests", extra="service") from error

__all__ = [
    "BODY_MAX",
    "CONNECT_MS",
    "Fault",
    "Outgoing",
    "Request",
    "Response",
    "Trouble",
    "system_resolve",
]

BODY_MAX = 64 * 1024
"""Bytes kept of an answer."""
CONNECT_MS = 5_000
CONNECTIONS_MAX = 100
_USER_AGENT = "gnomon"
_Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class Fault(StrEnum):
    """What is known about a request without an answer."""

    REFUSED = "refused"
    """The rule does not allow it, and nothing was sent."""
    UNSENT = "unsent"
    """Nothing was sent; later it may work."""
    UNKNOWN = "unknown"
    """It was sent, or part of it, and may have had its effect."""


class Trouble(NamedTuple):
    """There was no answer."""

    fault: Fault
    message: str


class Request(NamedTuple):
    """What is asked, and how long the answer may take."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    timeout_ms: int


class Response(NamedTuple):
    """An answer, of which the body may have been cut."""

    status: int
    headers: Mapping[str, str]
    """By their names in lower case."""
    body: bytes
    cut: bool


class _BlockedError(Exception):
    """The rule does not allow this connection; nothing was sent."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system knows them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class _CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to what a rule allows."""

    def __init__(self, rule: Rule, resolve: _Resolve = system_resolve) -> None:
        self._rule = rule
        self._resolve = resolve
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None,  # noqa: ASYNC109 (httpcore2's)
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:  # fmt: skip
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError(f"{host} cannot be looked up ({error})") from error
        for address in addresses:
            if objection := self._rule.objection_to_address(address):
                raise _BlockedError(f"{host}: {objection}")
        trouble: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                trouble = error
        raise trouble

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None,  # noqa: ASYNC109 (httpcore2's)
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:  # fmt: skip
        raise _BlockedError("a socket of this machine is not allowed")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class Outgoing:
    """Makes requests under one rule."""

    def __init__(
        self, clock: Clock, *, rule: Rule = PUBLIC, resolve: _Resolve = system_resolve,
        tls: ssl.SSLContext | None = None, body_max: int = BODY_MAX,
        connections_max: int = CONNECTIONS_MAX,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._rule = rule
        self._body_max = body_max
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls, max_connections=connections_max, http1=True, http2=False,
            network_backend=_CheckedBackend(rule, resolve), keepalive_expiry=30.0,
        )  # fmt: skip

    async def request(self, request: Request) -> Response | Trouble:
        """Make a request; what came of it is known when this returns."""
        if objection := self._rule.objection_to_url(request.url):
            return Trouble(Fault.REFUSED, objection)
        course = _Course()
        work = asyncio.ensure_future(self._do(request, course))
        try:
            if await all_done_within(self._clock, [work], request.timeout_ms):
                return await work
        finally:
            if not work.done():
                work.cancel()
                await asyncio.wait([work])
        return Trouble(course.fault, f"no answer within {request.timeout_ms} ms")

    async def close(self) -> None:
        await self._pool.aclose()

    async def _do(self, request: Request, course: "_Course") -> Response | Trouble:
        headers = {"User-Agent": _USER_AGENT, "Accept-Encoding": "identity", **request.headers}
        extensions = {
            "timeout": {"connect": CONNECT_MS / 1000, "pool": request.timeout_ms / 1000},
            "trace": course.see,
        }
        try:
            async with self._pool.stream(
                request.method, request.url, headers=list(headers.items()),
                content=request.body or None, extensions=extensions,
            ) as answer:  # fmt: skip
                body, cut = await self._read(answer)
                return Response(answer.status, _named(answer.headers), body, cut)
        except _BlockedError as error:
            return Trouble(Fault.REFUSED, one_line(str(error)))
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout) as error:
            return Trouble(Fault.UNSENT, failure_line(error))
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException,
                OSError) as error:  # fmt: skip
            return Trouble(course.fault, failure_line(error))
        except httpcore2.UnsupportedProtocol as error:
            return Trouble(Fault.REFUSED, failure_line(error))

    async def _read(self, answer: httpcore2.Response) -> tuple[bytes, bool]:
        """The body, up to the limit; what is beyond it is not waited for."""
        body = bytearray()
        async for part in answer.aiter_stream():
            body += part
            if len(body) > self._body_max:
                return bytes(body[: self._body_max]), True
        return bytes(body), False


class _Course:
    """How far a request has come."""

    def __init__(self) -> None:
        self._sent = False

    @property
    def fault(self) -> Fault:
        return Fault.UNKNOWN if self._sent else Fault.UNSENT

    async def see(self, event: str, info: Mapping[str, object]) -> None:
        if event.startswith("http11.send_request_headers"):
            self._sent = True


def _named(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    return {
        name.decode("ascii", "replace").lower(): value.decode("latin-1") for name, value in headers
    }
