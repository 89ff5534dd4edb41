"""
Who tells a worker that another has changed something? The database does, with LISTEN and NOTIFY.

One connection beside the pool listens. When it breaks, it is made again, with longer and longer
waits, and the worker is woken each time, because it is not known what was said meanwhile. Nothing
depends on being told: a worker looks by itself at least every half minute. Behind a pooler that
hands out connections for each transaction no worker can listen, and none tries.

Spec: PG-7, PG-19.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.observe.log import log
from gnomon.shell.store.postgres.fault import explained, place_of
from gnomon.shell.store.postgres.pool import PoolOptions, connect

__all__ = ["listen"]

CHECK_MS = 20_000
"""How often a silent connection is asked whether it is still there."""
BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000
_LATE = "no connection listens; what others change is noticed late"


class _Ear(NamedTuple):
    """Who is called when something is said."""

    wake: Callable[[], None]
    hear: Callable[[str], None]

    def told(self, text: str) -> None:
        self.wake()
        self.hear(text)


async def listen(
    url: str, channel: str, wake: Callable[[], None] | None, clock: Clock,
    options: PoolOptions | None = None, *, hear: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """
    Call `wake` whenever another process has changed something, until cancelled.

    `hear` is called with every text that is said while this listens; other texts are lost.
    """
    options = options or PoolOptions()
    ear = _Ear(wake or _nothing, hear or _nothing_of)
    if options.pooler:
        log(
            logging.INFO, "not listening behind a pooler; looking by itself", database=place_of(url)
        )
        return
    failures = 0

    def listens() -> None:
        nonlocal failures
        if failures:
            log(logging.INFO, "listening again", failures=failures)
        failures = 0

    while True:
        try:
            await _listen(url, channel, ear, clock, options, listens)
        except StoreError as error:
            wait_ms = min(BACKOFF_MS * 2 ** min(failures, 20), BACKOFF_MAX_MS)
            failures += 1
            log(logging.WARNING, _LATE, error=str(error), wait_ms=wait_ms)
            await clock.sleep_ms(wait_ms)


async def _listen(
    url: str, channel: str, ear: _Ear, clock: Clock, options: PoolOptions,
    listens: Callable[[], None],
) -> None:  # fmt: skip
    """Listen with one connection for as long as it lasts."""
    connection = await connect(url, options)
    gone = asyncio.Event()
    connection.add_termination_listener(lambda _: gone.set())
    try:
        with explained(place_of(url)):
            await connection.add_listener(channel, lambda *said: ear.told(str(said[-1])))
            listens()
            ear.wake()
            while not gone.is_set():
                await _either(gone, clock)
                if not gone.is_set():
                    await connection.execute("SELECT 1")
        ear.wake()
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


def _nothing() -> None:
    """The caller does not want to be woken."""


def _nothing_of(_: str) -> None:
    """The caller does not want to know the words."""
