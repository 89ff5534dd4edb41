"""
Who tells a worker that another has changed something? The database does, with LISTEN and NOTIFY.

One connection beside the pool listens. When it breaks, it is made again, with longer and longer
waits, and the worker is woken each time, because nobody knows what was said meanwhile. Nothing
depends on being told: a worker looks by itself at least every half minute. Behind a pooler that
hands out connections for each transaction nobody can listen, and nobody tries.

Spec: PG-7.
"""

import asyncio
import logging
from collections.abc import Callable

from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.store.postgres.fault import explained, place_of
from gnomon.shell.store.postgres.pool import PoolOptions, connect
from gnomon.shell.telemetry import log

__all__ = ["listen"]

CHECK_MS = 20_000
"""How often a silent connection is asked whether it is still there."""
BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000


async def listen(
    url: str, channel: str, wake: Callable[[], None], clock: Clock,
    options: PoolOptions | None = None,
) -> None:  # fmt: skip
    """Call `wake` whenever somebody has changed something, until cancelled."""
    options = options or PoolOptions()
    if options.pooler:
        log(
            logging.INFO, "not listening behind a pooler; looking by itself", database=place_of(url)
        )
        return
    failures = 0
    while True:
        try:
            await _listen(url, channel, wake, clock, options)
        except StoreError as error:
            wait_ms = min(BACKOFF_MS * 2 ** min(failures, 20), BACKOFF_MAX_MS)
            failures += 1
            log(logging.WARNING, "nobody listens", error=str(error), wait_ms=wait_ms)
            await clock.sleep_ms(wait_ms)
        else:
            failures = 0


async def _listen(
    url: str, channel: str, wake: Callable[[], None], clock: Clock, options: PoolOptions
) -> None:
    """Listen with one connection for as long as it lasts."""
    connection = await connect(url, options)
    gone = asyncio.Event()
    connection.add_termination_listener(lambda _: gone.set())
    try:
        with explained(place_of(url)):
            await connection.add_listener(channel, lambda *_: wake())
            wake()
            while not gone.is_set():
                await _either(gone, clock)
                if not gone.is_set():
                    await connection.execute("SELECT 1")
        wake()
    finally:
        connection.terminate()


async def _either(gone: asyncio.Event, clock: Clock) -> None:
    """Wait until the connection is gone, or it is time to ask."""
    waiting = asyncio.ensure_future(gone.wait())
    alarm = asyncio.ensure_future(clock.sleep_ms(CHECK_MS))
    try:
        await asyncio.wait([waiting, alarm], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
        alarm.cancel()
        await asyncio.gather(waiting, alarm, return_exceptions=True)
