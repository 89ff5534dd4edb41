"""
What is written down about a ledger on PostgreSQL as a whole, when many come to it at once.

Spec: CLI-41.
"""

from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import Statements

__all__ = ["Notes"]


class Notes:
    """A `NotedLedger` on PostgreSQL."""

    def __init__(self, pool: Pool, sql: Statements) -> None:
        self._pool, self._sql = pool, sql

    async def note(self, name: str) -> str | None:
        rows = await self._pool.fetch(self._sql["get_meta"], name)
        return str(rows[0][0]) if rows else None

    async def note_once(self, name: str, value: str) -> str:
        # Who comes second waits for the first to commit, and the next statement sees what it wrote.
        await self._pool.fetch(self._sql["set_meta_once"], name, value)
        found = await self.note(name)
        assert found is not None  # notes are never taken away
        return found
