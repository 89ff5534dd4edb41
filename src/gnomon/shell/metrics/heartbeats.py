"""
How are the workers of a database, at the moment somebody asks?

They are read when they are wanted, by one question at a time, so that whoever asks often takes no
more than one connection from the worker beside. A database that does not answer soon is a figure
too, and never an error: the rest of the page is wanted most when something is wrong.

Spec: METRICS-8.
"""

import asyncio
from collections.abc import Sequence

from gnomon.errors import StoreError
from gnomon.shell.metrics.exposition import Family
from gnomon.shell.metrics.figures import worker_families
from gnomon.shell.store.postgres.ledger import PostgresLedger
from gnomon.shell.store.postgres.presence import workers

__all__ = ["Heartbeats"]

PATIENCE_S = 3.0
"""How long the database may take; who asks for a page often waits no longer than ten seconds."""


class Heartbeats:
    """The workers of one ledger, as figures."""

    def __init__(self, ledger: PostgresLedger, *, patience_s: float = PATIENCE_S) -> None:
        self._ledger = ledger
        self._patience_s = patience_s
        self._asking = asyncio.Lock()

    async def families(self) -> Sequence[Family]:
        try:
            async with asyncio.timeout(self._patience_s), self._asking:
                found = await workers(self._ledger.pool, self._ledger.sql)
        except (StoreError, TimeoutError):
            return worker_families(None)
        return worker_families(found)
