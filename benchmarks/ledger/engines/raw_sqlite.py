"""
The bare database: the statements that no engine can do without, in batches, on one thread.

Select what is due, insert a row for each run, advance the schedules, commit; update the rows to
finished, commit. WAL with `synchronous=FULL`, as the ledger has it. There are no definitions, cron,
versions, fencing, leases or callbacks, and instants are integers: a limit, not a scheduler.
"""

import sqlite3
from pathlib import Path

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engine import fire_facts

__all__ = ["RawSqliteEngine"]

_HOUR_MS = 3_600_000
_TICKS = 100
_SCHEMA = """
CREATE TABLE schedules (
  schedule_id TEXT NOT NULL PRIMARY KEY, next_ms INTEGER, version INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX schedules_by_next ON schedules (next_ms);
CREATE TABLE runs (
  run_key TEXT NOT NULL PRIMARY KEY, schedule_id TEXT NOT NULL, nominal_ms INTEGER NOT NULL,
  state TEXT NOT NULL, claimed_ms INTEGER NOT NULL, ended_ms INTEGER
);
"""
_FILL = """
WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n LIMIT ?)
INSERT INTO schedules SELECT printf('hourly-%07d', value), ?, 1 FROM n
"""
_DUE = """
SELECT schedule_id, next_ms, version FROM schedules
WHERE next_ms <= ? ORDER BY next_ms LIMIT 1000
"""
_CLAIM = "INSERT INTO runs VALUES (?, ?, ?, 'claimed', ?, NULL)"
_ADVANCE = "UPDATE schedules SET next_ms = ?, version = ? WHERE schedule_id = ?"
_FINISH = "UPDATE runs SET state = 'done', ended_ms = ? WHERE run_key = ?"
_NEXT = "SELECT min(next_ms) FROM schedules"


class RawSqliteEngine:
    distributions: tuple[str, ...] = ()

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._opened: list[sqlite3.Connection] = []

    def close(self) -> None:
        for connection in self._opened:
            connection.close()

    def job(self, cell: Cell) -> Job:
        if cell.is_cold or cell.area not in (Area.FIRE, Area.IDLE):
            raise Unsupported("there is nothing but statements")
        connection = self._open(cell)
        return _fire_job(connection, cell) if cell.area is Area.FIRE else _idle_job(connection)

    def _open(self, cell: Cell) -> sqlite3.Connection:
        path = self._directory / f"raw-{cell.area}-{cell.stored}.db"
        connection = sqlite3.connect(path, isolation_level=None)
        self._opened.append(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -16384")
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        connection.executescript(_SCHEMA)
        connection.execute(_FILL, (cell.stored, _HOUR_MS))
        return connection


def _fire_job(connection: sqlite3.Connection, cell: Cell) -> Job:
    meter, facts = Meter(), dict[str, float]()
    hours = 0

    def run() -> None:
        nonlocal hours
        hours += 1
        with meter.running():
            fired = _fire(connection, hours * _HOUR_MS)
        assert fired == cell.due, fired
        facts.update(fire_facts(meter, cell))

    return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=meter.read)


def _fire(connection: sqlite3.Connection, now_ms: int) -> int:
    connection.execute("BEGIN IMMEDIATE")
    due = connection.execute(_DUE, (now_ms,)).fetchall()
    keys = [f"{schedule_id}:{nominal}" for schedule_id, nominal, _ in due]
    rows = zip(keys, due, strict=True)
    connection.executemany(_CLAIM, [(key, row[0], row[1], now_ms) for key, row in rows])
    connection.executemany(_ADVANCE, [(row[1] + _HOUR_MS, row[2] + 1, row[0]) for row in due])
    connection.execute("COMMIT")
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(_FINISH, [(now_ms, key) for key in keys])
    connection.execute("COMMIT")
    return len(due)


def _idle_job(connection: sqlite3.Connection) -> Job:
    def run() -> None:
        for _ in range(_TICKS):
            assert not connection.execute(_DUE, (0,)).fetchall()
            assert connection.execute(_NEXT).fetchone()

    return Job(run=run, operations=_TICKS, answers=list)
