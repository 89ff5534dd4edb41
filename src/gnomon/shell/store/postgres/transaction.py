"""
Transactions on PostgreSQL, as the seam `shell.store.transaction` has them.

Values go over the wire in the order in which their names come up in a statement. Instants are
integers of milliseconds on this side already: the connection turns them into timestamptz.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import asyncpg

from gnomon.errors import StoreError
from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.transaction import Body, Result, Row, Value

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["TRIES", "PooledTransactions", "PostgresTransaction", "key_error"]


TRIES = 3
"""How often a transaction is made again because another process added the same key."""


def key_error(place: str) -> StoreError:
    """What a caller is told when a key was there each time."""
    return StoreError(
        "has a key that was to be added", where=place,
        hint="gnomon doctor --database says more", transient=True,
    )  # fmt: skip


class PooledTransactions:
    """A `TransactionSource` over the connections of a pool."""

    def __init__(self, pool: Pool, sql: Statements) -> None:
        self._pool = pool
        self._sql = sql

    @property
    def place(self) -> str:
        return self._pool.place

    async def read(self, body: Body[Result]) -> Result:
        """Each statement is a transaction by itself, and sees what was committed before it."""
        async with self._pool.reading() as connection:
            return await body(PostgresTransaction(connection, self._sql))

    async def write(self, body: Body[Result], *, again: bool = False) -> Result:
        if not again:
            async with self._pool.transaction() as connection:
                return await body(PostgresTransaction(connection, self._sql))
        for _ in range(TRIES):
            try:
                return await self._pool.transact(
                    lambda connection: body(PostgresTransaction(connection, self._sql))
                )
            except StoreError as error:
                if not isinstance(error.__cause__, asyncpg.UniqueViolationError):
                    raise
        raise key_error(self.place)  # which other processes have just added, each time

    async def close(self) -> None:
        await self._pool.close()


class PostgresTransaction:
    """A `Transaction` on PostgreSQL, for as long as the connection is in it."""

    has_one_view = False

    def __init__(self, connection: "Connection", sql: Statements) -> None:
        self._connection = connection
        self._sql = sql

    async def rows(self, kind: type[Row], statement: str, /, **values: Value) -> list[Row]:
        found = await self._connection.fetch(
            self._sql[statement], *self._in_order(statement, values)
        )
        if not found:
            return []
        columns, fields = list(found[0].keys()), kind._fields
        if sorted(columns) != sorted(fields):
            raise LookupError(f"{statement} has the columns {', '.join(columns)}")
        if columns == list(fields):
            return [kind._make(row) for row in found]
        return [kind._make([row[name] for name in fields]) for row in found]

    async def run(self, statement: str, /, **values: Value) -> int:
        done = await self._connection.execute(
            self._sql[statement], *self._in_order(statement, values)
        )
        return int(done.rpartition(" ")[2])

    async def run_each(self, statement: str, rows: Iterable[Mapping[str, Value]], /) -> None:
        sent = list(rows)
        if not sent:
            return
        columns = [[row[name] for row in sent] for name in self._sql.values_of(statement)]
        await self._connection.execute(self._sql[statement], *columns)

    async def tell_workers(self) -> None:
        await self._connection.execute("SELECT pg_notify($1, '')", self._sql.channel)

    def _in_order(self, statement: str, values: Mapping[str, Value]) -> list[Value]:
        return [values[name] for name in self._sql.values_of(statement)]
