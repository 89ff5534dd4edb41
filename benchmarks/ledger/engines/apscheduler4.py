"""
APScheduler 4, an alpha: `AsyncScheduler` with its SQLAlchemy data store on PostgreSQL (asyncpg).

Schedules are added with its own method before the clock runs. A fire claims the schedule, adds a
job, advances the schedule, claims the job, runs it and writes its result; nothing is dropped for
being late (`misfire_grace_time=None`).
"""

import asyncio
from datetime import UTC, datetime, timedelta

from apscheduler import AsyncScheduler, JobReleased
from apscheduler.datastores.sqlalchemy import SQLAlchemyDataStore
from apscheduler.triggers.interval import IntervalTrigger
from sqlalchemy.ext.asyncio import create_async_engine  # type: ignore[import-not-found]

from benchmarks.harness.meter import Meter
from benchmarks.ledger.engines.peer import Fire, PostgresPeer

__all__ = ["APScheduler4Engine", "note"]

_PATIENCE = 120.0

calls: list[None] = []


async def note() -> None:
    """What every job does."""
    calls.append(None)


class APScheduler4Engine(PostgresPeer):
    distributions = ("APScheduler", "SQLAlchemy", "asyncpg")
    due_max = 200

    def fires(self, url: str, due: int) -> Fire:
        address = url.replace("postgresql://", "postgresql+asyncpg://", 1)

        def fire(meter: Meter) -> int:
            calls.clear()
            self.do(_fire(address, due, meter))
            return len(calls)

        return fire


async def _fire(address: str, due: int, meter: Meter) -> None:
    engine = create_async_engine(address)
    over, left = asyncio.Event(), due

    def count(_: object) -> None:
        nonlocal left
        left -= 1
        if not left:
            over.set()

    async with AsyncScheduler(SQLAlchemyDataStore(engine)) as scheduler:
        past = datetime.now(UTC) - timedelta(minutes=1)
        for number in range(due):
            trigger = IntervalTrigger(hours=1, start_time=past)
            await scheduler.add_schedule(
                note, trigger, id=f"hourly-{number:04d}", misfire_grace_time=None
            )
        scheduler.subscribe(count, {JobReleased})
        with meter.running():
            await scheduler.start_in_background()
            await asyncio.wait_for(over.wait(), _PATIENCE)
        await scheduler.stop()
        for number in range(due):
            await scheduler.remove_schedule(f"hourly-{number:04d}")
    await engine.dispose()
