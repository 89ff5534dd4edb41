"""
What `gnomon run --database` needs beside `gnomon run`: a ledger that many processes share.

No process owns the database, so a worker recovers nothing at the start: it finds what a dead worker
held by the end of its leases. A worker listens for what others change and says that it is there;
both go on beside the runtime, and neither can stop it. Only the first word must be allowed, and
what a worker does to each table: a user that may not write one of them could do no work either, and
nothing but a grant would help.

Spec: CLI-31, PG-7, PG-14, PG-20, UP-10.
"""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncIterator
from itertools import count

from gnomon.compose.shared_database import SharedDatabase
from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.observe.log import log
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.listener import listen
from gnomon.shell.store.postgres.presence import BEAT_MS, Presence
from gnomon.shell.worker.runtime import Runtime

__all__ = ["attended", "open_shared"]

BEATS_TO_FORGET = 120
"""After how many beats a worker removes others long silent: every ten minutes."""


@contextlib.asynccontextmanager
async def open_shared(database: SharedDatabase) -> AsyncIterator[PostgresLedger]:
    ledger = await PostgresLedger.open(
        database.url, schema=database.schema, options=database.options
    )
    try:
        yield ledger
    finally:
        await ledger.close()


@contextlib.asynccontextmanager
async def attended(
    ledger: PostgresLedger, database: SharedDatabase, runtime: Runtime, owner: str, clock: Clock
) -> AsyncIterator[None]:
    """Be seen, or raise what forbids it; listen as long as the block lasts; then say good-bye."""
    presence = Presence(
        ledger.pool, ledger.sql, clock, owner=owner, host=socket.gethostname(), pid=os.getpid()
    )
    await _say(presence, runtime, "running", first=True)
    hearing = listen(database.url, ledger.sql.channel, runtime.wake, clock, database.options)
    beside = [
        asyncio.create_task(hearing),
        asyncio.create_task(_beat(presence, runtime, clock)),
    ]
    try:
        yield
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        await _say(presence, runtime, "stopped")


async def _beat(presence: Presence, runtime: Runtime, clock: Clock) -> None:
    for beat in count():
        if beat % BEATS_TO_FORGET == 0:
            with contextlib.suppress(StoreError):
                await presence.forget_others()
        if await _say(presence, runtime, "draining" if runtime.is_stopping else "running"):
            runtime.try_again()
            with contextlib.suppress(StoreError):  # the next beat tries again
                await presence.outlast_others()
        await clock.sleep_ms(BEAT_MS)


async def _say(presence: Presence, runtime: Runtime, state: str, *, first: bool = False) -> bool:
    """Whether the database has heard it; at first, what does not pass by itself is raised."""
    counters = runtime.telemetry.counters()
    try:
        if first:
            await presence.admit()
        await presence.beat(state, holding=runtime.in_hand, counters=counters)
    except StoreError as error:
        if first and not error.transient:
            raise
        log(logging.WARNING, "could not say that this worker is there", error=str(error))
        return False
    return True
