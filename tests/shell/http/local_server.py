"""A real HTTP server on this machine, whose answers are written out byte by byte."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

__all__ = ["Asked", "Handler", "LocalServer", "answer", "serve"]


class Asked(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Handler = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


class LocalServer:
    """What has been asked so far, and where."""

    def __init__(self, handler: Handler) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self.port = 0
        self._handler = handler

    def url(self, path: str = "/", *, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")[:-2]
            headers = {
                name.lower(): value.strip()
                for name, _, value in (one.partition(":") for one in lines)
            }
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            method, path, _ = first.split(" ")
            asked = Asked(method, path, headers, body)
            self.asked.append(asked)
            await self._handler(asked, writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def answer(
    status: str = "200 OK", body: bytes = b"", headers: dict[str, str] | None = None
) -> Handler:
    """A handler that always answers the same."""

    async def handler(asked: Asked, writer: asyncio.StreamWriter) -> None:
        lines = {"Content-Length": str(len(body)), "Connection": "close", **(headers or {})}
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {status}\r\n{text}\r\n".encode() + body)

    return handler


@asynccontextmanager
async def serve(
    handler: Handler, *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[LocalServer]:
    local = LocalServer(handler)
    server = await asyncio.start_server(local.handle, "127.0.0.1", 0, ssl=tls)
    local.port = server.sockets[0].getsockname()[1]
    async with server:
        yield local
        server.close()
