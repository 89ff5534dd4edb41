"""
Connections to one database: a few of them, each call one transaction.

A connection that broke is replaced when the next call needs one; until that works, calls raise a
transient `StoreError`, and the caller waits and tries again. Instants go over the wire as
integers of milliseconds and stand in the tables as timestamptz.

Behind a pooler that hands out a connection for each transaction (`pooler=True`) nothing is prepared
ahead and no setting outlives a transaction; time-outs are then kept on this side alone.

Spec: PG-8, PG-9, PG-12.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, TypeVar

import asyncpg

from gnomon.errors import StoreError
from gnomon.shell.store.postgres.fault import check_address, connecting, explained, place_of
from gnomon.shell.store.postgres.password import unread_file

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]

__all__ = ["OLDEST", "PATIENCE_S", "PATIENTLY", "Pool", "PoolOptions", "connect", "was_undone"]

OLDEST = 140000
"""The oldest version of PostgreSQL that works, as it numbers itself."""

PATIENTLY = "SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0"
"""What begins a transaction that may take long; its long statement gets `PATIENCE_S`."""
PATIENCE_S = 600

_AGAIN = 2
"""How often a transaction is made again that the server broke to undo a deadlock."""
_CLOSE_S = 5
_EPOCH_MS = 946_684_800_000  # of PostgreSQL: the year 2000
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """How to use a database."""

    connections: int = 4
    connect_ms: int = 10_000
    statement_ms: int = 30_000
    """How long one statement may take."""
    lock_ms: int = 10_000
    """How long a statement waits for a row that another worker has; longer than `idle_ms`."""
    idle_ms: int = 5_000
    """After how long the server ends a transaction that stands still, and with it its locks."""
    pooler: bool = False

    def settings(self) -> dict[str, str]:
        if self.pooler:
            return {}
        return {
            "application_name": "gnomon",
            "statement_timeout": str(self.statement_ms),
            "lock_timeout": str(self.lock_ms),
            "idle_in_transaction_session_timeout": str(self.idle_ms),
            # Whatever the database's default: who has waited for a row must see what is new.
            "default_transaction_isolation": "read committed",
            "jit": "off",
            # A plan made without knowing the instant and the number asked for reads whole tables.
            "plan_cache_mode": "force_custom_plan",
        }


class Pool:
    """A few connections to one database."""

    def __init__(
        self, url: str, inner: "asyncpg.Pool[asyncpg.Record]", *, pooler: bool = False
    ) -> None:
        self.place = place_of(url)
        self._inner = inner
        self._pooler = pooler

    @classmethod
    async def open(cls, url: str, options: PoolOptions) -> "Pool":
        check_address(url)
        with connecting(url):
            # A pool that keeps one by itself writes a traceback for each that it cannot make.
            inner = await asyncpg.create_pool(
                url, min_size=0, max_size=options.connections, init=_prepare, reset=_keep,
                **_arguments(url, options),
            )  # fmt: skip
            try:
                async with inner.acquire():
                    pass
            except BaseException:
                inner.terminate()
                raise
        return cls(url, inner, pooler=options.pooler)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Connection"]:
        """One transaction: all of it happens when the block ends, or nothing when it raises."""
        with explained(self.place):
            async with (
                self._inner.acquire() as connection,
                connection.transaction(isolation="read_committed"),  # behind a pooler, too
            ):
                yield connection

    async def transact(self, work: Callable[["Connection"], Awaitable[_Result]]) -> _Result:
        """One transaction for callers that do not try again: a deadlock does not reach them."""
        for _ in range(_AGAIN):
            try:
                async with self.transaction() as connection:
                    return await work(connection)
            except StoreError as error:
                if not was_undone(error):
                    raise
        async with self.transaction() as connection:
            return await work(connection)

    @asynccontextmanager
    async def alone(self) -> AsyncIterator["Connection"]:
        """A connection for one statement that writes: a transaction by itself, where it can be."""
        if self._pooler:
            async with self.transaction() as connection:
                yield connection
            return
        with explained(self.place):
            async with self._inner.acquire() as connection:
                yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator["Connection"]:
        """A connection on which each statement is a transaction by itself."""
        with explained(self.place):
            async with self._inner.acquire() as connection:
                yield connection

    async def fetch(self, statement: str, *values: object) -> Sequence[asyncpg.Record]:
        """One statement, which is a transaction by itself."""
        async with self.reading() as connection:
            return await connection.fetch(statement, *values)

    async def close(self) -> None:
        """Say good-bye, but not for ever to a server that does not answer."""
        try:
            with explained(self.place):
                async with asyncio.timeout(_CLOSE_S):
                    await self._inner.close()
        except StoreError:
            self._inner.terminate()

    def terminate(self) -> None:
        """Let go of everything at once, as if the process were gone."""
        self._inner.terminate()


def was_undone(error: StoreError) -> bool:
    """Whether the server broke the transaction because it could not be ordered among others."""
    return isinstance(error.__cause__, asyncpg.TransactionRollbackError)


async def connect(
    url: str, options: PoolOptions, settings: Mapping[str, str] | None = None
) -> "asyncpg.Connection[asyncpg.Record]":
    """One connection beside a pool, to listen or to own something."""
    arguments = _arguments(url, options)
    arguments["server_settings"] |= settings or {}
    with connecting(url):
        connection = await asyncpg.connect(url, **arguments)
        await _prepare(connection)
        return connection


class _Arguments(TypedDict):
    password: str | None
    timeout: float
    command_timeout: float
    statement_cache_size: int
    server_settings: dict[str, str]


def _arguments(url: str, options: PoolOptions) -> _Arguments:
    return {
        # None has the address and what completes it asked; who is refused hears of the file.
        "password": None if unread_file(url) is None else "",
        "timeout": options.connect_ms / 1000,
        "command_timeout": (options.statement_ms + options.lock_ms) / 1000,
        "statement_cache_size": 0 if options.pooler else 200,
        "server_settings": options.settings(),
    }


async def _prepare(connection: "Connection") -> None:
    """Instants are milliseconds on this side."""
    await connection.set_type_codec(
        "timestamptz", schema="pg_catalog", encoder=_to_wire, decoder=_from_wire, format="tuple"
    )


async def _keep(connection: "Connection") -> None:
    """Nothing is left behind by a transaction, so there is nothing to tidy up."""


def _to_wire(at_ms: int) -> tuple[int]:
    return ((at_ms - _EPOCH_MS) * 1000,)


def _from_wire(wire: tuple[int]) -> int:
    return wire[0] // 1000 + _EPOCH_MS
