"""
A ledger with many schedules: `python -m benchmarks.ledger.population COUNT PATH`.

All are daily, 700 at each minute from midnight on, so that a small and a large population are due
in portions of the same size. One schedule for each minute is saved through the ledger; the others
are copies of its rows under other ids, made by SQL, because a million calls of `save` would take
minutes. A copy is what `save` would have written.

It runs in a process of its own, so that the memory it takes is not found in a worker's.
"""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = ["BEGINS_MS", "TARGET", "daily", "file_of", "fill"]

BEGINS_MS = to_epoch(parse_instant("2026-03-01T23:59:30Z", where="begins"), where="begins") * 1000
"""When the schedules were saved: shortly before the first of them is due."""
TARGET = {"function": "nothing"}

_PORTION = 700
_TEMPLATES_AT_ONCE = 100
_COPIED = ("schedules", "schedule_revisions")


def file_of(directory: Path, count: int) -> Path:
    """Where the population of that size is kept."""
    return directory / f"population-{count}.db"


def fill(path: Path, count: int) -> None:
    templates = [daily(minute) for minute in range(-(-count // _PORTION))]
    asyncio.run(_save(path, templates))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")  # of the filling only
    for first in range(0, len(templates), _TEMPLATES_AT_ONCE):
        ids = [one.schedule_id for one in templates[first : first + _TEMPLATES_AT_ONCE]]
        missing = count - len(templates) - first * (_PORTION - 1)
        connection.execute("BEGIN")
        for table in _COPIED:
            _copy(connection, table, ids, missing)
        connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def daily(minute: int) -> Schedule:
    """The first of the schedules at a minute of the day."""
    return read_schedule(
        {
            "schedule_id": f"daily-{minute:04d}-000",
            "cron_expr": f"{minute % 60} {minute // 60} * * *",
            "target": TARGET,
        }
    )


async def _save(path: Path, schedules: Sequence[Schedule]) -> None:
    ledger = SqliteLedger.open(path)
    await ledger.save_all(schedules, now_ms=BEGINS_MS)
    await ledger.close()


def _copy(connection: sqlite3.Connection, table: str, ids: Sequence[str], missing: int) -> None:
    """Give each template its portion, as long as any are missing."""
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    other = "substr(t.schedule_id, 1, 11) || printf('%03d', n.value)"
    values = {
        "schedule_id": other,
        "definition": f"replace(t.definition, t.schedule_id, {other})",
    }
    copied = ", ".join(values.get(column, f"t.{column}") for column in columns)
    connection.execute(
        f"""
        WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT {_PORTION - 1})
        INSERT INTO {table} ({", ".join(columns)})
        SELECT {copied} FROM {table} t CROSS JOIN n
        WHERE t.schedule_id IN (SELECT value FROM json_each(?))
        ORDER BY t.schedule_id, n.value
        LIMIT ?
        """,
        (json.dumps(ids), max(missing, 0)),
    )


if __name__ == "__main__":
    fill(Path(sys.argv[2]), int(sys.argv[1]))
