"""A ledger over TLS, on a PostgreSQL of the system: that of the wheel was built without."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509

from gnomon.errors import StoreError
from gnomon.shell.store.postgres.ledger import PostgresLedger
from tests.apps.service.http.certificates import Authority
from tests.clauses import clause
from tests.postgres.server import Server
from tests.system.packages import provide

ADDRESS = f"127.88.{os.getpid() % 250}.2"
PLACE = f"postgresql://postgres@{ADDRESS}/postgres?sslmode=verify-full"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server on an address of this machine that no other server has."""
    provide("pg_lsclusters", "postgresql")
    *_, binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    monkeypatch.setenv("GNOMON_POSTGRES_BIN", str(binaries))
    server = Server()
    server.create()
    try:
        server.listen(ADDRESS)
        yield server
    finally:
        server.remove()


@clause("PG-8", "PG-9")
def test_a_server_is_talked_to_over_tls_if_its_certificate_is_signed_by_whom_one_trusts(
    server: Server, tmp_path: Path
) -> None:
    known, unknown = Authority(tmp_path, "known"), Authority(tmp_path, "unknown")
    give_certificate(server, known)

    assert asyncio.run(is_encrypted(f"{PLACE}&sslrootcert={known.file}"))
    with pytest.raises(StoreError) as raised:
        asyncio.run(is_encrypted(f"{PLACE}&sslrootcert={unknown.file}"))

    said = "cannot be talked to over TLS ([SSL: CERTIFICATE_VERIFY_FAILED]"
    assert raised.value.reason.startswith(said)
    assert not raised.value.transient


async def is_encrypted(url: str) -> bool:
    ledger = await PostgresLedger.open(url)
    try:
        ((found,),) = await ledger.pool.fetch(
            "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        )
        return bool(found)
    finally:
        await ledger.close()


def give_certificate(server: Server, authority: Authority) -> None:
    """Have the server speak TLS, with files that are its own, as it demands."""
    owner = (server.directory / "data").stat()
    for name, path in zip(
        ("certificate", "key"), authority.sign(x509.IPAddress(ip_address(ADDRESS))), strict=True
    ):
        copy = server.directory / f"{name}.pem"
        shutil.copyfile(path, copy)
        os.chown(copy, owner.st_uid, owner.st_gid)
        copy.chmod(0o600)
    server.reload(
        "ssl = on\n"
        f"ssl_cert_file = '{server.directory}/certificate.pem'\n"
        f"ssl_key_file = '{server.directory}/key.pem'\n"
    )
    server.stop()
    server.start()
