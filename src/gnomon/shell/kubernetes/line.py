"""
The connections to one API server, as they are made with one `Link`.

A request goes out once: the library sends some of them again after a connection broke, and an
answer to the second would be wrong about the first. Connections whose other end has died are
noticed by the kernel, also under a watch that waits for nothing. When credentials change, a line is
retired: what is under way ends on it.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from gnomon.shell.kubernetes.access import Link
from gnomon.shell.version import installed_version

__all__ = ["CONNECT_S", "Line"]

CONNECT_S = 5.0
_OPTIONS = (
    ("SO_KEEPALIVE", socket.SOL_SOCKET, 1),
    ("TCP_KEEPIDLE", socket.IPPROTO_TCP, 10),
    ("TCP_KEEPINTVL", socket.IPPROTO_TCP, 5),
    ("TCP_KEEPCNT", socket.IPPROTO_TCP, 3),
    ("TCP_USER_TIMEOUT", socket.IPPROTO_TCP, 20_000),
)
"""Seconds and milliseconds after which an end that is silent below the protocol counts as dead."""


class _BrokenOffError(aiohttp.ClientError):
    """A connection broke while it was used; whether the request arrived is not known."""


class Line:
    """A pool of connections, closed when it is retired and nothing uses it any more."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._users = 0
        self._retired = False
        self._closing: set[asyncio.Future[None]] = set()
        connector = aiohttp.TCPConnector(
            limit=0, ssl=link.tls(), socket_factory=_socket, ttl_dns_cache=10
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            middlewares=(_once,),
            headers={"User-Agent": f"gnomon/{installed_version()}", "Accept": "application/json"},
        )

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, *, headers: dict[str, str], body: bytes | None,
        limit: aiohttp.ClientTimeout,
    ) -> AsyncIterator[aiohttp.ClientResponse]:  # fmt: skip
        self._users += 1
        try:
            async with self._session.request(
                method, f"{self.link.host}{path}", headers=headers, data=body, timeout=limit,
                allow_redirects=False, proxy=self.link.proxy,
                server_hostname=self.link.server_name,
            ) as response:  # fmt: skip
                try:
                    yield response
                finally:
                    self._break_off(response)
        finally:
            self._users -= 1
            await self._close_if_done()

    async def retire(self) -> None:
        """Nothing new begins here; what is under way may end."""
        self._retired = True
        await self._close_if_done()

    async def close(self) -> None:
        """Close all connections; none is half closed when this returns."""
        await self._session.close()
        if self._closing:
            await asyncio.wait(self._closing, timeout=CONNECT_S)

    async def _close_if_done(self) -> None:
        if self._retired and not self._users:
            await self._session.close()

    def _break_off(self, response: aiohttp.ClientResponse) -> None:
        """End a connection whose answer was not read to its end: nothing waits for a farewell."""
        connection = response.connection
        if connection is None or connection.transport is None or connection.protocol is None:
            return
        closed = connection.protocol.closed
        if closed is not None and not closed.done():
            self._closing.add(closed)
            closed.add_done_callback(self._closing.discard)
        connection.transport.abort()


async def _once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _BrokenOffError(f"{type(error).__name__}: {error}") from error


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setblocking(False)
    for name, level, value in _OPTIONS:
        if (option := getattr(socket, name, None)) is not None:  # not every system has all
            made.setsockopt(level, option, value)
    return made
