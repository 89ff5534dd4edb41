"""A PostgreSQL for one engine: its own server, durable, removed when the process ends."""

import atexit
import itertools

import asyncpg

from tests.postgres.server import Server

__all__ = ["PostgresServer", "vacuum"]


class PostgresServer:
    """`fsync` is on, as it is where somebody means it; a gigabyte of memory for pages."""

    def __init__(self) -> None:
        self._server = Server()
        atexit.register(self._server.remove)
        self._server.create(fsync=True, buffers="1GB")
        self._numbers = itertools.count()

    def close(self) -> None:
        atexit.unregister(self._server.remove)
        self._server.remove()

    async def database(self) -> str:
        """The address of an empty database."""
        name = f"bench{next(self._numbers)}"
        connection = await asyncpg.connect(self._server.url())
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()
        return self._server.url(name)


async def vacuum(url: str) -> None:
    """What autovacuum would do in between; done now, so that it does not fall into a pass."""
    connection = await asyncpg.connect(url)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()
