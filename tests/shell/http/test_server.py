"""A real server on a loopback port, with and without certificates."""

import asyncio
import ssl
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from gnomon.errors import DefinitionError
from gnomon.shell.http.authentication import CERTIFICATE
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.listening import bind, is_loopback
from gnomon.shell.http.server import serving
from gnomon.shell.http.tls import TlsFiles, expires_at, server_context
from tests.apps.service.http.bare import bare_app
from tests.apps.service.http.certificates import END, Authority
from tests.clauses import clause


async def show_names(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that says whose certificate it was shown."""
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    found = scope.get(CERTIFICATE)
    await JSONResponse(list(found.names) if found else None)(scope, receive, send)


@clause("HTTP-12")
@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_only_the_loopback_address_is_taken_for_one(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@clause("HTTP-12")
def test_a_port_that_is_taken_is_named() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]

        with pytest.raises(OSError, match=f"127.0.0.1:{port}"):
            bind("127.0.0.1", port)


@clause("HTTP-12", "HTTP-14")
def test_a_real_server_answers_on_the_loopback_address() -> None:
    async def story() -> tuple[int, object]:
        listener = bind("127.0.0.1", 0)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with (
            serving(bare_app(), listener, tls=None, limits=Limits()),
            httpx2.AsyncClient(base_url=address, trust_env=False) as client,
        ):
            answer = await client.get("/healthz")
            return answer.status_code, answer.json()

    assert asyncio.run(story()) == (200, {"status": "ok"})


@clause("AUTH-13")
def test_a_client_is_let_in_with_a_certificate_of_the_right_authority_only(tmp_path: Path) -> None:
    right, wrong = Authority(tmp_path, "right"), Authority(tmp_path, "wrong")
    certificate, key = right.sign(x509.IPAddress(ip_address("127.0.0.1")))
    names = [x509.UniformResourceIdentifier("spiffe://prod/deployer"), x509.DNSName("a.example")]
    files = TlsFiles(certificate=certificate, key=key, client_authority=right.file)

    async def story() -> list[object]:
        listener = bind("127.0.0.1", 0)
        port = listener.getsockname()[1]
        async with serving(show_names, listener, tls=server_context(files), limits=Limits()):
            return [
                await _shown(port, right.file, shown)
                for shown in (right.sign(*names), wrong.sign(*names), None)
            ]

    assert asyncio.run(story()) == [["spiffe://prod/deployer", "a.example"], "refused", "refused"]


async def _shown(port: int, authority: Path, own: tuple[Path, Path] | None) -> object:
    context = ssl.create_default_context(cafile=str(authority))
    if own is not None:
        context.load_cert_chain(*own)
    async with httpx2.AsyncClient(verify=context, trust_env=False) as client:
        try:
            return (await client.get(f"https://127.0.0.1:{port}/")).json()
        except httpx2.TransportError:
            return "refused"


@clause("AUTH-13")
def test_an_old_version_of_tls_is_refused(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "right")
    certificate, key = authority.sign(x509.IPAddress(ip_address("127.0.0.1")))

    context = server_context(TlsFiles(certificate=certificate, key=key))

    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.verify_mode == ssl.CERT_NONE


@clause("AUTH-13")
def test_a_file_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.pem"
    path.write_text("nothing")

    with pytest.raises(DefinitionError) as refused:
        server_context(TlsFiles(certificate=path, key=path))

    assert refused.value.got == str(path)


@clause("AUTH-13")
def test_the_end_of_a_certificate_is_known(tmp_path: Path) -> None:
    certificate, _ = Authority(tmp_path, "right").sign(x509.DNSName("a.example"))

    assert expires_at(certificate) == int(END.timestamp())
