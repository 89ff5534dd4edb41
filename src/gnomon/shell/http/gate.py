"""
What does not even get in? Requests that are too large, too slow, or meant for another host.

A middleware of plain ASGI around everything else. It reads a whole body before the application sees
any of it, so that the size, the time and the form of the JSON are settled in one place. A body is
read only from senders who are known; what executors sign is checked as far as its headers go. Host
names are compared with those the service was told about: a page in a browser that has its name
point to the loopback address gets nothing, and a page of another site changes nothing.

Spec: HTTP-5 to HTTP-9, HTTP-32 to HTTP-36.
"""

from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.principal import Principal
from gnomon.shell.http.problem import ProblemError, problem_response
from gnomon.shell.http.rooms import CALLBACKS, STREAMS, Rooms, Visit
from gnomon.shell.http.security import sender_of
from gnomon.shell.http.strict_json import check_json

__all__ = ["Gate"]

CALLBACK_BYTES = 65_536
_LOOKING = ("GET", "HEAD", "OPTIONS")
_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
_OWN_SITE = ("same-origin", "none")


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
