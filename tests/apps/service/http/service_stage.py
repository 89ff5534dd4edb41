"""A whole service in this process: real stores in memory, a clock that the test moves, the API."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeVar

import httpx2
from starlette.types import ASGIApp

from gnomon.apps.service.counters import ServiceCounters, service_families
from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.http.app import create_app
from gnomon.apps.service.http.parts import ServiceParts
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.settings import Settings
from gnomon.ports import Ledger
from gnomon.ports.dag import DagRuns, DagStore
from gnomon.shell.executor.signature import Keyring
from gnomon.shell.http.authentication import Authenticator
from gnomon.shell.store.dag import SqliteDagRuns, SqliteDagStore
from gnomon.shell.store.postgres.dag import PostgresDagRuns, PostgresDagStore
from gnomon.shell.store.postgres.ledger import LeaseTime, PostgresLedger
from gnomon.shell.store.sqlite import SqliteLedger
from tests.apps.service.http.asking import client_of
from tests.apps.service.http.bare import access_of

__all__ = ["KEYS", "MINUTELY", "NOON", "Stage", "StageClock", "play", "stage"]

NOON = 1_772_366_400
"""2026-03-01T12:00:00Z, a Sunday."""
KEYS = Keyring(current="test", secrets={"test": b"0123456789abcdef0123456789abcdef"})
MINUTELY = {
    "workflow_id": "report", "version": 1, "user_id": "acme", "schedule_id": "minutely",
    "cron_expr": "* * * * *", "timezone": "UTC",
}  # fmt: skip
Result = TypeVar("Result")


class StageClock:
    """A clock that stands until it is moved; sleeping lets others work and no time pass."""

    def __init__(self, now_ms: int) -> None:
        self.at_ms = now_ms

    def now_ms(self) -> int:
        return self.at_ms

    def monotonic_ms(self) -> int:
        return self.at_ms

    async def sleep_ms(self, length_ms: int) -> None:
        await asyncio.Event().wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The service, and who may talk to it."""

    app: ASGIApp
    parts: ServiceParts
    clock: StageClock
    ledger: Ledger
    counters: ServiceCounters
    acme: httpx2.AsyncClient
    """Writes for the user acme."""
    reader: httpx2.AsyncClient
    """Reads for the user acme."""
    globex: httpx2.AsyncClient
    """Writes for the user globex."""
    admin: httpx2.AsyncClient
    anybody: httpx2.AsyncClient


@asynccontextmanager
async def stage(
    around: Callable[[Ledger], Ledger] = lambda ledger: ledger,
    postgres: tuple[str, str] | None = None,
) -> AsyncIterator[Stage]:
    """A service on an empty ledger at noon; `around` may put something around the ledger."""
    clock = StageClock(NOON * 1000)
    stored, dags, dag_runs = await _stores(postgres)
    parts, counters = _parts(around(stored), dags, dag_runs, clock)
    app = create_app(parts)
    tokens = ("acme-write", "acme-read", "globex-write", "admin", None)
    clients = [client_of(app, token) for token in tokens]
    acme, reader, globex, admin, anybody = clients
    try:
        yield Stage(
            app=app, parts=parts, clock=clock, ledger=stored, counters=counters, acme=acme,
            reader=reader, globex=globex, admin=admin, anybody=anybody,
        )  # fmt: skip
    finally:
        for client in clients:
            await client.aclose()
        await stored.close()


def play(
    story: Callable[[Stage], Awaitable[Result]],
    around: Callable[[Ledger], Ledger] = lambda ledger: ledger,
    postgres: tuple[str, str] | None = None,
) -> Result:
    """Play a story on a stage of its own; `postgres` is the address and the schema of its store."""

    async def whole() -> Result:
        async with stage(around, postgres) as found:
            return await story(found)

    return asyncio.run(whole())


async def _stores(
    postgres: tuple[str, str] | None,
) -> tuple[SqliteLedger | PostgresLedger, DagStore, DagRuns]:
    if postgres is None:
        stored = SqliteLedger.open(":memory:")
        return stored, SqliteDagStore(stored.database), SqliteDagRuns(stored.database)
    url, schema = postgres
    shared = await PostgresLedger.open(url, schema=schema, lease_time=LeaseTime.GIVEN)
    return (
        shared,
        PostgresDagStore(shared.pool, schema),
        PostgresDagRuns(shared.pool, schema),
    )


def _parts(
    ledger: Ledger, dags: DagStore, dag_runs: DagRuns, clock: StageClock
) -> tuple[ServiceParts, ServiceCounters]:
    settings, events, counters = Settings(), EventFeed(clock), ServiceCounters()
    numbers = count(1)
    registrar = Registrar(
        ledger, clock, settings, events, dags, unique=lambda: f"run-{next(numbers)}"
    )
    parts = ServiceParts(
        registrar=registrar,
        deployer=Deployer(dags, registrar, clock, settings),
        dag_runs=dag_runs,
        events=events,
        figures=lambda: service_families(counters),
        settings=settings,
        authenticator=Authenticator(access_of, clock),
        clock=clock,
        check_store=registrar.ping,
        hosts=["127.0.0.1"],
        callback_keys=KEYS,
    )
    return parts, counters


def with_parts(found: Stage, **changes: object) -> ASGIApp:
    """The application with some other parts."""
    return create_app(replace(found.parts, **changes))  # type: ignore[arg-type]
