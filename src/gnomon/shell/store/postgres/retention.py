"""
What retention removes on PostgreSQL.

Finished rows go, oldest end first, and each schedule remembers up to where its history is gone; the
cursor stays, so that nothing of it is owed again. A deleted schedule goes with its last row, and
only its numbers are remembered.

Spec: LEDGER-19.
"""

from typing import TYPE_CHECKING

from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["retain"]


async def retain(connection: "Connection", sql: Statements, *, before_ms: int, limit: int) -> int:
    """Remove up to `limit` rows that ended before an instant; say how many."""
    removed, rows = 0, await connection.fetch(sql["finished"], before_ms, limit)
    if rows:
        floors: dict[str, int] = {}
        for _, schedule_id, last_ms in rows:
            floors[schedule_id] = max(last_ms, floors.get(schedule_id, last_ms))
        await connection.fetch(sql["take"], list(floors))
        # Another worker may have removed some of them while this one waited.
        done = await connection.execute(sql["remove_runs"], [row[0] for row in rows])
        removed = int(done.rpartition(" ")[2])
        await connection.execute(sql["raise_floors"], list(floors), list(floors.values()))
    forgotten = await connection.fetch(sql["forgotten"], before_ms, limit)
    if ids := [row[0] for row in forgotten]:
        await connection.execute(sql["remember_forgotten"], ids)
        await connection.execute(sql["remove_revisions"], ids)
        await connection.execute(sql["remove_schedules"], ids)
    return removed
