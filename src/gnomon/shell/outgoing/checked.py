"""
A connection goes to an address that was checked, and to no other.

A host is looked up once, for the connection that is made; if a single one of its addresses is not
allowed, none is used. The connection is then made to one of those very addresses, so that a name
which answers differently the second time gains nothing. Certificates and the Host header still
speak of the name.

Spec: OUT-2 to OUT-4.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore

from gnomon.shell.outgoing.rule import Rule

__all__ = ["BlockedError", "CheckedBackend", "Resolve", "system_resolve"]

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class BlockedError(Exception):
    """The rule does not allow this connection; nothing was sent."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system knows them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to what a rule allows."""

    def __init__(self, rule: Rule, resolve: Resolve = system_resolve) -> None:
        self._rule = rule
        self._resolve = resolve
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None,  # noqa: ASYNC109 (httpcore's)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:  # fmt: skip
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} cannot be looked up ({error})") from error
        for address in addresses:
            if objection := self._rule.objection_to_address(address):
                raise BlockedError(f"{host}: {objection}")
        trouble: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
        raise trouble

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None,  # noqa: ASYNC109 (httpcore's)
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:  # fmt: skip
        raise BlockedError("a socket of this machine is not allowed")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
