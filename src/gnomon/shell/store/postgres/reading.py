"""
Rows of PostgreSQL as values: definitions, schedules and runs as their readers see them.

Spec: LEDGER-18.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import asyncpg

from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.core.schedule import Schedule
from gnomon.errors import StoreError
from gnomon.ports import RunRow, ScheduleRow
from gnomon.shell.store.asking import read_skips
from gnomon.shell.store.definition_cache import Definition, DefinitionCache
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["definitions", "run_row", "schedule_row"]


async def definitions(
    connection: "Connection", sql: Statements, cache: DefinitionCache,
    wanted: Iterable[tuple[str, int]],
) -> tuple[dict[str, Definition], list[StoreError]]:  # fmt: skip
    """The definitions of these ids and revisions, and what is wrong with the others."""
    found, missing = cache.look_up(wanted)
    if not missing:
        return found, []
    rows = await connection.fetch(sql["definitions"], missing)
    return found, cache.read(((row[0], row[1], row[2], row[3]) for row in rows), found)


def schedule_row(row: asyncpg.Record, schedule: Schedule) -> ScheduleRow:
    (
        _, revision, lock_version, cursor_ms, wake_ms, paused, paused_until_ms, pause_reason,
        created_ms, updated_ms, skips, in_flight,
    ) = row  # fmt: skip
    return ScheduleRow(
        schedule=schedule,
        revision=revision,
        version=lock_version,
        cursor=cursor_ms // 1000,
        wake_ms=wake_ms,
        pause=Pause(paused_until_ms) if paused else None,
        pause_reason=pause_reason,
        in_flight=in_flight,
        created_ms=created_ms,
        updated_ms=updated_ms,
        skips=read_skips(skips, cursor_ms // 1000),
    )


def run_row(row: asyncpg.Record) -> RunRow:
    return RunRow(
        key=row["idempotency_key"],
        schedule_id=row["schedule_id"],
        nominal=row["run_at"] // 1000,
        last_nominal=(row["last_run_at"] or 0) // 1000,
        periods=row["periods"],
        fire_ms=row["fire_at"],
        state=State(row["state"]),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        reason=None if row["reason"] is None else Reason(row["reason"]),
        status=None if row["status"] is None else Status(row["status"]),
        launches=row["launches"],
        fence=row["fence"],
        owner=row["owner"],
        lease_ms=row["lease_until"],
        run_id=row["run_id"],
        detail=row["detail"],
        revision=row["revision"],
        started_ms=row["started_at"],
        ended_ms=row["ended_at"],
        created_ms=row["created_at"],
        updated_ms=row["updated_at"],
        kill_ms=row["kill_at"],
        kill_by=row["kill_by"],
        first_fire_ms=row["chosen_at"],
        params=row["params"],
    )
