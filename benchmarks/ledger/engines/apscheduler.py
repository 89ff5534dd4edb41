"""
APScheduler 3: `AsyncIOScheduler` with the SQLAlchemy job store on SQLite, coroutines as jobs.

Nothing is dropped for being late (`misfire_grace_time=None`; its default of a second would drop
part of a thousand). Jobs are put into its table in one transaction, as its store would write them,
because adding a thousand one by one takes seconds. It writes no row about a run; the advanced job
is all it stores. The file has the journal that SQLAlchemy leaves it with, or WAL, which is faster.

Its jobs are hourly, as Gnomon's schedules are: by the same cron expression in the same zones, or by
an interval, which knows no calendar and no zone and is therefore less work.
"""

import asyncio
import pickle
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time_ns

from apscheduler.events import EVENT_JOB_EXECUTED
from apscheduler.job import Job as Scheduled
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import HOURLY, ZONES, Area, Cell
from benchmarks.ledger.engine import fire_facts, lateness_facts

__all__ = [
    "APSchedulerEngine",
    "APSchedulerIntervalEngine",
    "APSchedulerWalEngine",
    "Trigger",
    "by_interval",
    "note",
    "scheduler_on",
]

_PEER_MAX = 10_000
_TICKS = 10
_PATIENCE = 120.0
_LEAD = 2
"""So many seconds ahead is the second in which everything is due, where lateness is measured."""

began: list[int] = []
"""When callbacks began, for the worker has one run at a time."""


async def note() -> None:
    """What every job does."""
    began.append(time_ns())


Trigger = Callable[[int, datetime], CronTrigger | IntervalTrigger]
"""What makes the trigger of the job with that number, which is due at that instant first."""


def by_cron(number: int, at: datetime) -> CronTrigger:
    return CronTrigger.from_crontab(HOURLY, timezone=ZONES[number % len(ZONES)])


def by_interval(number: int, at: datetime) -> IntervalTrigger:
    return IntervalTrigger(hours=1, start_date=at, timezone=UTC)


class APSchedulerEngine:
    distributions: tuple[str, ...] = ("APScheduler", "SQLAlchemy")
    journal = "delete"
    trigger: Trigger = staticmethod(by_cron)

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._loop = asyncio.new_event_loop()

    def job(self, cell: Cell) -> Job:
        if cell.is_cold:
            raise Unsupported("it keeps no definitions in memory")
        match cell.area:
            case Area.FIRE:
                return self._fire_job(cell)
            case Area.LATENESS:
                return self._lateness_job(cell)
            case Area.IDLE if cell.stored <= _PEER_MAX:
                return self._idle_job(cell)
        raise Unsupported("peers are asked with 10,000 schedules at most")

    def _fire_job(self, cell: Cell) -> Job:
        meter, facts = Meter(), dict[str, float]()

        def run() -> None:
            # The hour that struck last, as in Gnomon's passes: each owes one period, not two.
            past = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
            self._loop.run_until_complete(self._whole(cell, past, meter))
            facts.update(fire_facts(meter, cell))

        return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=meter.read)

    def _lateness_job(self, cell: Cell) -> Job:
        meter, facts = Meter(), dict[str, float]()

        def run() -> None:
            at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=_LEAD)
            self._loop.run_until_complete(self._whole(cell, at, Meter()))
            nominal_ns = int(at.timestamp()) * 1_000_000_000
            facts.update(lateness_facts([one - nominal_ns for one in began], due=cell.due))
            meter.add(int(facts["p99 ms"] * 1e6))

        return Job(run=run, operations=1, answers=list, facts=facts, clock=meter.read)

    def _idle_job(self, cell: Cell) -> Job:
        scheduler = self._scheduler(cell)
        ahead = datetime.now(UTC) + timedelta(days=1)

        async def start() -> None:
            scheduler.start(paused=True)
            self._fill(scheduler, cell, ahead)

        self._loop.run_until_complete(start())
        store = scheduler._jobstores["default"]

        def run() -> None:
            now = datetime.now(UTC)
            for _ in range(_TICKS):
                assert not store.get_due_jobs(now)
                assert store.get_next_run_time()

        return Job(run=run, operations=_TICKS, answers=list)

    async def _whole(self, cell: Cell, at: datetime, meter: Meter) -> None:
        """Store jobs that are due at that instant, and time how long it takes to run them all."""
        began.clear()
        over, left = asyncio.Event(), cell.due

        def count(_: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                over.set()

        scheduler = self._scheduler(cell)
        scheduler.start(paused=True)
        self._fill(scheduler, cell, at)
        scheduler.add_listener(count, EVENT_JOB_EXECUTED)
        with meter.running():
            scheduler.resume()
            await asyncio.wait_for(over.wait(), _PATIENCE)
        scheduler.shutdown(wait=False)
        await asyncio.sleep(0)

    def _scheduler(self, cell: Cell) -> AsyncIOScheduler:
        path = self._path(cell)
        path.unlink(missing_ok=True)
        return scheduler_on(SQLAlchemyJobStore(url=f"sqlite:///{path}"))

    def _fill(self, scheduler: AsyncIOScheduler, cell: Cell, at: datetime) -> None:
        connection = sqlite3.connect(self._path(cell))
        connection.execute(f"PRAGMA journal_mode = {self.journal}")
        rows = self._job_rows(scheduler, cell, at)
        connection.executemany("INSERT INTO apscheduler_jobs VALUES (?, ?, ?)", rows)
        connection.commit()
        connection.close()

    def _job_rows(
        self, scheduler: AsyncIOScheduler, cell: Cell, at: datetime
    ) -> Iterator[tuple[str, float, bytes]]:
        """Jobs that are due at that instant, as its store would write them."""
        for one in _jobs(scheduler, cell, at, self.trigger):
            yield one.id, at.timestamp(), _state(one)

    def _path(self, cell: Cell) -> Path:
        return self._directory / f"{type(self).__name__}-{cell.area}.db"


class APSchedulerWalEngine(APSchedulerEngine):
    journal = "wal"


class APSchedulerIntervalEngine(APSchedulerEngine):
    trigger = staticmethod(by_interval)


def scheduler_on(store: SQLAlchemyJobStore) -> AsyncIOScheduler:
    return AsyncIOScheduler(jobstores={"default": store}, timezone=UTC)


def _jobs(
    scheduler: AsyncIOScheduler, cell: Cell, at: datetime, trigger: Trigger
) -> Iterable[Scheduled]:
    function: Callable[[], object] = note
    for index in range(cell.stored):
        yield Scheduled(
            scheduler,
            id=f"hourly-{index:05d}",
            name="note",
            func=function,
            args=(),
            kwargs={},
            trigger=trigger(index, at),
            executor="default",
            misfire_grace_time=None,
            coalesce=True,
            max_instances=1,
            next_run_time=at,
        )


def _state(job: Scheduled) -> bytes:
    return pickle.dumps(job.__getstate__(), pickle.HIGHEST_PROTOCOL)
