"""
When does a running ledger let go of what is old?

Finished rows are kept for a length of time and then removed, in portions, each a transaction of a
few milliseconds: one a second while there is more, else one a minute. A portion waits while runs
are being started, but not for ever, because some workers are never at rest.

What is removed, and what stays, is for the ledger to say.

Spec: RUN-14.
"""

import logging
from collections.abc import Callable
from typing import Protocol

from gnomon.errors import StoreError
from gnomon.ports import Clock
from gnomon.shell.observe.log import log

__all__ = ["LOOK_MS", "PAUSE_MS", "PORTION", "PUT_OFF_MAX", "Kept", "Retention"]

PORTION = 1_000
"""The most rows that one transaction removes."""
PAUSE_MS = 1_000
"""From one portion to the next."""
LOOK_MS = 60_000
"""How often one looks when nothing is left to remove."""
PUT_OFF_MAX = 60
"""How many times a portion is put off for a pause, because runs are being started."""


class Kept(Protocol):
    """What forgets what is old, when told to; a ledger does."""

    async def retain(self, *, before_ms: int, limit: int) -> int:
        """Remove up to `limit` finished rows that ended before an instant; say how many."""
        ...


class Retention:
    """Keeps the finished rows of a ledger for this long."""

    def __init__(self, ledger: Kept, clock: Clock, *, keep_ms: int) -> None:
        self._ledger = ledger
        self._clock = clock
        self._keep_ms = keep_ms
        self._removed = 0

    async def work(self, is_busy: Callable[[], bool]) -> None:
        """One portion after the other, until cancelled."""
        while True:
            await self._wait_for_rest(is_busy)
            is_more = await self.take_portion()
            await self._clock.sleep_ms(PAUSE_MS if is_more else LOOK_MS)

    async def take_portion(self) -> bool:
        """Remove a portion of what is too old; whether there may be more."""
        before_ms = self._clock.now_ms() - self._keep_ms
        try:
            removed = await self._ledger.retain(before_ms=before_ms, limit=PORTION)
        except StoreError as error:
            log(logging.WARNING, "old rows could not be removed", error=str(error))
            return False
        self._removed += removed
        if removed < PORTION and self._removed:
            log(logging.INFO, "old rows removed", rows=self._removed)
            self._removed = 0
        return removed >= PORTION

    async def _wait_for_rest(self, is_busy: Callable[[], bool]) -> None:
        for _ in range(PUT_OFF_MAX):
            if not is_busy():
                return
            await self._clock.sleep_ms(PAUSE_MS)
