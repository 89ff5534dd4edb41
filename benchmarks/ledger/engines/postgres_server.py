"""
A PostgreSQL for one engine: its own server, durable, removed when the process ends.

It is driven by its own programs, so that no engine needs another's driver.
"""

import atexit
import itertools
import subprocess

from tests.postgres.server import Server

__all__ = ["PostgresServer"]


class PostgresServer:
    """`fsync` is on, as it is in production; a gigabyte of memory for pages."""

    def __init__(self) -> None:
        self._server = Server()
        atexit.register(self._server.remove)
        self._server.create(fsync=True, buffers="1GB")
        self._numbers = itertools.count()

    def close(self) -> None:
        atexit.unregister(self._server.remove)
        self._server.remove()

    def database(self) -> str:
        """The address of an empty database."""
        name = f"bench{next(self._numbers)}"
        self._run("createdb", "--username=postgres", f"--host={self._server.directory}", name)
        return self._server.url(name)

    def vacuum(self, url: str) -> None:
        """What autovacuum would do in between; done now, so that it does not fall into a pass."""
        self._run("vacuumdb", "--quiet", "--analyze", f"--dbname={url}")

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._server.directory / "bin" / program), *arguments]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
