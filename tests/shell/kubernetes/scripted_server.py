"""A server on this machine that answers as a test has written, and remembers what it was asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

__all__ = ["Asked", "ScriptedServer"]


class Asked:
    """One request, as it arrived."""

    def __init__(self, request: web.BaseRequest, body: bytes) -> None:
        self.method = request.method
        self.path = request.path_qs
        self.headers = request.headers
        self.body = body


Answer = Callable[[web.BaseRequest, int], Awaitable[web.StreamResponse]]


class ScriptedServer:
    """`answer` gets each request with its number, from 0."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Asked] = []
        self.host = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["ScriptedServer"]:
        runner = web.ServerRunner(web.Server(self._handle), shutdown_timeout=0.1)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            port = runner.addresses[0][1]
            self.host = f"http://127.0.0.1:{port}"
            yield self
        finally:
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        number = len(self.asked)
        self.asked.append(Asked(request, await request.read()))
        return await self._answer(request, number)


async def for_ever() -> None:
    await asyncio.Event().wait()
