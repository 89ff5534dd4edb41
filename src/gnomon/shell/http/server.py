"""
How is the application served? By uvicorn, on a socket that was bound before anything was promised.

The server ends when it is told to, not by a signal of its own: who runs it together with a worker
decides in which order things end. Connections are taken here and not by uvicorn, so that each has a
deadline from its first moment, the handshake of TLS included. The client certificate of a
connection is handed to the application beside each request.

Spec: AUTH-13, HTTP-12, HTTP-30, HTTP-31.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import count

import uvicorn
from starlette.types import ASGIApp

from gnomon.shell.http.connections import Connections, peer_of
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.protocol import GuardedProtocol
from gnomon.shell.observe.log import log

__all__ = ["serving"]

GRACE_SECONDS = 5
BREATH_SECONDS = 0.1
"""How long nothing is accepted when the machine has no room for another connection."""
FAREWELL_SECONDS = 2
"""How long TLS may take to say goodbye."""


@asynccontextmanager
async def serving(
    app: ASGIApp, listener: socket.socket, *, tls: ssl.SSLContext | None, limits: Limits
) -> AsyncIterator[None]:
    """Serve inside the block; on the way out, answers that are being given may be finished."""
    server = _Server(_config(app, limits), listener, tls, limits)
    task = asyncio.create_task(server.serve())
    try:
        await _started(server, task)
        yield
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, tls: ssl.SSLContext | None,
        limits: Limits,
    ) -> None:  # fmt: skip
        super().__init__(config)
        self.ready = asyncio.Event()
        self._listener, self._tls, self._limits = listener, tls, limits
        self._connections = Connections(most=limits.waiting, each=limits.waiting_each)
        self._numbers = count(1)
        self._arriving: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            raise RuntimeError("the application did not start")
        self.servers = []
        self._accepting = asyncio.create_task(self._accept())
        self.started = True
        self.ready.set()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        await self._serve()  # without its handlers of signals

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._accepting.cancel()
        await asyncio.sleep(0)  # those that have come belong to a transport after this
        for task in self._arriving:
            task.cancel()
        await asyncio.gather(self._accepting, *self._arriving, return_exceptions=True)
        await super().shutdown([self._listener])

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(self._listener)
            except ConnectionError:
                continue  # it went away before it was taken
            except OSError as error:  # no descriptor or no memory is left for one more
                log(logging.WARNING, "a connection could not be taken", reason=str(error))
                self._connections.close_one()
                await asyncio.sleep(BREATH_SECONDS)
                continue
            arriving = asyncio.create_task(self._arrive(connection, peer_of(address)))
            self._arriving.add(arriving)
            arriving.add_done_callback(self._arriving.discard)

    async def _arrive(self, connection: socket.socket, peer: str) -> None:
        """Make a connection of a socket; close it when its peer does not shake hands in time."""
        task = asyncio.current_task()
        assert task is not None
        place = self._connections.enter(peer, task.cancel)
        protocol = partial(
            GuardedProtocol, self.config, self.server_state, self.lifespan.state, place=place,
            limits=self._limits, next_id=lambda: f"c-{next(self._numbers):x}",
        )  # fmt: skip
        hurry: dict[str, float] = {} if self._tls is None else {
            "ssl_handshake_timeout": self._limits.head_seconds,
            "ssl_shutdown_timeout": FAREWELL_SECONDS,
        }  # fmt: skip
        try:
            connection.setblocking(False)
            await asyncio.get_running_loop().connect_accepted_socket(
                protocol, connection, ssl=self._tls, **hurry
            )
        except (OSError, asyncio.CancelledError):
            place.work()  # no connection has come of it


async def _started(server: _Server, task: asyncio.Task[None]) -> None:
    ready = asyncio.create_task(server.ready.wait())
    await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
    ready.cancel()
    if task.done():
        await task


def _config(app: ASGIApp, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        ws="none",
        loop="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=limits.header_bytes + limits.target_bytes,
        timeout_keep_alive=limits.idle_seconds,  # type: ignore[arg-type] # seconds of any kind
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
