"""
Looking back: schedules and rows as their readers see them, and what retention removes.

Lists come in pages. Retention removes finished rows, oldest end first, and remembers for each
schedule up to where its history is gone; the cursor stays, so that nothing of it is owed again. A
deleted schedule goes with its last row.

Spec: LEDGER-18 to LEDGER-20.
"""

import sqlite3
from collections.abc import Mapping, Sequence

from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.ports import RevisionRow, RunRow, ScheduleRow
from gnomon.shell.store.asking import read_skips
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import from_text, maybe_from_text, to_text
from gnomon.shell.store.queries import named

__all__ = ["PAGE_MAX", "orphans", "retain", "revisions", "run_rows", "runs", "schedules"]

PAGE_MAX = 10_000
"""The most rows that one call returns."""

_SQL = named("ledger.sql")
_NEWEST = 2**31 - 1
_ENDLESS = "9999-12-31T23:59:59.999Z"

_Row = tuple[str, int, int, str, str | None, int, str | None, str, str, str, str, int]


def schedules(
    connection: sqlite3.Connection, cache: DefinitionCache, query: str,
    values: Mapping[str, str | int | None],
) -> list[ScheduleRow]:  # fmt: skip
    rows: Sequence[_Row] = connection.execute(_SQL[query], values).fetchall()
    found, errors = cache.find(connection, [(row[0], row[1]) for row in rows])
    for error in errors:
        raise error
    return [
        ScheduleRow(
            schedule=found[schedule_id].schedule,
            revision=revision,
            version=version,
            cursor=from_text(cursor_at) // 1000,
            wake_ms=maybe_from_text(wake_at),
            pause=Pause(maybe_from_text(paused_until)) if paused else None,
            pause_reason=pause_reason,
            in_flight=in_flight,
            created_ms=from_text(created_at),
            updated_ms=from_text(updated_at),
            skips=read_skips(skips, from_text(cursor_at) // 1000),
        )
        for schedule_id, revision, version, cursor_at, wake_at, paused, paused_until, pause_reason,
        created_at, updated_at, skips, in_flight in rows
    ]  # fmt: skip


def runs(
    connection: sqlite3.Connection, schedule_id: str, *, before: int | None, before_key: str,
    limit: int,
) -> list[RunRow]:  # fmt: skip
    values: dict[str, str | int] = {
        "id": schedule_id, "before": _ENDLESS if before is None else to_text(before * 1000),
        "key": before_key, "limit": min(limit, PAGE_MAX),
    }  # fmt: skip
    return run_rows(connection, "runs", values)


def revisions(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule_id: str, *,
    before: int | None, limit: int,
) -> list[RevisionRow]:  # fmt: skip
    values = {
        "id": schedule_id, "before": _NEWEST if before is None else before,
        "limit": min(limit, PAGE_MAX),
    }  # fmt: skip
    return [
        RevisionRow(revision, from_text(effective_at), cache.value_of(schedule_id, text))
        for revision, effective_at, text in connection.execute(_SQL["revisions"], values)
    ]


def orphans(connection: sqlite3.Connection, *, owner: str) -> list[RunRow]:
    return run_rows(connection, "orphans", {"owner": owner})


def retain(connection: sqlite3.Connection, *, before_ms: int, limit: int) -> int:
    values = {"before": to_text(before_ms), "limit": limit}
    rows = connection.execute(_SQL["finished"], values).fetchall()
    floors: dict[str, str] = {}
    for _, schedule_id, run_at in rows:
        floors[schedule_id] = max(run_at, floors.get(schedule_id, run_at))
    connection.executemany(_SQL["remove_run"], [(row[0],) for row in rows])
    raised = [{"id": schedule_id, "floor": floor} for schedule_id, floor in floors.items()]
    connection.executemany(_SQL["raise_floor"], raised)
    forgotten = connection.execute(_SQL["forgotten"], values).fetchall()
    connection.executemany(_SQL["remember_forgotten"], forgotten)
    connection.executemany(_SQL["remove_revisions"], forgotten)
    connection.executemany(_SQL["remove_schedule"], forgotten)
    return len(rows)


def run_rows(
    connection: sqlite3.Connection, query: str, values: Mapping[str, str | int | None]
) -> list[RunRow]:
    """The rows that a statement gives."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return [_run_row(row) for row in cursor.execute(_SQL[query], values)]


def _run_row(row: sqlite3.Row) -> RunRow:
    return RunRow(
        key=row["idempotency_key"],
        schedule_id=row["schedule_id"],
        nominal=from_text(row["run_at"]) // 1000,
        last_nominal=(maybe_from_text(row["last_run_at"]) or 0) // 1000,
        periods=row["periods"],
        fire_ms=from_text(row["fire_at"]),
        state=State(row["state"]),
        outcome=None if row["outcome"] is None else Outcome(row["outcome"]),
        reason=None if row["reason"] is None else Reason(row["reason"]),
        status=None if row["status"] is None else Status(row["status"]),
        launches=row["launches"],
        fence=row["fence"],
        owner=row["owner"],
        lease_ms=maybe_from_text(row["lease_until"]),
        run_id=row["run_id"],
        detail=row["detail"],
        revision=row["revision"],
        started_ms=maybe_from_text(row["started_at"]),
        ended_ms=maybe_from_text(row["ended_at"]),
        created_ms=from_text(row["created_at"]),
        updated_ms=from_text(row["updated_at"]),
        kill_ms=maybe_from_text(row["kill_at"]),
        kill_by=row["kill_by"],
        first_fire_ms=maybe_from_text(row["chosen_at"]),
        params=row["params"],
    )
