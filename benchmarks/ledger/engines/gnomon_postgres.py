"""Gnomon on PostgreSQL, as a program would use it: `Runtime`, `PostgresLedger`, coroutines."""

import asyncio
import atexit
import gc
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar

import asyncpg

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engine import fire_facts, lateness_facts
from benchmarks.ledger.engines.gnomon_fleet import FleetFires
from benchmarks.ledger.engines.gnomon_runs import Fires, Opener, be_late
from benchmarks.ledger.engines.postgres_server import PostgresServer
from benchmarks.ledger.population import BEGINS_MS, daily
from gnomon.shell.store.postgres.ledger import PostgresLedger

__all__ = ["GnomonPostgresEngine"]

_TICKS = 100
_PORTION = 700
_Result = TypeVar("_Result")


class GnomonPostgresEngine:
    distributions: tuple[str, ...] = ("gnomon", "asyncpg")

    def __init__(self, directory: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._server = PostgresServer()
        self._opened: list[Fires | PostgresLedger] = []
        self._fleets: list[FleetFires] = []

    def close(self) -> None:
        for fleet in self._fleets:
            atexit.unregister(fleet.close)
            fleet.close()
        for one in self._opened:
            self._do(one.close())
        self._server.close()
        self._loop.close()

    def job(self, cell: Cell) -> Job:
        match cell.area:
            case Area.FIRE:
                return self._fire_job(cell)
            case Area.WORKERS:
                return self._workers_job(cell)
            case Area.LATENESS:
                return self._lateness_job(cell)
            case Area.IDLE:
                return self._idle_job(cell)
            case _:
                raise Unsupported("the memory of a worker is that of a worker on SQLite")

    def _fire_job(self, cell: Cell) -> Job:
        url = self._server.database()
        fires = Fires(_opener(url), cell)
        self._opened.append(fires)
        self._do(fires.save())
        facts = dict[str, float]()

        def run() -> None:
            self._server.vacuum(url)
            self._do(fires.once())
            facts.update(fire_facts(fires.meter, cell))

        return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=fires.meter.read)

    def _workers_job(self, cell: Cell) -> Job:
        url = self._server.database()
        fires = FleetFires(url, workers=cell.workers, due=cell.due)
        self._fleets.append(fires)
        atexit.register(fires.close)

        def run() -> None:
            self._server.vacuum(url)
            fires.once()

        return Job(run=run, operations=cell.due, answers=list, clock=fires.meter.read)

    def _lateness_job(self, cell: Cell) -> Job:
        meter, facts = Meter(), dict[str, float]()

        def run() -> None:
            gc.enable()  # it may delay a start, so it has to be there
            url = self._server.database()
            late_ns = self._do(be_late(_opener(url), cell))
            assert len(late_ns) == cell.due, f"{len(late_ns)} of {cell.due} callbacks began"
            facts.update(lateness_facts(late_ns, due=cell.due))
            meter.add(int(facts["p99 ms"] * 1e6))

        return Job(run=run, operations=1, answers=list, facts=facts, clock=meter.read)

    def _idle_job(self, cell: Cell) -> Job:
        """On the wall clock: the processor that a look takes is mostly the server's."""
        ledger = self._do(self._populated(cell.stored))
        self._opened.append(ledger)
        meter = Meter()

        async def look() -> None:
            with meter.running():
                for _ in range(_TICKS):
                    assert not await ledger.load(now_ms=BEGINS_MS, limit=1000)
                    assert await ledger.next_wake_ms()

        return Job(run=lambda: self._do(look()), operations=_TICKS, answers=list, clock=meter.read)

    async def _populated(self, count: int) -> PostgresLedger:
        """One schedule for each minute is saved, the others are copies of its rows."""
        url = self._server.database()
        ledger = await PostgresLedger.open(url)
        templates = [daily(minute) for minute in range(-(-count // _PORTION))]
        await ledger.save_all(templates, now_ms=BEGINS_MS)
        connection = await asyncpg.connect(url, command_timeout=600)
        for table in ("schedules", "schedule_revisions"):
            await _copy(connection, table, count - len(templates))
        await connection.close()
        self._server.vacuum(url)
        return ledger

    def _do(self, work: Coroutine[None, None, _Result]) -> _Result:
        return self._loop.run_until_complete(work)


def _opener(url: str) -> Opener:
    async def open_ledger() -> PostgresLedger:
        return await PostgresLedger.open(url)

    return open_ledger


async def _copy(connection: "asyncpg.Connection[asyncpg.Record]", table: str, missing: int) -> None:
    rows = await connection.fetch(
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = 'gnomon' AND table_name = $1", table,
    )  # fmt: skip
    columns = [row[0] for row in rows]
    other = "substr(t.schedule_id, 1, 11) || lpad(n::text, 3, '0')"
    values = {
        "schedule_id": other,
        "definition": f"replace(t.definition, t.schedule_id, {other})",
    }
    copied = ", ".join(values.get(column, f"t.{column}") for column in columns)
    await connection.execute(
        f"INSERT INTO gnomon.{table} ({', '.join(columns)})"
        f" SELECT {copied} FROM gnomon.{table} t CROSS JOIN generate_series(1, {_PORTION - 1}) n"
        f" ORDER BY t.schedule_id, n LIMIT {max(missing, 0)}"
    )
