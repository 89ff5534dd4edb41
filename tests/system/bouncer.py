"""
PgBouncer in transaction mode, in front of a server of ours: a connection for each transaction.

Two connections to the server stand behind it, so that clients get another one all the time.
"""

import os
import pwd
import subprocess
import time
from types import TracebackType
from typing import Self

from tests.postgres.server import Server
from tests.system.packages import provide

__all__ = ["Bouncer"]

_SETTINGS = """
[databases]
* = host={server} user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 100
"""
_PATIENCE_S = 30


class Bouncer:
    """Use it as a context manager."""

    def __init__(self, server: Server) -> None:
        program = provide("pgbouncer", "pgbouncer")
        self._folder = server.directory / "bouncer"
        self._folder.mkdir()
        settings = self._folder / "pgbouncer.ini"
        settings.write_text(_SETTINGS.format(server=server.directory, folder=self._folder))
        user = pwd.getpwuid(server.directory.stat().st_uid)
        os.chown(self._folder, user.pw_uid, user.pw_gid)
        self._process = subprocess.Popen(
            [program, str(settings)], user=user.pw_uid, stderr=subprocess.DEVNULL
        )

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self._folder}&port=6432"

    def __enter__(self) -> Self:
        socket = self._folder / ".s.PGSQL.6432"
        until = time.monotonic() + _PATIENCE_S
        while not socket.exists():
            assert self._process.poll() is None, "pgbouncer has ended"
            assert time.monotonic() < until, "pgbouncer does not listen"
            time.sleep(0.05)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait()
