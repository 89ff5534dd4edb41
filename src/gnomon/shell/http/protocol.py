"""
How long may one connection take? What h11 and uvicorn leave open ends is ended here.

A request head has a deadline from its first byte, or from the connection; an answer that is left
unread has one too. Whatever is said on this level is a problem like any other. Between requests a
connection counts as waiting, so that it can be closed for one that has something to ask.

Spec: HTTP-1, HTTP-10, HTTP-11, HTTP-30, HTTP-31, HTTP-37.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gnomon.shell.http.authentication import CERTIFICATE, Certificate
from gnomon.shell.http.connections import Connection
from gnomon.shell.http.headers import HEADERS
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.problem import Problem, problem_response
from gnomon.shell.http.tls import peer_certificate

__all__ = ["GuardedProtocol"]


class GuardedProtocol(H11Protocol):
    """A connection that remembers who is at the other end, and does not wait for ever."""

    def __init__(
        self, config: Config, server_state: ServerState, app_state: Mapping[str, object], *,
        place: Connection, limits: Limits, next_id: Callable[[], str],
    ) -> None:  # fmt: skip
        super().__init__(config, server_state, dict(app_state))
        self._place = place
        self._limits = limits
        self._next_id = next_id
        self._head: asyncio.TimerHandle | None = None
        """When the request head must be there; None while none is expected."""
        self._unread: asyncio.TimerHandle | None = None
        self._refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        certificate = peer_certificate(transport.get_extra_info("ssl_object"))
        if certificate is not None:
            self.app = _with_certificate(self.app, certificate)
        self._place.closes_by(self.give_up)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._place.work()
        self._unset_head()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused or self.transport.is_closing():
            return  # it has had its answer
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and self._is_waiting():
            self._place.wait()
            if self._has_begun():
                self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """What is sent is not HTTP; `msg` is said in our own form."""
        error = sys.exc_info()[1]
        too_large = getattr(error, "error_status_hint", 400) == 431
        limit = self._limits.header_bytes
        self._refuse(
            Problem(status=431, detail=f"the headers are longer than {limit} bytes")
            if too_large
            else Problem(status=400, detail="this is not HTTP/1.1")
        )

    def shutdown(self) -> None:
        """The server ends: an answer may be finished, a body is not waited for."""
        if self.cycle is not None and not self.cycle.response_complete and self.cycle.more_body:
            self._refuse(Problem(status=503, detail="the service is about to end"))
        else:
            super().shutdown()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self._limits.unread_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def give_up(self) -> None:
        """Close a connection that has waited too long, or that gives way to another."""
        if not self.transport.is_closing():
            if self._has_begun():
                self._refuse(Problem(status=408, detail="the request did not arrive in time"))
            else:
                self.transport.close()

    def _look(self) -> None:
        """Whether a head is still expected, after something has come."""
        if not self._is_waiting():
            self._place.work()
            self._unset_head()
        elif self._head is None:
            self._expect_head()

    def _is_waiting(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _has_begun(self) -> bool:
        """Whether part of a head is there, or the rest of a body that is not wanted."""
        return bool(self.conn.trailing_data[0]) or self.conn.their_state is h11.SEND_BODY

    def _expect_head(self) -> None:
        self._unset_head()
        self._head = self.loop.call_later(self._limits.head_seconds, self.give_up)

    def _unset_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _refuse(self, problem: Problem) -> None:
        """Answer without the application, and close."""
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # its answer is not sent any more
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            found = problem_response(problem, instance="")
            own = {**HEADERS, "x-request-id": self._next_id(), "connection": "close"}
            head = [*found.raw_headers, *((k.encode(), v.encode()) for k, v in own.items())]
            events = [
                h11.Response(status_code=problem.status, headers=head),
                h11.Data(data=bytes(found.body)),
                h11.EndOfMessage(),
            ]
            self.transport.write(b"".join(self.conn.send(one) or b"" for one in events))
        self.transport.close()


def _with_certificate(app: ASGIApp, certificate: Certificate) -> ASGIApp:
    async def certified(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, CERTIFICATE: certificate}, receive, send)

    return certified
