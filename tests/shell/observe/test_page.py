"""The server of one page, asked over real connections on the loopback address."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import httpx2
import pytest

from gnomon.shell.http.listening import bind
from gnomon.shell.observe.page import CONNECTIONS_MAX, HEAD_MAX, serving_page
from tests.clauses import clause

Ask = Callable[[bytes], Awaitable[str]]


async def page() -> str:
    return "gnomon_turns_total 5\n"


@asynccontextmanager
async def served(
    made: Callable[[], Awaitable[str]] = page, *, patience_s: float = 30
) -> AsyncIterator[int]:
    """The port where the page is served."""
    with bind("127.0.0.1", 0) as listener:
        async with serving_page(listener, made, patience_s=patience_s):
            yield listener.getsockname()[1]


def asked(request: bytes, *, patience_s: float = 30) -> str:
    """All that is answered to some bytes."""

    async def story() -> str:
        async with served(patience_s=patience_s) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            found = await reader.read()
            writer.close()
            return found.decode()

    return asyncio.run(story())


@clause("METRICS-6")
@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/metrics", 200, "gnomon_turns_total 5\n"),
        ("GET", "/metrics?name=x", 200, "gnomon_turns_total 5\n"),
        ("HEAD", "/metrics", 200, ""),
        ("GET", "/", 404, "the metrics are at /metrics\n"),
        ("GET", "/metrics/more", 404, "the metrics are at /metrics\n"),
        ("POST", "/metrics", 405, "only GET and HEAD\n"),
    ],
)
def test_the_page_is_at_its_path_for_who_reads(
    method: str, path: str, status: int, body: str
) -> None:
    async def story() -> httpx2.Response:
        async with served() as port, httpx2.AsyncClient(trust_env=False) as client:
            return await client.request(method, f"http://127.0.0.1:{port}{path}")

    answer = asyncio.run(story())

    assert (answer.status_code, answer.text) == (status, body)
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["connection"] == "close"


@clause("METRICS-6")
@pytest.mark.parametrize(
    "request_line", [b"hello", b"GET /metrics", b"GET /metrics SPDY/3", b"\xff\x00 \xff HTTP/0.9"]
)
def test_what_is_not_http_is_refused(request_line: bytes) -> None:
    answer = asked(request_line + b"\r\n\r\n")

    assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")


@clause("METRICS-6")
def test_a_target_that_cannot_be_read_is_not_found() -> None:
    assert asked(b"GET http://[ HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 404 ")


@clause("METRICS-6")
def test_who_sends_too_much_is_refused() -> None:
    answer = asked(b"GET /metrics HTTP/1.1\r\nX: " + b"x" * HEAD_MAX)

    assert answer.startswith("HTTP/1.1 431 ")


@clause("METRICS-6")
def test_who_sends_nothing_is_let_go() -> None:
    assert asked(b"GET /met", patience_s=0.05) == ""


@clause("METRICS-6")
def test_a_reader_that_does_not_read_the_page_is_let_go_and_nothing_is_kept_for_it() -> None:
    length = 100_000

    async def long_page() -> str:
        return "x" * length

    async def story() -> int:
        loop, received = asyncio.get_running_loop(), 0
        with bind("127.0.0.1", 0) as listener, socket.socket() as deaf:
            for one, buffer in ((listener, socket.SO_SNDBUF), (deaf, socket.SO_RCVBUF)):
                one.setsockopt(socket.SOL_SOCKET, buffer, 4_096)
            deaf.setblocking(False)
            async with serving_page(listener, long_page, patience_s=0.05):
                place = listener.getsockname()
                await loop.sock_connect(deaf, place)
                await loop.sock_sendall(deaf, b"GET /metrics HTTP/1.1\r\n\r\n")
                reader, writer = await asyncio.open_connection(*place)
                assert await reader.read() == b""  # who came later is let go: both had their time
                writer.close()
                with suppress(ConnectionError):
                    while some := await loop.sock_recv(deaf, length):
                        received += len(some)
        return received

    assert asyncio.run(story()) < length


@clause("METRICS-6")
def test_who_comes_when_many_are_there_is_told_so() -> None:
    async def story() -> str:
        async with served() as port:
            waiting = [
                await asyncio.open_connection("127.0.0.1", port) for _ in range(CONNECTIONS_MAX)
            ]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            found = await reader.read()
            for _, one in (*waiting, (reader, writer)):
                one.close()
            return found.decode()

    assert asyncio.run(story()).startswith("HTTP/1.1 503 ")


@clause("METRICS-6")
def test_a_reader_that_is_still_there_does_not_hold_up_the_end() -> None:
    async def story() -> bytes:
        begun, never = asyncio.Event(), asyncio.Event()

        async def slow() -> str:
            begun.set()
            await never.wait()
            raise AssertionError("this page never comes")

        async with served(slow) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /metrics HTTP/1.1\r\n\r\n")
            await begun.wait()
        found = await reader.read()
        writer.close()
        return found

    assert asyncio.run(story()) == b""


@clause("METRICS-6")
def test_a_page_that_cannot_be_made_is_logged_and_the_next_one_is_served(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tries = iter([True, False])

    async def made() -> str:
        if next(tries):
            raise RuntimeError("no figures")
        return "fine\n"

    async def story() -> list[tuple[int, str]]:
        async with served(made) as port, httpx2.AsyncClient(trust_env=False) as client:
            answers = [await client.get(f"http://127.0.0.1:{port}/metrics") for _ in range(2)]
        return [(one.status_code, one.text) for one in answers]

    with caplog.at_level(logging.ERROR, "gnomon.runtime"):
        assert asyncio.run(story()) == [(500, "the log says why\n"), (200, "fine\n")]
    assert "the page of metrics cannot be made" in caplog.text


@clause("OPERATOR-36")
@pytest.mark.parametrize(
    ("path", "status", "body"),
    [("/livez", 200, "ok\n"), ("/readyz?verbose", 503, "not yet\n"), ("/other", 404, None)],
)
def test_checks_are_answered_beside_the_page(path: str, status: int, body: str | None) -> None:
    async def story() -> httpx2.Response:
        checks = {"/livez": lambda: "", "/readyz": lambda: "not yet"}
        with bind("127.0.0.1", 0) as listener:
            async with serving_page(listener, page, checks=checks):
                port = listener.getsockname()[1]
                async with httpx2.AsyncClient(trust_env=False) as client:
                    return await client.get(f"http://127.0.0.1:{port}{path}")

    found = asyncio.run(story())

    assert found.status_code == status
    assert body in (None, found.text)
