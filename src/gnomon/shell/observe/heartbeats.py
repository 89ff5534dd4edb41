"""
How are the workers of a database, at the moment a scraper asks?

They are read when they are wanted, by one question at a time, so that a scraper that asks often
takes no more than one connection from the worker beside. A database that does not answer soon is a
figure too, and never an error: the rest of the page is wanted most when something is wrong. The
question is left alone then, not taken back, because a server that does not answer would not answer
to that either; the next scraper waits for the same answer.

Spec: METRICS-8.
"""

import asyncio
from collections.abc import Sequence

from gnomon.errors import StoreError
from gnomon.shell.observe.exposition import Family
from gnomon.shell.observe.figures import worker_families
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.presence import WorkerRow, workers

__all__ = ["Heartbeats"]

PATIENCE_S = 3.0
"""How long the database may take; who asks for a page often waits no longer than ten seconds."""


class Heartbeats:
    """The workers of one ledger, as figures."""

    def __init__(self, ledger: PostgresLedger, *, patience_s: float = PATIENCE_S) -> None:
        self._ledger = ledger
        self._patience_s = patience_s
        self._asking: asyncio.Task[list[WorkerRow] | None] | None = None

    async def families(self) -> Sequence[Family]:
        """The figures, in any case within the time that the database may take."""
        asking = self._asking
        if asking is None or asking.done():
            asking = self._asking = asyncio.create_task(self._ask())
        answered, _ = await asyncio.wait({asking}, timeout=self._patience_s)
        return worker_families(asking.result() if answered else None)

    async def _ask(self) -> list[WorkerRow] | None:
        try:
            return await workers(self._ledger.pool, self._ledger.sql)
        except StoreError:
            return None
