"""
How is a service put together? Its API over its stores, and the server in front of it.

The parts are made here and nowhere else, so that `gnomon up`, `gnomon api` and the tests have the
same service. On a database that others use too, it hears of their events, and they of its own.

Spec: UP-1, UP-6, AUTH-15, SERVICE-32.
"""

import asyncio
import contextlib
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Sequence

from gnomon.apps.service.counters import ServiceCounters, service_families
from gnomon.apps.service.dag_deployment import Deployer
from gnomon.apps.service.event_relay import EventRelay
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.http.app import create_app
from gnomon.apps.service.http.parts import ServiceParts
from gnomon.apps.service.registrar import Registrar
from gnomon.apps.service.settings import Settings
from gnomon.compose.shared_database import SharedDatabase
from gnomon.compose.stores import Stores
from gnomon.ports import Clock
from gnomon.shell.executor.signature import Keyring
from gnomon.shell.http.authentication import AccessSource, Authenticator
from gnomon.shell.http.http_settings import HttpSettings
from gnomon.shell.http.limits import Limits
from gnomon.shell.http.server import serving
from gnomon.shell.http.tls import ALARM_SECONDS, expires_at, server_context
from gnomon.shell.observe.counts import Family, gauge
from gnomon.shell.observe.log import log

__all__ = ["make_api", "relayed", "serve"]


def make_api(
    stores: Stores,
    http: HttpSettings,
    settings: Settings,
    access: AccessSource,
    clock: Clock,
    *,
    events: EventFeed,
    counters: ServiceCounters,
    wake: Callable[[], None],
    keys: Keyring | None = None,
) -> ServiceParts:
    """The parts of the API."""
    registrar = Registrar(
        stores.ledger, clock, settings, events, stores.dags,
        unique=lambda: secrets.token_hex(8), wake=wake,
    )  # fmt: skip
    return ServiceParts(
        registrar=registrar,
        deployer=Deployer(stores.dags, registrar, clock, settings),
        dag_runs=stores.dag_runs,
        events=events,
        figures=lambda: [*service_families(counters), *_certificate(http, clock)],
        settings=settings,
        authenticator=Authenticator(access, clock),
        clock=clock,
        check_store=registrar.ping,
        hosts=http.host_names,
        callback_keys=keys,
        metrics_open=http.metrics_open,
        heartbeats=stores.heartbeats,
    )


@contextlib.asynccontextmanager
async def serve(
    parts: ServiceParts, http: HttpSettings, listener: socket.socket
) -> AsyncIterator[Callable[[], None]]:
    """Serve inside the block; what reads the certificate again."""
    context = None if http.tls is None else server_context(http.tls)
    _warn_of_end(http, parts.clock)

    def reload() -> None:
        if context is not None and http.tls is not None:
            context.load_cert_chain(http.tls.certificate, http.tls.key)
            log(logging.INFO, "the certificate was read again")
            _warn_of_end(http, parts.clock)

    async with serving(create_app(parts), listener, tls=context, limits=Limits()):
        try:
            yield reload
        finally:
            parts.closing.set()


def _seconds_left(http: HttpSettings, clock: Clock) -> int | None:
    if http.tls is None:
        return None
    return expires_at(http.tls.certificate) - clock.now_ms() // 1000


def _warn_of_end(http: HttpSettings, clock: Clock) -> None:
    left = _seconds_left(http, clock)
    if left is not None and left < ALARM_SECONDS:
        log(logging.WARNING, "the certificate is about to end", days_left=left // 86_400)


def _certificate(http: HttpSettings, clock: Clock) -> list[Family]:
    left = _seconds_left(http, clock)
    name = "gnomon_tls_certificate_seconds_left"
    return [] if left is None else [gauge(name, "As it is now.", left)]


@contextlib.asynccontextmanager
async def relayed(
    stores: Stores, database: SharedDatabase | None, events: EventFeed, clock: Clock, *, name: str,
    listens: bool,
) -> AsyncIterator[None]:  # fmt: skip
    """With a ledger that others use too: tell them of events, and hear theirs."""
    if database is None:
        yield
        return
    from gnomon.shell.store.postgres.announcement import announce, events_channel  # an extra
    from gnomon.shell.store.postgres.ledger import PostgresLedger
    from gnomon.shell.store.postgres.listener import listen

    ledger = stores.ledger
    assert isinstance(ledger, PostgresLedger)
    channel, pool = events_channel(ledger.sql), ledger.pool

    async def send(texts: Sequence[str]) -> None:
        await announce(pool, channel, texts)

    relay = EventRelay(events, clock, name=name, send=send)
    beside, ready = [asyncio.create_task(relay.work())], asyncio.Event()
    if listens and database.pooler:
        log(logging.WARNING, "behind a pooler this process hears no events of others")
        listens = False
    if listens:
        listening = listen(database.url, channel, ready.set, clock, hear=relay.hear)
        beside.append(asyncio.create_task(listening))
    try:
        if listens:
            await ready.wait()  # clients that are served from now on hear of everything
        yield
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await relay.tell()  # how the last runs ended
