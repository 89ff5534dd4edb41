"""Clients that hold the service up, on real sockets: the others are answered all the same."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from random import Random

import pytest
from cryptography import x509

from gnomon.shell.http.connections import Connection, Connections, peer_of
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.listening import bind
from gnomon.shell.http.server import serving
from gnomon.shell.http.tls import TlsFiles, server_context
from tests.apps.service.http.certificates import Authority
from tests.apps.service.http.hostile import JSON, Crowd, objections, request_head
from tests.apps.service.http.service_stage import stage, with_parts
from tests.clauses import clause

FEW = Limits(
    requests=5, streams=5, streams_each=2, callbacks=3, waiting=12, waiting_each=8,
    head_seconds=3_600, idle_seconds=3_600, body_seconds=3_600, unread_seconds=3_600,
)  # fmt: skip
"""Little room, and no deadline that could help."""
ACME = b"Authorization: Bearer acme-write\r\n"
SHORT = 0.05
"""A deadline that a test waits out; the end of the connection is what it waits for."""


@asynccontextmanager
async def served(limits: Limits) -> AsyncIterator[int]:
    async with stage() as found:
        listener = bind("127.0.0.1", 0)
        port = listener.getsockname()[1]
        app = with_parts(found, limits=limits)
        async with serving(app, listener, tls=None, limits=limits):
            try:
                yield port
            finally:
                found.parts.closing.set()


def play(limits: Limits, story: Callable[[Crowd], Awaitable[None]], seed: int = 0) -> list[bytes]:
    """What the clients of a story were told."""

    async def whole() -> list[bytes]:
        async with served(limits) as port:
            crowd = Crowd(port, Random(seed))
            await story(crowd)
        return await crowd.heard()

    return asyncio.run(whole())


def answers(told: bytes) -> list[tuple[int, bytes]]:
    """The status and the type of each answer on a connection."""
    heads = re.findall(rb"HTTP/1\.1 (\d{3}) [^\r]*\r\n((?:[^\r]+\r\n)+)\r\n", told)
    kinds = [re.search(rb"(?i)content-type: ([^;\r]*)", fields) for _, fields in heads]
    return [
        (int(status), kind[1] if kind else b"")
        for (status, _), kind in zip(heads, kinds, strict=True)
    ]


@clause("HTTP-1", "HTTP-31", "HTTP-32", "HTTP-33", "HTTP-34", "HTTP-35")
@pytest.mark.parametrize("seed", range(8))
def test_whatever_a_crowd_does_the_others_are_answered(seed: int) -> None:
    async def story(crowd: Crowd) -> None:
        for _ in range(6):
            for _ in range(10):
                await crowd.act()
            assert await objections(crowd.port) == [], (seed, crowd.acts)

    for told in play(FEW, story, seed):
        for status, kind in answers(told):
            assert status < 500 or status == 503
            assert status < 400 or kind == b"application/problem+json"


@clause("HTTP-31", "HTTP-32")
def test_idle_connections_stop_nothing() -> None:
    async def story(crowd: Crowd) -> None:
        for _ in range(100):
            await crowd.send()
        assert await objections(crowd.port) == []

    play(FEW, story)


@clause("HTTP-33")
def test_a_body_that_never_ends_gives_way_to_the_next_request() -> None:
    async def story(crowd: Crowd) -> None:
        for _ in range(3 * FEW.requests):
            await crowd.send(
                request_head("POST", "/schedules/pause", JSON, ACME), b"Content-Length: 99\r\n\r\n{"
            )
            assert await objections(crowd.port) == []

    told = [answers(one) for one in play(FEW, story)]
    assert told.count([(408, b"application/problem+json")]) >= 2 * FEW.requests


@clause("HTTP-34")
def test_streams_of_one_sender_are_bounded_and_leave_room_for_the_others() -> None:
    async def story(crowd: Crowd) -> None:
        for token in [b"acme-write"] * 4 + [b"globex-write"]:
            head = request_head("GET", "/events", b"Authorization: Bearer " + token + b"\r\n")
            await crowd.send(head, b"\r\n")
        assert await objections(crowd.port) == []

    told = [answers(one)[0][0] for one in play(FEW, story)]
    assert told == [200, 200, 429, 429, 200]


@clause("HTTP-35")
@pytest.mark.parametrize(
    ("path", "status"), [("/schedules/pause", 401), ("/executor/callbacks", 401), ("/healthz", 405)]
)
def test_a_body_is_not_waited_for_from_a_sender_who_is_not_known(path: str, status: int) -> None:
    async def story(crowd: Crowd) -> None:
        writer = await crowd.send(request_head("POST", path, JSON), b"Content-Length: 99\r\n\r\n{")
        reader = crowd.reader_of(writer)
        head = await reader.readuntil(b"\r\n\r\n")  # it comes, though the body does not
        assert answers(head)[0][0] == status

    play(FEW, story)


@clause("HTTP-30")
@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"", []),
        (b"GET /healthz HTTP/1.1\r\nHost", [(408, b"application/problem+json")]),
        (b"G", [(408, b"application/problem+json")]),
        (request_head("GET", "/healthz") + b"\r\nGET /hea",
         [(200, b"application/json"), (408, b"application/problem+json")]),
        (request_head("POST", "/schedules", JSON) + b"Content-Length: 9\r\n\r\n{",
         [(401, b"application/problem+json")]),
    ],
)  # fmt: skip
def test_a_head_that_does_not_arrive_in_time_ends_its_connection(
    sent: bytes, told: list[tuple[int, bytes]]
) -> None:
    async def story(crowd: Crowd) -> None:
        writer = await crowd.send(sent)
        heard = await crowd.reader_of(writer).read()  # until the server closes
        assert answers(heard) == told

    play(Limits(head_seconds=SHORT), story)


@clause("HTTP-30")
def test_a_handshake_that_does_not_come_ends_its_connection(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "right")
    certificate, key = authority.sign(x509.IPAddress(ip_address("127.0.0.1")))
    tls = server_context(TlsFiles(certificate=certificate, key=key))

    async def story() -> bytes:
        async with stage() as found:
            listener = bind("127.0.0.1", 0)
            port = listener.getsockname()[1]
            async with serving(found.app, listener, tls=tls, limits=Limits(head_seconds=SHORT)):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                told = await reader.read()
                writer.close()
                return told

    assert asyncio.run(story()) == b""


@clause("HTTP-31")
def test_handshakes_that_never_come_leave_room_for_those_that_do(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "right")
    certificate, key = authority.sign(x509.IPAddress(ip_address("127.0.0.1")))
    tls = server_context(TlsFiles(certificate=certificate, key=key))
    trusting = ssl.create_default_context(cafile=str(authority.file))

    async def story() -> bytes:
        async with stage() as found:
            listener = bind("127.0.0.1", 0)
            port = listener.getsockname()[1]
            async with serving(found.app, listener, tls=tls, limits=FEW):
                crowd = Crowd(port, Random(0))
                for _ in range(50):
                    await crowd.send()
                reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting)
                writer.write(request_head("GET", "/healthz") + b"\r\n")
                told = await reader.readuntil(b"\r\n\r\n")
                writer.close()
            await crowd.heard()
            return told

    assert answers(asyncio.run(story())) == [(200, b"application/json")]


@clause("HTTP-37")
def test_an_answer_that_is_left_unread_ends_its_connection() -> None:
    async def story(crowd: Crowd) -> None:
        ask = request_head("GET", "/openapi.json", ACME) + b"\r\n"
        writer = await crowd.send(ask * 500)
        reader = crowd.reader_of(writer)
        # What is read stays little: the reader pauses the transport, and the server sees it.
        with suppress(ConnectionError):  # until the server has had enough
            while True:
                writer.write(ask * 500)
                await writer.drain()
        assert reader.at_eof() is False

    play(Limits(unread_seconds=SHORT), story)


@clause("HTTP-1", "HTTP-10", "HTTP-11")
@pytest.mark.parametrize(
    ("sent", "status"),
    [(b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nX: " + b"a" * 40_000, 431)],
)
def test_what_is_no_request_is_answered_with_a_problem(sent: bytes, status: int) -> None:
    async def story(crowd: Crowd) -> None:
        writer = await crowd.send(sent)
        told = await crowd.reader_of(writer).read()
        assert answers(told) == [(status, b"application/problem+json")]
        assert b"cache-control: no-store" in told
        assert b"x-request-id: c-" in told

    play(Limits(), story)


@clause("HTTP-36")
@pytest.mark.parametrize(
    ("mark", "status"),
    [
        (b"Sec-Fetch-Site: cross-site\r\n", 403),
        (b"Sec-Fetch-Site: same-site\r\n", 403),
        (b"Sec-Fetch-Site: none\r\n", 202),
        (b"Origin: https://evil.example\r\n", 403),
        (b"Origin: null\r\n", 403),
        (b"Origin: http://127.0.0.1\r\n", 202),
        (b"Content-Type: text/plain\r\n", 415),
        (b"Content-Type: application/x-www-form-urlencoded\r\n", 415),
        (b"", 202),
    ],
)
def test_a_post_without_a_body_does_nothing_for_a_page_of_another_site(
    mark: bytes, status: int
) -> None:
    definition = (
        b'{"workflow_id": "w", "version": 1, "user_id": "acme", "schedule_id": "x",'
        b' "cron_expr": "0 0 1 1 *"}'
    )

    async def story(crowd: Crowd) -> None:
        length = f"Content-Length: {len(definition)}\r\n\r\n".encode()
        writer = await crowd.send(
            request_head("POST", "/schedules/upsert", JSON, ACME), length, definition
        )
        reader = crowd.reader_of(writer)
        assert answers(await reader.readuntil(b"\r\n\r\n"))[0][0] == 200
        second = await crowd.send(request_head("POST", "/schedules/x/trigger", ACME, mark), b"\r\n")
        told = await crowd.reader_of(second).readuntil(b"\r\n\r\n")
        assert answers(told)[0][0] == status

    play(Limits(), story)


@clause("HTTP-31")
def test_the_peer_with_the_most_waiting_connections_loses_the_oldest_of_them() -> None:
    closed: list[str] = []
    connections = Connections(most=4, each=3)

    def come(peer: str, name: str) -> Connection:
        return connections.enter(peer, lambda: closed.append(name))

    first = come("many", "many-1")
    first.work()
    come("few", "few-1")
    for number in (2, 3, 4):
        come("many", f"many-{number}")
    assert closed == []
    come("other", "other-1")
    assert closed == ["many-2"]
    first.wait()
    assert closed == ["many-2", "many-3"]
    assert len(connections) == 4


@clause("HTTP-31")
@pytest.mark.parametrize(
    ("address", "peer"),
    [
        (("192.0.2.7", 5000), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5000, 0, 0), "2001:db8:1:2::/64"),
        (("fe80::1%eth0", 5000, 0, 2), "fe80::/64"),
        (("::ffff:192.0.2.7", 5000, 0, 0), "192.0.2.7"),
        ("", ""),
    ],
)
def test_a_peer_is_an_address_or_the_network_of_one(address: object, peer: str) -> None:
    assert peer_of(address) == peer
