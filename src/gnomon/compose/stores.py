"""
Where does a service keep its facts? In one SQLite file that this process owns, or on PostgreSQL.

Either is refused when it belongs to another door.

Spec: UP-1, CLI-41.
"""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnomon.compose.shared_database import SharedDatabase
from gnomon.ports import Ledger
from gnomon.ports.dag import DagRuns, DagStore
from gnomon.shell.observe.counts import Family
from gnomon.shell.store.belonging import Door, NotedLedger, belong
from gnomon.shell.store.dag import SqliteDagRuns, SqliteDagStore
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread

__all__ = ["Stores", "open_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The stores of a service, in one place."""

    ledger: Ledger
    dags: DagStore
    dag_runs: DagRuns
    place: str
    """In words for people."""
    alone: bool
    """Whether this process is the only one that uses them."""
    heartbeats: Callable[[], Awaitable[Sequence[Family]]] | None = None
    """What there is to tell about the workers that share them."""


@contextlib.asynccontextmanager
async def open_stores(path: Path | None, database: SharedDatabase | None) -> AsyncIterator[Stores]:
    """Open a file, or a database where one is named."""
    if database is None:
        assert path is not None
        async with _file(path) as stores:
            yield stores
    else:
        async with _database(database) as stores:
            yield stores


@contextlib.asynccontextmanager
async def _file(path: Path) -> AsyncIterator[Stores]:
    with ledger_thread() as thread:
        ledger = SqliteLedger.open(path, executor=thread, exclusive=True)
        try:
            await _belong(ledger, str(path), hint="name another directory with --data")
            yield Stores(
                ledger=ledger,
                dags=SqliteDagStore(ledger.database, executor=thread),
                dag_runs=SqliteDagRuns(ledger.database, executor=thread),
                place=str(path),
                alone=True,
            )
        finally:
            await ledger.close()


@contextlib.asynccontextmanager
async def _database(database: SharedDatabase) -> AsyncIterator[Stores]:
    from gnomon.compose.heartbeats import Heartbeats  # they need an extra
    from gnomon.shell.store.postgres.dag import PostgresDagRuns, PostgresDagStore
    from gnomon.shell.store.postgres.ledger import PostgresLedger

    schema = database.schema
    ledger = await PostgresLedger.open(database.url, schema=schema, options=database.options)
    try:
        await _belong(ledger, database.place, hint="name another schema with --schema")
        yield Stores(
            ledger=ledger,
            dags=PostgresDagStore(ledger.pool, schema),
            dag_runs=PostgresDagRuns(ledger.pool, schema),
            place=database.place,
            alone=False,
            heartbeats=Heartbeats(ledger).families,
        )
    finally:
        await ledger.close()


async def _belong(ledger: NotedLedger, place: str, *, hint: str) -> None:
    otherwise = ", and not to the service"
    await belong(ledger, Door.SERVICE, place=place, otherwise=otherwise, hint=hint)
