"""
How is the application served? By uvicorn, on a socket that was bound before anything was promised.

The server ends when it is told to, not by a signal of its own: who runs it together with a worker
decides in which order things end. The client certificate of a connection is handed to the
application beside each request.

Spec: AUTH-13, HTTP-12.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from gnomon.apps.service.http.authentication import Certificate
from gnomon.apps.service.http.gate import Limits
from gnomon.apps.service.http.tls import peer_certificate

__all__ = ["CERTIFICATE", "serving"]

CERTIFICATE = "gnomon.certificate"
"""Under this name a request has the certificate of its connection."""
GRACE_SECONDS = 5


@asynccontextmanager
async def serving(
    app: ASGIApp, listener: socket.socket, *, tls: ssl.SSLContext | None, limits: Limits
) -> AsyncIterator[None]:
    """Serve inside the block; on the way out, answers that are being given may be finished."""
    server = _Server(_config(app, tls, limits))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await _started(server, task)
        yield
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        await self._serve(sockets)  # without its handlers of signals


async def _started(server: _Server, task: asyncio.Task[None]) -> None:
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if task.done():
        await task


def _config(app: ASGIApp, tls: ssl.SSLContext | None, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_CertifiedProtocol,
        ws="none",
        loop="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=2 * limits.requests,
        h11_max_incomplete_event_size=limits.header_bytes + limits.target_bytes,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_context_factory=(lambda _config, _default: tls) if tls is not None else None,
    )


class _CertifiedProtocol(H11Protocol):
    """A connection that remembers who is at the other end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        certificate = peer_certificate(transport.get_extra_info("ssl_object"))
        if certificate is not None:
            self.app = _with_certificate(self.app, certificate)


def _with_certificate(app: ASGIApp, certificate: Certificate) -> ASGIApp:
    async def certified(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, CERTIFICATE: certificate}, receive, send)

    return certified
