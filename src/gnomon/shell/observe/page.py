"""
Who answers Prometheus in a process that has no server? This does: one page, over HTTP/1.1, and
checks beside it, for those who ask whether the process is well.

Every connection is answered once and closed. A client that sends too much, sends or reads too
slowly, or comes when many are there already is let go, so that none can hold up what goes on
beside. There is no token and no encryption: the address that is listened on decides who may ask.

Spec: METRICS-6.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from urllib.parse import urlsplit

from gnomon.shell.observe.log import log
from gnomon.shell.observe.prometheus import CONTENT_TYPE

__all__ = ["PATH", "Check", "serving_page"]

PATH = "/metrics"
PATIENCE_S = 5.0
"""How long a request and its answer may take together."""
HEAD_MAX = 16_384
CONNECTIONS_MAX = 16

Page = Callable[[], Awaitable[str]]
Check = Callable[[], str]
"""What is wrong; empty when nothing is."""


@asynccontextmanager
async def serving_page(
    listener: socket.socket, page: Page, *, checks: Mapping[str, Check] | None = None,
    patience_s: float = PATIENCE_S,
) -> AsyncIterator[None]:  # fmt: skip
    """Answer inside the block, the checks at their paths; leaving it cuts the clients off."""
    guests: set[asyncio.Task[None]] = set()

    def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(guests) >= CONNECTIONS_MAX:
            writer.write(_answer(HTTPStatus.SERVICE_UNAVAILABLE, "too many at once\n"))
            writer.close()
            return
        guest = asyncio.create_task(_converse(reader, writer, page, checks or {}, patience_s))
        guests.add(guest)
        guest.add_done_callback(guests.discard)

    server = await asyncio.start_server(receive, sock=listener, limit=HEAD_MAX)
    try:
        yield
    finally:
        server.close()
        leaving = list(guests)
        for guest in leaving:
            guest.cancel()
        await asyncio.gather(*leaving, return_exceptions=True)


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, page: Page,
    checks: Mapping[str, Check], patience_s: float,
) -> None:  # fmt: skip
    try:
        with suppress(OSError, asyncio.IncompleteReadError):
            async with asyncio.timeout(patience_s):
                writer.write(await _response(reader, page, checks))
                writer.close()
                await writer.wait_closed()  # until all of it is on its way
    finally:
        writer.transport.abort()  # what is not taken in time is not kept for anybody


async def _response(reader: asyncio.StreamReader, page: Page, checks: Mapping[str, Check]) -> bytes:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        return _answer(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "that is too much\n")
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        return _answer(HTTPStatus.BAD_REQUEST, "that is not HTTP/1.1\n")
    method, target, _ = words
    if method not in ("GET", "HEAD"):
        return _answer(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD\n")
    if (check := checks.get(_path(target))) is not None:
        wrong = check()
        status = HTTPStatus.SERVICE_UNAVAILABLE if wrong else HTTPStatus.OK
        return _answer(status, f"{wrong or 'ok'}\n", method)
    if _path(target) != PATH:
        return _answer(HTTPStatus.NOT_FOUND, f"the metrics are at {PATH}\n", method)
    try:
        text = await page()
    except Exception as error:
        log(logging.ERROR, "the page of metrics cannot be made", failure=error)
        return _answer(HTTPStatus.INTERNAL_SERVER_ERROR, "the log says why\n", method)
    return _answer(HTTPStatus.OK, text, method)


def _path(target: str) -> str:
    try:
        return urlsplit(target).path
    except ValueError:
        return ""


def _answer(status: HTTPStatus, text: str, method: str = "GET") -> bytes:
    body = text.encode()
    head = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        f"Content-Type: {CONTENT_TYPE}",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "Connection: close",
    ]
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        head.append("Allow: GET, HEAD")
    return "\r\n".join([*head, "", ""]).encode() + (b"" if method == "HEAD" else body)
