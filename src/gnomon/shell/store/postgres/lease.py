"""
Leases on PostgreSQL, and what is left of workers that are gone.

Leases are set and judged by the time of the database, so that workers need not agree about the
time: a lease that is given or extended counts from the beginning of its transaction, and one that
is judged is judged by that too, so that waiting for a row never makes anybody late. A worker that
owns the store alone need not wait for the leases of its predecessors.

Spec: LEDGER-8, PG-6.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.shell.store.postgres.report import notify
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.snapshot import UNREAD_MS

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["put_off", "recover"]


async def put_off(
    connection: "Connection", sql: Statements, schedule_ids: list[str], *, now_ms: int,
    lease_now_ms: int | None,
) -> None:  # fmt: skip
    """Look again later at schedules that cannot be read, so that they are not in the way."""
    await connection.fetch(sql["take"], schedule_ids)
    await connection.execute(sql["look_later"], schedule_ids, now_ms + UNREAD_MS)
    await connection.execute(sql["lose_later"], schedule_ids, UNREAD_MS, lease_now_ms)


async def recover(
    connection: "Connection", sql: Statements, *, owner: str, adopted: Sequence[str], now_ms: int,
    lease_now_ms: int | None,
) -> list[tuple[str, int]]:  # fmt: skip
    """The runs in flight of others are lost, except those adopted: (key, new fence)."""
    ids = [row[0] for row in await connection.fetch(sql["schedules_of_others"], owner)]
    await connection.fetch(sql["take"], ids)
    taken = await connection.fetch(sql["adopt"], list(adopted), owner, now_ms, lease_now_ms)
    await connection.execute(sql["lose"], owner, now_ms)
    await connection.execute(sql["new_versions"], now_ms, ids)
    await notify(connection, sql)
    return [(key, fence) for key, fence in taken]
