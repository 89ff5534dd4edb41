"""
Clients that mean no good, on real connections: what they send is drawn from a seed.

Each of them does one thing to hold the service up, and stays. The judge asks, as others would,
whether the service still answers; it shares nothing with the server but the port.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from random import Random

import httpx2

from gnomon.shell.executor.signature import Purpose, signed
from tests.apps.service.http.service_stage import KEYS, NOON

__all__ = ["ACTS", "BODY", "JSON", "Crowd", "objections", "request_head"]

HOST = b"Host: 127.0.0.1\r\n"
JSON = b"Content-Type: application/json\r\n"
BODY = b'{"schedule_id": "x", "paused": true}'


class Crowd:
    """The hostile clients of one server, all still there."""

    def __init__(self, port: int, random: Random) -> None:
        self.port, self.random = port, random
        self.acts: list[str] = []
        self._ends: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def act(self) -> None:
        name = self.random.choice(sorted(ACTS))
        self.acts.append(name)
        await ACTS[name](self)

    async def send(self, *parts: bytes) -> asyncio.StreamWriter:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        self._ends.append((reader, writer))
        for part in parts:
            writer.write(part)
        return writer

    def reader_of(self, writer: asyncio.StreamWriter) -> asyncio.StreamReader:
        return next(reader for reader, found in self._ends if found is writer)

    async def heard(self) -> list[bytes]:
        """What each of them was told, once the server has closed every connection."""
        found = []
        for reader, writer in self._ends:
            try:
                found.append(await reader.read())
            except ConnectionError:
                found.append(b"")
            writer.close()
        return found


def request_head(method: str, path: str, *headers: bytes) -> bytes:
    return f"{method} {path} HTTP/1.1\r\n".encode() + HOST + b"".join(headers)


def _token(random: Random) -> bytes:
    name = random.choice(["acme-write", "acme-read", "globex-write", "nobody-knows-this", ""])
    return f"Authorization: Bearer {name}\r\n".encode() if name else b""


def _length(random: Random) -> bytes:
    return f"Content-Length: {random.choice([40, 4_000, 1_048_576])}\r\n".encode()


async def _idle(crowd: Crowd) -> None:
    await crowd.send()


async def _half_a_head(crowd: Crowd) -> None:
    whole = request_head("GET", "/schedules", b"X-Long: " + b"a" * 500 + b"\r\n")
    await crowd.send(whole[: crowd.random.randrange(1, len(whole))])


async def _half_a_body(crowd: Crowd) -> None:
    path = crowd.random.choice(["/schedules/pause", "/healthz", "/readyz", "/nowhere", "/"])
    head = request_head("POST", path, JSON, _token(crowd.random), _length(crowd.random))
    await crowd.send(head + b"\r\n" + BODY[: crowd.random.randrange(len(BODY))])


async def _half_a_chunk(crowd: Crowd) -> None:
    head = request_head("POST", "/schedules/pause", JSON, _token(crowd.random))
    await crowd.send(head, b"Transfer-Encoding: chunked\r\n\r\n", b"ff\r\n{")


async def _odd_chunk(crowd: Crowd) -> None:
    head = request_head("POST", "/schedules/pause", JSON, b"Authorization: Bearer acme-write\r\n")
    await crowd.send(head, b"Transfer-Encoding: chunked\r\n\r\n", b"zz\r\n\r\n")


async def _half_a_callback(crowd: Crowd) -> None:
    key = crowd.random.choice([b"test", b"other"])
    second = str(NOON + crowd.random.choice([0, 0, 9_999])).encode()
    marks = b"Gnomon-Key-Id: " + key + b"\r\nGnomon-Timestamp: " + second + b"\r\n"
    head = request_head("POST", "/executor/callbacks", JSON, marks, b"Content-Length: 500\r\n")
    await crowd.send(head + b"\r\n{")


async def _stream(crowd: Crowd) -> None:
    follow = crowd.random.choice([b"", b"Last-Event-ID: 0\r\n"])
    await crowd.send(request_head("GET", "/events", _token(crowd.random), follow), b"\r\n")


async def _nonsense(crowd: Crowd) -> None:
    await crowd.send(crowd.random.randbytes(crowd.random.randrange(1, 400)) + b"\r\n\r\n")


async def _large_head(crowd: Crowd) -> None:
    await crowd.send(request_head("GET", "/schedules", b"X-Large: " + b"a" * 40_000))


async def _pipelined(crowd: Crowd) -> None:
    one = request_head("GET", crowd.random.choice(["/healthz", "/schedules"]), _token(crowd.random))
    await crowd.send((one + b"\r\n") * crowd.random.randrange(2, 30))


async def _leaves(crowd: Crowd) -> None:
    head = request_head(
        "POST", "/schedules/pause", JSON, _token(crowd.random), _length(crowd.random)
    )
    writer = await crowd.send(head + b"\r\n{")
    writer.transport.abort()


ACTS: dict[str, Callable[[Crowd], Awaitable[None]]] = {
    "idle": _idle, "half a head": _half_a_head, "half a body": _half_a_body,
    "half a chunk": _half_a_chunk, "odd chunk": _odd_chunk, "half a callback": _half_a_callback,
    "stream": _stream, "nonsense": _nonsense, "large head": _large_head, "pipelined": _pipelined,
    "leaves": _leaves,
}  # fmt: skip


async def objections(port: int) -> list[str]:
    """What others find wrong with the service as it is now, each on a connection of its own."""
    body = json.dumps({"idempotency_key": "unheard", "status": "SUCCESS"}).encode()
    mark = signed(KEYS, Purpose.CALLBACK, body, now_ms=NOON * 1000)
    json_kind = {"content-type": "application/json"}
    admin = {"authorization": "Bearer admin"}
    wanted = [
        ("GET", "/healthz", {}, b"", 200),
        ("HEAD", "/healthz", {}, b"", 200),
        ("GET", "/readyz", {}, b"", 200),
        ("POST", "/executor/callbacks", mark | json_kind, body, 404),
        ("GET", "/schedules?limit=1", admin, b"", 200),
        ("POST", "/schedules/pause", admin | json_kind, BODY, 404),
    ]
    found = []
    for method, path, headers, content, status in wanted:
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60, verify=False
        ) as client:
            try:
                answer = await client.request(method, path, headers=headers, content=content)
            except httpx2.HTTPError as error:
                found.append(f"{method} {path}: {error!r}")
                continue
        if answer.status_code != status:
            found.append(f"{method} {path}: {answer.status_code} {answer.text}")
    return found
