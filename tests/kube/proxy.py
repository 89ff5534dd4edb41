"""
A way between a client and the API server that can be slow, fall silent, or be cut.

It passes bytes on without reading them, so what it does to a connection is what a network does: a
cut loses an answer that was under way, silence leaves a watch open that nothing comes through any
more, and a lag delivers the past.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

__all__ = ["Proxy"]

_CHUNK = 65_536


class Proxy:
    """Listens on this machine, and passes on to a port of it."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._refusing = False
        self.port = 0
        self.lag_s = 0.0
        """So long the bytes of the server are on their way."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["Proxy"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.refuse()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def cut(self) -> None:
        """End every connection at once, in the middle of whatever it carries."""
        for writer in list(self._open):
            _reset(writer)

    def fall_silent(self) -> None:
        """Carry nothing more, and leave every connection open."""
        self._flowing.clear()

    def refuse(self) -> None:
        """Cut every connection, and take no new one until `go_on`."""
        self._refusing = True
        self.cut()

    def go_on(self) -> None:
        """Carry again what was held back, and whatever comes."""
        self._refusing = False
        self._flowing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            other = None if self._refusing else await asyncio.open_connection(
                "127.0.0.1", self._target
            )  # fmt: skip
        except OSError:
            other = None
        if other is None or self._refusing:
            for one in (writer, *([other[1]] if other else [])):
                await _end(one)
            return
        await self._pass_on(reader, writer, other)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
        other: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:  # fmt: skip
        both = {writer, other[1]}
        self._open |= both
        there = asyncio.create_task(self._carry(reader, other[1], is_answer=False))
        back = asyncio.create_task(self._carry(other[0], writer, is_answer=True))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._open -= both
            for task in (there, back):
                task.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
            for one in both:
                await _end(one)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                if is_answer and self.lag_s:
                    await asyncio.sleep(self.lag_s)
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()


async def _end(writer: asyncio.StreamWriter) -> None:
    _reset(writer)
    with suppress(OSError):
        await writer.wait_closed()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection without a farewell: what was not yet sent is lost."""
    sock = writer.get_extra_info("socket")
    if sock is not None and sock.fileno() >= 0:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
