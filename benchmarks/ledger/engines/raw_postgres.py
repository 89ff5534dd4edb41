"""
The bare database: the statements that no engine can do without, in batches, through asyncpg.

Select what is due, insert a row for each run, advance the schedules, commit; update the rows to
finished, commit. There are no definitions, cron, versions, fencing, leases or callbacks: a limit,
not a scheduler.
"""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import asyncpg

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engine import fire_facts
from benchmarks.ledger.engines.postgres_server import PostgresServer

__all__ = ["RawPostgresEngine"]

_HOUR = timedelta(hours=1)
_BEGINS = datetime(2026, 3, 1, tzinfo=UTC)
_TICKS = 100
_SCHEMA = """
CREATE TABLE schedules (
  schedule_id text PRIMARY KEY, next_at timestamptz, version bigint NOT NULL
);
CREATE INDEX schedules_by_next ON schedules (next_at);
CREATE TABLE runs (
  run_key text PRIMARY KEY, schedule_id text NOT NULL, nominal_at timestamptz NOT NULL,
  state text NOT NULL, claimed_at timestamptz NOT NULL, ended_at timestamptz
);
"""
_FILL = """
INSERT INTO schedules SELECT 'hourly-' || lpad(n::text, 7, '0'), $2, 1
FROM generate_series(1, $1::int) n
"""
_DUE = """
SELECT schedule_id, next_at, version FROM schedules
WHERE next_at <= $1 ORDER BY next_at LIMIT 1000 FOR UPDATE SKIP LOCKED
"""
_CLAIM = """
INSERT INTO runs SELECT v.key, v.id, v.nominal_at, 'claimed', $4, NULL
FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS v (key, id, nominal_at)
"""
_ADVANCE = """
UPDATE schedules s SET next_at = v.next_at, version = v.version
FROM unnest($1::text[], $2::timestamptz[], $3::bigint[]) AS v (id, next_at, version)
WHERE s.schedule_id = v.id
"""
_FINISH = "UPDATE runs SET state = 'done', ended_at = $2 WHERE run_key = ANY ($1)"
_NEXT = "SELECT min(next_at) FROM schedules"
_Result = TypeVar("_Result")


class RawPostgresEngine:
    distributions: tuple[str, ...] = ("asyncpg",)

    def __init__(self, directory: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._server = PostgresServer()
        self._opened: list[asyncpg.Connection[asyncpg.Record]] = []

    def close(self) -> None:
        for connection in self._opened:
            self._do(connection.close())
        self._server.close()
        self._loop.close()

    def job(self, cell: Cell) -> Job:
        if cell.is_cold or cell.area not in (Area.FIRE, Area.IDLE):
            raise Unsupported("there is nothing but statements")
        url = self._server.database()
        connection = self._do(_open(url, cell))
        self._server.vacuum(url)
        self._opened.append(connection)
        if cell.area is Area.IDLE:
            return self._idle_job(connection)
        meter, facts, hours = Meter(), dict[str, float](), 0

        def run() -> None:
            nonlocal hours
            hours += 1
            self._server.vacuum(url)
            with meter.running():
                fired = self._do(_fire(connection, _BEGINS + hours * _HOUR))
            assert fired == cell.due, fired
            facts.update(fire_facts(meter, cell))

        return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=meter.read)

    def _idle_job(self, connection: "asyncpg.Connection[asyncpg.Record]") -> Job:
        meter = Meter()

        async def look() -> None:
            with meter.running():
                for _ in range(_TICKS):
                    assert not await connection.fetch(_DUE, _BEGINS - _HOUR)
                    assert await connection.fetchval(_NEXT)

        return Job(run=lambda: self._do(look()), operations=_TICKS, answers=list, clock=meter.read)

    def _do(self, work: Coroutine[None, None, _Result]) -> _Result:
        return self._loop.run_until_complete(work)


async def _open(url: str, cell: Cell) -> "asyncpg.Connection[asyncpg.Record]":
    connection = await asyncpg.connect(url)
    await connection.execute(_SCHEMA)
    await connection.execute(_FILL, cell.stored, _BEGINS)
    return connection


async def _fire(connection: "asyncpg.Connection[asyncpg.Record]", now: datetime) -> int:
    async with connection.transaction():
        due = await connection.fetch(_DUE, now)
        ids = [row[0] for row in due]
        keys = [f"{row[0]}:{row[1].timestamp():.0f}" for row in due]
        await connection.execute(_CLAIM, keys, ids, [row[1] for row in due], now)
        following = [row[1] + _HOUR for row in due]
        await connection.execute(_ADVANCE, ids, following, [row[2] + 1 for row in due])
    async with connection.transaction():
        await connection.execute(_FINISH, keys, now)
    return len(due)
