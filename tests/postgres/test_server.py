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
