"""
One server for a whole run of the suite, however many processes it has.

The process that controls the run names a directory; the first test that needs a server makes one
there, and the others find it; when the run is over, the controlling process removes it. A run that
needs no server makes none.
"""

import asyncio
import fcntl
import os
import tempfile
from pathlib import Path

import asyncpg

from tests.postgres.server import Server

__all__ = ["begin", "create_database", "end", "shared_server"]

_VARIABLE = "GNOMON_TEST_POSTGRES"


def begin() -> None:
    """Called by the controlling process before any test."""
    os.environ[_VARIABLE] = tempfile.mkdtemp(prefix="gnomon-pg-")


def end() -> None:
    """Called by the controlling process after all tests."""
    Server(Path(os.environ.pop(_VARIABLE))).remove()


def shared_server() -> Server:
    """The server of this run, which the first to ask makes."""
    server = Server(Path(os.environ[_VARIABLE]))
    with (server.directory / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not server.is_ready:
            server.create()
    return server


def create_database(server: Server, name: str) -> str:
    """Make an empty database; its address is returned."""

    async def create() -> None:
        connection = await asyncpg.connect(server.url())
        try:
            await connection.execute(f'CREATE DATABASE "{name}"')
        finally:
            await connection.close()

    asyncio.run(create())
    return server.url(name)
