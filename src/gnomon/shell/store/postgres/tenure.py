"""
Who owns a journal on PostgreSQL? The process whose connection holds its lock.

One connection takes the lock and does all the work, so that ownership ends with its holder and not
with a timer: the server lets the lock go when the connection is gone, and asks a silent one every
few seconds whether it is. A connection that broke is made again when the next call needs one, and
takes the lock again as soon as it is free. Meanwhile another process may have had it: that is why
every write carries a fencing number, and why nothing here has to be certain.

A lock of this kind belongs to a session, so a pooler that hands out connections for each
transaction cannot be between: the address must be the server's own.

Spec: JOURNAL-8, JOURNAL-11.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg

from gnomon.errors import StoreError, StoreHeldError
from gnomon.shell.store.postgres.fault import check_address, explained, place_of
from gnomon.shell.store.postgres.pool import PoolOptions, connect
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.postgres.transaction import PostgresTransaction
from gnomon.shell.store.transaction import Body, Result

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["Tenure"]

_CLOSE_S = 5
_NAME_MAX = 63
_KEEPALIVE = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
"""After 25 silent seconds the server takes a connection, and its lock, for gone."""


class Tenure:
    """
    One connection and the lock that it holds, again and again if it must be.

    A `TransactionSource` for the journal whose lock it is.
    """

    def __init__(self, url: str, lock: str, sql: Statements, options: PoolOptions) -> None:
        check_address(url)
        self.place = place_of(url)
        self.name = f"pid {os.getpid()} on {socket.gethostname()}"
        self._url = url
        self._lock = f"{sql.schema} {lock}"
        self._sql = sql
        self._options = options
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._former: tuple[int, int] | None = None
        """The process that served the latest connection, and since when."""
        self._is_held = False
        self._turn = asyncio.Lock()

    async def take(self) -> None:
        """Connect and hold the lock; `StoreHeldError` names who else does."""
        with explained(self.place):
            await self._connect()
            if not self._is_held:
                assert self._connection is not None
                holder = await self._connection.fetchval(self._sql["holder"], self._lock)
                raise StoreHeldError(_words(holder), where=self.place)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Connection"]:
        """One transaction: all of it happens when the block ends, or nothing when it raises."""
        async with self._turn:
            with explained(self.place):
                await self._connect()
                assert self._connection is not None
                async with self._connection.transaction(isolation="read_committed"):
                    yield self._connection

    async def read(self, body: Body[Result]) -> Result:
        """One transaction, as for what writes."""
        return await self.write(body)

    async def write(self, body: Body[Result], *, again: bool = False) -> Result:
        """What the owner of the journal does, in one transaction; no other process breaks it."""
        async with self.transaction() as connection:
            return await body(PostgresTransaction(connection, self._sql))

    async def close(self) -> None:
        """Let go; what cannot be said to the server is found out by it."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            with explained(self.place):
                await connection.close(timeout=_CLOSE_S)
        except StoreError:
            connection.terminate()

    async def _connect(self) -> None:
        """Have a connection, with the lock if it is free."""
        connection = self._connection
        if connection is None or connection.is_closed():
            self._is_held = False
            settings = {"application_name": f"gnomon {self.name}"[:_NAME_MAX], **_KEEPALIVE}
            self._connection = connection = await connect(self._url, self._options, settings)
            await self._end_former(connection)
        if not self._is_held:
            self._is_held = bool(await connection.fetchval(self._sql["take_lock"], self._lock))

    async def _end_former(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """A connection that broke on this side may live on at the other, and with it the lock."""
        if self._former is not None:
            await connection.fetchval(self._sql["end_former"], *self._former)
        row = await connection.fetchrow(self._sql["who_am_i"])
        self._former = None if row is None else (row[0], row[1])


def _words(holder: str | None) -> str:
    return (holder or "").removeprefix("gnomon ") or "another connection"
