"""The way between a client and a server does what a network does, and then goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from tests.kube.proxy import Proxy

Ask = Callable[[bytes], Awaitable[bytes]]


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while line := await reader.readline():
            writer.write(line)
            await writer.drain()
    await end(writer)


async def end(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


def through(work: Callable[[Proxy], Awaitable[None]]) -> None:
    async def run() -> None:
        served: set[asyncio.Task[None]] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(echo(reader, writer))
            served.add(task)
            await task

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        proxy = Proxy(server.sockets[0].getsockname()[1])
        async with proxy.serving():
            await work(proxy)
        server.close()
        await asyncio.gather(*served)

    asyncio.run(run())


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes) -> bytes:
    writer.write(line)
    return await reader.readline()


def test_what_is_sent_arrives_and_the_answer_comes_back() -> None:
    async def work(proxy: Proxy) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await ask(reader, writer, b"one\n") == b"one\n"
        await end(writer)

    through(work)


def test_a_cut_ends_what_is_open_and_nothing_that_comes_later() -> None:
    async def work(proxy: Proxy) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await ask(reader, writer, b"one\n") == b"one\n"
        proxy.cut()
        with pytest.raises(ConnectionResetError):
            await reader.read()
        await end(writer)
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await ask(reader, writer, b"two\n") == b"two\n"
        await end(writer)

    through(work)


def test_silence_holds_back_what_comes_through_later() -> None:
    async def work(proxy: Proxy) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        proxy.fall_silent()
        answer = asyncio.create_task(ask(reader, writer, b"one\n"))
        done, _ = await asyncio.wait({answer}, timeout=0.2)
        assert not done
        proxy.go_on()
        assert await answer == b"one\n"
        await end(writer)

    through(work)


def test_nothing_is_taken_while_it_refuses() -> None:
    async def work(proxy: Proxy) -> None:
        proxy.refuse()
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        await end(writer)

    through(work)
