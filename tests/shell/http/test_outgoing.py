"""Requests to a real server of this machine, under rules that allow it or do not."""

import asyncio
import contextlib
import datetime
import ipaddress
import ssl
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gnomon.ports import Clock
from gnomon.shell.clock import SystemClock
from gnomon.shell.http.address_rule import PUBLIC, Rule, read_rule
from gnomon.shell.http.outgoing import Fault, Outgoing, Request, Response, Trouble, system_resolve
from tests.clauses import clause
from tests.shell.http.local_server import Asked, answer, serve
from tests.shell.steered_clock import SteeredClock

LOCAL = read_rule(networks=["127.0.0.0/8", "::1/128"])
FOR_EVER_MS = 60_000


def get(url: str, *, timeout_ms: int = FOR_EVER_MS) -> Request:
    return Request("GET", url, {}, b"", timeout_ms)


async def ask(
    request: Request, *, rule: Rule = LOCAL,
    resolve: Callable[[str, int], Awaitable[Sequence[str]]] | None = None,
    tls: ssl.SSLContext | None = None, body_max: int = 1000, clock: Clock | None = None,
) -> Response | Trouble:  # fmt: skip
    client = Outgoing(
        clock or SystemClock(), rule=rule, tls=tls, body_max=body_max,
        resolve=resolve or system_resolve,
    )  # fmt: skip
    try:
        return await client.request(request)
    finally:
        await client.close()


class Answers:
    """A resolver that gives one answer after the other, as an attacker's would."""

    def __init__(self, *answers: list[str]) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self._answers.pop(0)


@clause("OUT-4")
def test_a_request_arrives_as_it_was_made() -> None:
    async def scenario() -> None:
        async with serve(answer(body=b"hello", headers={"X-Kind": "test"})) as server:
            request = Request(
                "POST", server.url("/a?b=c"), {"X-Team": "data"}, b"body", FOR_EVER_MS
            )
            response = await ask(request)

            assert isinstance(response, Response)
            assert (response.status, response.body, response.cut) == (200, b"hello", False)
            assert response.headers["x-kind"] == "test"
            (asked,) = server.asked
            assert (asked.method, asked.path, asked.body) == ("POST", "/a?b=c", b"body")
            assert asked.headers["x-team"] == "data"
            assert asked.headers["host"] == f"127.0.0.1:{server.port}"
            assert asked.headers["accept-encoding"] == "identity"

    asyncio.run(scenario())


@clause("OUT-2")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0"])
def test_this_machine_is_not_called_unless_that_is_allowed(host: str) -> None:
    async def scenario() -> None:
        async with serve(answer()) as server:
            trouble = await ask(get(server.url(host=host)), rule=PUBLIC)

            assert isinstance(trouble, Trouble)
            assert trouble.fault is Fault.REFUSED
            assert "is not public" in trouble.message
            assert server.connections == 0

    asyncio.run(scenario())


@clause("OUT-3")
def test_a_name_with_one_forbidden_address_is_not_called_at_all() -> None:
    async def scenario() -> None:
        async with serve(answer()) as server:
            resolve = Answers(["127.0.0.1", "10.0.0.1"])
            trouble = await ask(get(server.url(host="two.example")), resolve=resolve)

            assert trouble == Trouble(
                Fault.REFUSED, "two.example: the address 10.0.0.1 is not public"
            )
            assert server.connections == 0

    asyncio.run(scenario())


@clause("OUT-3")
def test_a_name_that_answers_differently_the_second_time_gains_nothing() -> None:
    async def scenario() -> None:
        async with serve(answer(body=b"secret")) as server:
            public = Rule(networks=(ipaddress.IPv4Network("127.0.0.1/32"),))
            resolve = Answers(["127.0.0.1"], ["127.0.0.2"])
            first = await ask(get(server.url(host="rebind.example")), rule=public, resolve=resolve)

            assert isinstance(first, Response)
            assert resolve.asked == [
                "rebind.example"
            ]  # the checked address is the one that is used
            assert server.asked[0].headers["host"] == f"rebind.example:{server.port}"
            second = await ask(get(server.url(host="rebind.example")), rule=public, resolve=resolve)
            assert isinstance(second, Trouble)
            assert second.fault is Fault.REFUSED
            assert server.connections == 1

    asyncio.run(scenario())


@clause("OUT-3")
def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async def scenario() -> None:
        async with serve(answer(body=b"here")) as server:
            resolve = Answers(["127.0.0.9", "127.0.0.1"])
            response = await ask(get(server.url(host="two.example")), resolve=resolve)

            assert isinstance(response, Response)
            assert response.body == b"here"

    asyncio.run(scenario())


@clause("OUT-5")
def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async def scenario() -> None:
        async with serve(answer("302 Found", headers={"Location": "/other"})) as server:
            response = await ask(get(server.url()))

            assert isinstance(response, Response)
            assert response.status == 302
            assert [asked.path for asked in server.asked] == ["/"]

    asyncio.run(scenario())


@clause("OUT-5")
def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with serve(answer(body=b"proxy")) as proxy, serve(answer(body=b"direct")) as server:
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url())
            response = await ask(get(server.url()))

            assert isinstance(response, Response)
            assert response.body == b"direct"

    asyncio.run(scenario())


@clause("OUT-6")
def test_an_answer_is_read_up_to_its_limit() -> None:
    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
                await writer.drain()

    async def scenario() -> None:
        async with serve(endless) as server:
            response = await ask(get(server.url()), body_max=5000)

            assert isinstance(response, Response)
            assert (len(response.body), response.cut) == (5000, True)

    asyncio.run(scenario())


@clause("OUT-6")
def test_what_is_compressed_is_not_decompressed() -> None:
    async def scenario() -> None:
        body = b"\x1f\x8b not really"
        async with serve(answer(body=body, headers={"Content-Encoding": "gzip"})) as server:
            response = await ask(get(server.url()))

            assert isinstance(response, Response)
            assert response.body == body

    asyncio.run(scenario())


@clause("OUT-7")
def test_a_request_that_was_sent_and_not_answered_in_time_is_unknown() -> None:
    async def scenario() -> None:
        clock = SteeredClock()

        async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
            clock.let_pass(300)
            await asyncio.Event().wait()

        async with serve(silent) as server:
            trouble = await ask(get(server.url(), timeout_ms=300), clock=clock)

            assert trouble == Trouble(Fault.UNKNOWN, "no answer within 300 ms")

    asyncio.run(scenario())


@clause("OUT-7")
def test_a_request_whose_connection_is_cut_is_unknown() -> None:
    async def rude(asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async def scenario() -> None:
        async with serve(rude) as server:
            trouble = await ask(get(server.url()))

            assert isinstance(trouble, Trouble)
            assert trouble.fault is Fault.UNKNOWN

    asyncio.run(scenario())


@clause("OUT-7")
def test_a_request_that_finds_no_server_was_not_sent() -> None:
    async def scenario() -> None:
        async with serve(answer()) as server:
            url = server.url()
        trouble = await ask(get(url))

        assert isinstance(trouble, Trouble)
        assert trouble.fault is Fault.UNSENT

    asyncio.run(scenario())


@clause("OUT-7")
def test_a_name_that_is_not_there_was_not_called() -> None:
    async def nowhere(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    async def scenario() -> None:
        trouble = await ask(get("http://nowhere.example"), resolve=nowhere)

        assert isinstance(trouble, Trouble)
        assert trouble.fault is Fault.UNSENT
        assert "Name or service not known" in trouble.message

    asyncio.run(scenario())


@clause("OUT-7")
def test_a_name_that_takes_too_long_was_not_called() -> None:
    async def scenario() -> None:
        clock = SteeredClock()

        async def never(host: str, port: int) -> Sequence[str]:
            clock.let_pass(50)
            await asyncio.Event().wait()
            raise AssertionError

        request = get("http://slow.example", timeout_ms=50)
        trouble = await ask(request, resolve=never, clock=clock)

        assert trouble == Trouble(Fault.UNSENT, "no answer within 50 ms")

    asyncio.run(scenario())


@clause("OUT-1")
def test_a_url_that_is_not_allowed_is_not_even_looked_up() -> None:
    async def scenario() -> None:
        resolve = Answers()
        rule = read_rule(hosts=["good.example"])
        trouble = await ask(get("http://bad.example"), rule=rule, resolve=resolve)

        assert trouble == Trouble(Fault.REFUSED, "the host bad.example is not allowed")
        assert resolve.asked == []

    asyncio.run(scenario())


@clause("OUT-4")
def test_a_certificate_is_checked_against_the_name_and_not_the_address(tmp_path: Path) -> None:
    serving, trusting = _certified(tmp_path, "good.example")

    async def scenario() -> None:
        async with serve(answer(body=b"safe"), tls=serving) as server:
            good = await ask(
                get(server.url(host="good.example", scheme="https")), tls=trusting,
                resolve=Answers(["127.0.0.1"]),
            )  # fmt: skip
            bad = await ask(
                get(server.url(host="bad.example", scheme="https")), tls=trusting,
                resolve=Answers(["127.0.0.1"]),
            )  # fmt: skip

            assert isinstance(good, Response)
            assert good.body == b"safe"
            assert isinstance(bad, Trouble)
            assert bad.fault is Fault.UNSENT
            assert "bad.example" in bad.message

    asyncio.run(scenario())


def _certified(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context for a name, and a client's that trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=36_500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "cert.pem", folder / "key.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )  # fmt: skip
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem, secret)
    return serving, ssl.create_default_context(cafile=str(pem))
