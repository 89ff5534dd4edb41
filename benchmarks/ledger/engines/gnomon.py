"""
Gnomon as a program would use it: `Runtime`, the SQLite ledger on its thread, coroutines.

An idle tick alone is taken without the thread, so that the hop does not hide what the store costs.
"""

import asyncio
import gc
import os
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TypeVar, assert_never

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engine import fire_facts, lateness_facts
from benchmarks.ledger.engines.gnomon_runs import Fires, LongWorker, Opener, be_late
from benchmarks.ledger.population import BEGINS_MS, file_of
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread

__all__ = ["GnomonEngine"]

_TICKS = 100
_Result = TypeVar("_Result")


class GnomonEngine:
    distributions: tuple[str, ...] = ("gnomon",)

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loop = asyncio.new_event_loop()
        self._thread = ledger_thread()
        self._opened: list[Fires | LongWorker | SqliteLedger] = []

    def close(self) -> None:
        for one in self._opened:
            self._do(one.close())
        self._thread.shutdown()
        self._loop.close()

    def job(self, cell: Cell) -> Job:
        match cell.area:
            case Area.FIRE:
                return self._fire_job(cell)
            case Area.LATENESS:
                return self._lateness_job(cell)
            case Area.IDLE:
                return self._idle_job(cell)
            case Area.MEMORY:
                return self._memory_job(cell)
            case Area.WORKERS:
                raise Unsupported("a file has one worker")
            case _:
                assert_never(cell.area)

    def _fire_job(self, cell: Cell) -> Job:
        path = self._directory / f"gnomon-fire-{'cold' if cell.is_cold else 'warm'}.db"
        fires = Fires(self._opener(path), cell)
        self._opened.append(fires)
        self._do(fires.save())
        meter, facts = fires.meter, dict[str, float]()

        def run() -> None:
            self._do(fires.once())
            facts.update(fire_facts(meter, cell))

        return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=meter.read)

    def _lateness_job(self, cell: Cell) -> Job:
        meter, facts = Meter(), dict[str, float]()
        kind = "cold" if cell.is_cold else "warm"
        paths = (self._directory / f"gnomon-late-{kind}-{n}.db" for n in range(10_000))

        def run() -> None:
            gc.enable()  # it may delay a start, so it has to be there
            late_ns = self._do(be_late(self._opener(next(paths)), cell))
            assert len(late_ns) == cell.due, f"{len(late_ns)} of {cell.due} callbacks began"
            facts.update(lateness_facts(late_ns, due=cell.due))
            meter.add(int(facts["p99 ms"] * 1e6))

        return Job(run=run, operations=1, answers=list, facts=facts, clock=meter.read)

    def _idle_job(self, cell: Cell) -> Job:
        path = file_of(self._directory, cell.stored)
        ledger = SqliteLedger.open(path)
        self._opened.append(ledger)

        async def look() -> None:
            for _ in range(_TICKS):
                assert not await ledger.load(now_ms=BEGINS_MS, limit=1000)
                assert await ledger.next_wake_ms()

        return Job(
            run=lambda: self._do(look()),
            operations=_TICKS,
            answers=list,
            facts={"file MB": round(path.stat().st_size / 1e6, 1)},
        )

    def _memory_job(self, cell: Cell) -> Job:
        if sys.platform != "linux":
            raise Unsupported("the resident size is read from /proc")
        meter = Meter()
        worker = LongWorker(file_of(self._directory, cell.stored), self._thread)
        self._opened.append(worker)

        def run() -> None:
            gc.enable()
            self._do(worker.fire(cell.due))
            gc.collect()
            meter.add(_resident_bytes())

        return Job(run=run, operations=1, answers=list, clock=meter.read)

    def _opener(self, path: Path) -> Opener:
        async def open_ledger() -> SqliteLedger:
            return SqliteLedger.open(path, executor=self._thread)

        return open_ledger

    def _do(self, work: Coroutine[None, None, _Result]) -> _Result:
        return self._loop.run_until_complete(work)


def _resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
