"""
Which events does a process of the service hear of? Those of all processes on its database.

Spec: SERVICE-32, UP-6.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence

from gnomon.apps.service.event_relay import EventRelay
from gnomon.apps.service.events import EventFeed
from gnomon.cli.service.stores import Stores
from gnomon.cli.shared_database import SharedDatabase
from gnomon.ports import Clock
from gnomon.shell.observe.telemetry import log

__all__ = ["relayed"]


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
        log(logging.WARNING, "behind a pooler nobody hears of the events of other processes")
        listens = False
    if listens:
        listening = listen(database.url, channel, ready.set, clock, hear=relay.hear)
        beside.append(asyncio.create_task(listening))
    try:
        if listens:
            await ready.wait()  # whoever is served hears of everything from now on
        yield
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await relay.tell()  # how the last runs ended
