"""The PostgreSQL of the tests: unprivileged, reached by its socket alone, and gone at the end."""

import asyncio
import os
from pathlib import Path

import asyncpg
import pytest

from tests.postgres.server import Server, find_binaries


def ask(url: str, question: str) -> object:
    async def asking() -> object:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetchval(question)
        finally:
            await connection.close()

    return asyncio.run(asking())


def test_a_server_listens_on_its_socket_and_nowhere_else(postgres: Server) -> None:
    assert ask(postgres.url(), "SHOW listen_addresses") == ""
    sockets = str(ask(postgres.url(), "SHOW unix_socket_directories"))
    assert Path(sockets) == postgres.directory


def test_a_server_does_not_run_as_root(postgres: Server) -> None:
    (pid, *_) = (postgres.directory / "data" / "postmaster.pid").read_text().split()

    assert os.stat(f"/proc/{pid}").st_uid != 0


def test_a_server_that_is_removed_leaves_nothing_behind() -> None:
    server = Server()
    server.create()
    server.remove()

    assert not server.directory.exists()


def test_other_binaries_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "initdb").touch()
    monkeypatch.setenv("GNOMON_POSTGRES_BIN", str(tmp_path))

    assert find_binaries() == tmp_path


def test_binaries_are_copied_with_the_libraries_beside_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "wheel"
    binaries = package / "pginstall" / "bin"
    binaries.mkdir(parents=True)
    libraries = package.with_name("wheel.libs")
    libraries.mkdir()
    (libraries / "answer").write_text("found\n")
    initdb = binaries / "initdb"
    initdb.write_text(
        '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")"/../../../wheel.libs/answer >&2\nexit 1\n'
    )
    initdb.chmod(0o755)
    postgres = binaries / "postgres"
    postgres.write_text("#!/bin/sh\nexit 1\n")  # as if the server's user may not run it
    postgres.chmod(0o755)
    monkeypatch.setenv("GNOMON_POSTGRES_BIN", str(binaries))
    server = Server()
    try:
        with pytest.raises(RuntimeError, match="initdb failed: found"):
            server.create()
    finally:
        server.remove()


def test_a_server_is_made_where_an_attempt_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binaries = tmp_path / "postgresql" / "bin"
    binaries.mkdir(parents=True)
    initdb = binaries / "initdb"
    initdb.write_text("#!/bin/sh\nexit 1\n")
    initdb.chmod(0o755)
    server = Server()
    try:
        with monkeypatch.context() as failing:
            failing.setenv("GNOMON_POSTGRES_BIN", str(binaries))
            with pytest.raises(RuntimeError, match="initdb failed"):
                server.create()
        server.create()
        assert ask(server.url(), "SELECT 1") == 1
    finally:
        server.remove()
