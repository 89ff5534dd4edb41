"""
With which zone data were the wakes of a ledger computed, and does a worker still use others?

A worker that starts with other zone data than the ledger was last opened with makes every zoned
schedule due, so that all are computed anew. Workers with the former data may still be there, and
may be faster: what they compute meanwhile is theirs. So each worker notes with its heartbeats which
data it has, and when those with others have fallen silent, one of those that stay makes every zoned
schedule due once more. That is twice for an upgrade, however many workers there are.

No worker can tell which data are right: those are followed that the workers that stay have. A
worker that is killed before its next heartbeat after a start with new data goes unnoticed.

Spec: LEDGER-22, PG-20.
"""

from typing import TYPE_CHECKING

import tzdata

from gnomon.shell.store.postgres.pool import PATIENCE_S, PATIENTLY, Pool
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["TZDATA", "follow_zones", "knows_zones", "outlast"]

TZDATA = "tzdata"
"""The note that says with which zone data the wakes of a ledger were computed."""

_AT_ONCE_MS = -1  # also who was heard of in this very instant


async def knows_zones(connection: "Connection", sql: Statements) -> bool:
    """Whether a ledger was last opened with the zone data of this process."""
    return bool(await connection.fetchval(sql["get_meta"], TZDATA) == tzdata.IANA_VERSION)


async def follow_zones(connection: "Connection", sql: Statements) -> None:
    """New zone data may move what was computed from the old: look at every zoned schedule again."""
    if not await knows_zones(connection, sql):
        # Who is still there with others says so again.
        await connection.fetch(sql["forget_zones"], tzdata.IANA_VERSION, _AT_ONCE_MS)
        await _wake(connection, sql, tzdata.IANA_VERSION)


async def outlast(pool: Pool, sql: Statements, *, zones: str, silent_ms: int) -> bool:
    """Whether workers with other zone data are gone, and every zoned schedule was made due."""
    async with pool.transaction() as connection:
        gone = await connection.fetch(sql["forget_zones"], zones, silent_ms)
        if gone:
            await _wake(connection, sql, zones)
    return bool(gone)


async def _wake(connection: "Connection", sql: Statements, zones: str) -> None:
    await connection.execute(PATIENTLY)
    await connection.execute(sql["set_meta"], TZDATA, zones)
    await connection.execute(sql["wake_zoned"], timeout=PATIENCE_S)
