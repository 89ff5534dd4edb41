"""
How much does a server take: of one request, of one sender and of all of them together?

Each number bounds one thing that a sender could use up. What it cannot use up stays free for the
others. Four kinds of requests have a room each: those that go on for as long as the client listens,
those that an executor signs, those that ask whether the store is there, and all others. A request
that asks whether the process is alive needs no room. In a full room a request whose body has not
arrived gives way to the next one, the one that has been sending longest first.

The gate is a middleware of plain ASGI around everything else. It reads a whole body before the
application sees any of it, so that the size, the time and the form of the JSON are settled in one
place. A body is read only from senders that are known; what executors sign is checked as far as its
headers go. Host names are compared with those the service was told about: a page in a browser that
has its name point to the loopback address gets nothing, and a page of another site changes nothing.

Spec: HTTP-5 to HTTP-9, HTTP-30 to HTTP-37.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.shell.http.authentication import Authenticator, sender_of
from gnomon.shell.http.principal import Principal
from gnomon.shell.http.problem import ProblemError, problem_response
from gnomon.shell.http.strict_json import check_json

__all__ = ["Gate", "Limits"]

ALIVE = "/healthz"
READY = "/readyz"
CALLBACKS = "/executor/callbacks"
STREAMS = "/events"
READY_AT_ONCE = 32
CALLBACK_BYTES = 65_536
_LOOKING = ("GET", "HEAD", "OPTIONS")
_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
_OWN_SITE = ("same-origin", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one server."""

    body_bytes: int = 1_048_576
    header_bytes: int = 16_384
    target_bytes: int = 4_096
    """The path and the query together."""
    head_seconds: float = 10
    """From a connection, or from the first byte of a later request, to the end of the headers."""
    idle_seconds: float = 15
    """How long a connection is kept for a further request."""
    body_seconds: float = 30
    unread_seconds: float = 30
    """How long a sender may leave its answer unread."""
    requests: int = 500
    """How many requests are answered at once; those below have rooms of their own."""
    streams: int = 250
    """Streams of events at once."""
    streams_each: int = 32
    """Streams of events of one principal."""
    callbacks: int = 100
    """Callbacks of executors at once."""
    waiting: int = 500
    """Connections on which no request is being answered."""
    waiting_each: int = 250
    """Those of one peer."""


class Visit:
    """One request in a room."""

    __slots__ = ("_room",)

    def __init__(self, room: "Room") -> None:
        self._room = room

    @asynccontextmanager
    async def sending(self, seconds: float) -> AsyncIterator[None]:
        """While its body arrives; a problem when it takes too long, or has to give way."""
        try:
            async with asyncio.timeout(seconds) as deadline:
                self._room.sending[self] = deadline
                try:
                    yield
                finally:
                    self._room.sending.pop(self, None)
        except TimeoutError:
            raise ProblemError(
                408, "the body did not arrive in time", headers={"connection": "close"}
            ) from None


class Room:
    """So many requests at once, and of one sender so many."""

    def __init__(self, most: int, each: int | None = None) -> None:
        self._most, self._each = most, each
        self._inside: dict[Visit, Hashable] = {}
        self._of = Counter[Hashable]()
        self.sending: dict[Visit, asyncio.Timeout] = {}
        """Those whose body is on its way, the longest first."""

    @contextmanager
    def visit(self, sender: Hashable) -> Iterator[Visit]:
        """Be inside for a block; a problem when there is no room."""
        if self._each is not None and self._of[sender] >= self._each:
            raise ProblemError(
                429, f"this sender has {self._each} streams open already; close one of them",
                headers={"retry-after": "1"},
            )  # fmt: skip
        if len(self._inside) >= self._most and not self._one_gives_way():
            raise ProblemError(
                503, "the service has too many requests at once", headers={"retry-after": "1"}
            )
        visit = Visit(self)
        self._inside[visit] = sender
        self._of[sender] += 1
        try:
            yield visit
        finally:
            self._leave(visit)

    def _leave(self, visit: Visit) -> None:
        if visit in self._inside:
            sender = self._inside.pop(visit)
            self._of[sender] -= 1
            if not self._of[sender]:
                del self._of[sender]

    def _one_gives_way(self) -> bool:
        for visit, deadline in self.sending.items():
            del self.sending[visit]
            self._leave(visit)
            deadline.reschedule(asyncio.get_running_loop().time())
            return True
        return False


class Rooms:
    """The rooms of one application."""

    def __init__(self, limits: Limits) -> None:
        self._others = Room(limits.requests)
        self._own: dict[str, Room | None] = {
            ALIVE: None,
            READY: Room(READY_AT_ONCE),
            CALLBACKS: Room(limits.callbacks),
            STREAMS: Room(limits.streams, limits.streams_each),
        }

    def of(self, path: str) -> Room | None:
        """The room of a request; None where none is needed."""
        return self._own.get(path, self._others)


class Gate:
    """Lets requests in that keep the limits; the others get a problem."""

    def __init__(
        self, app: ASGIApp, *, hosts: Collection[str], limits: Limits,
        authenticator: Authenticator, check_callback: Callable[[Headers], None] | None = None,
    ) -> None:  # fmt: skip
        """`check_callback` raises a problem for headers that no executor of ours has signed."""
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._limits = limits
        self._authenticator = authenticator
        self._check_callback = check_callback
        self._rooms = Rooms(limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            self._check_head(scope)
            room = self._rooms.of(scope["path"])
            if room is None:
                await self._app(scope, receive, send)
                return
            principal = self._sender(scope)
            name = None if principal is None else (principal.subject, principal.tenant)
            with room.visit(name) as visit:
                body = await self._body(scope, receive, visit)
                await self._app(scope, _replay(body, receive), send)
        except ProblemError as error:
            answer = problem_response(error.problem, instance=scope["path"])
            await answer(scope, receive, send)

    def _check_head(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
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
        if scope["method"] not in _LOOKING:
            _check_source(headers)
            kind = headers.get("content-type")
            if kind is not None and not _is_json(kind):
                raise _not_json()
        _check_length(headers, self._most(scope))

    def _sender(self, scope: Scope) -> Principal | None:
        """Who sends a body or wants a stream; a problem for one who is not known."""
        headers = Headers(scope=scope)
        if scope["path"] == CALLBACKS and self._check_callback is not None:
            self._check_callback(headers)
            return None
        if scope["path"] == STREAMS or _has_body(headers):
            return sender_of(scope, self._authenticator)
        return None

    async def _body(self, scope: Scope, receive: Receive, visit: Visit) -> bytes:
        async with visit.sending(self._limits.body_seconds):
            body = await _read(receive, self._most(scope))
        if body and scope["method"] in _WITH_BODY:
            if not _is_json(Headers(scope=scope).get("content-type", "")):
                raise _not_json()
            check_json(body)
        return body

    def _most(self, scope: Scope) -> int:
        limit = self._limits.body_bytes
        return min(limit, CALLBACK_BYTES) if scope["path"] == CALLBACKS else limit


def _check_source(headers: Headers) -> None:
    """A browser says which page has it send something; what it says is believed."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    foreign = site is not None and site not in _OWN_SITE
    if site is None and origin is not None:
        foreign = urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    if foreign:
        raise ProblemError(403, "a page of another site has sent this; nothing is done for it")


def _check_length(headers: Headers, limit: int) -> None:
    announced = headers.get("content-length", "0")
    if not (announced.isascii() and announced.isdigit()):
        raise ProblemError(400, "content-length must be a number")
    if len(announced) > 19 or int(announced) > limit:
        raise _too_long(limit)


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip("0") != ""


def _is_json(kind: str) -> bool:
    return kind.partition(";")[0].strip().lower() == "application/json"


def _not_json() -> ProblemError:
    return ProblemError(415, "the body must be JSON, with content-type: application/json")


def _too_long(limit: int) -> ProblemError:
    return ProblemError(413, f"the body is longer than {limit} bytes")


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
            raise _too_long(limit)
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
