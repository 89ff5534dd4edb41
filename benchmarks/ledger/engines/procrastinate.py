"""
Procrastinate: a queue on PostgreSQL whose periodic tasks are deferred one by one.

Each period is deferred as its scheduler does it (`defer_periodic_job`, one transaction, guarded by
a unique key), and its own worker fetches, runs and finishes it, ten at a time. The loop around the
first half, which sleeps until the next minute, is left out.
"""

import itertools

from procrastinate import App, PsycopgConnector
from procrastinate.jobs import Job as Deferred

from benchmarks.harness.meter import Meter
from benchmarks.ledger.engines.peer import Fire, PostgresPeer

__all__ = ["ProcrastinateEngine"]

_CONCURRENCY = 10
_HOUR = 3600


class ProcrastinateEngine(PostgresPeer):
    distributions = ("procrastinate", "psycopg")
    due_max = 200

    def fires(self, url: str, due: int) -> Fire:
        app = App(connector=PsycopgConnector(conninfo=url, max_size=_CONCURRENCY + 2))
        called, hours = 0, itertools.count(1)

        @app.task(name="nothing")  # type: ignore[untyped-decorator]
        async def nothing(timestamp: int) -> None:
            nonlocal called
            called += 1

        def fire(meter: Meter) -> int:
            nonlocal called
            called = 0
            with meter.running():
                self.do(_fire(app, due, next(hours) * _HOUR))
            return called

        self.do(_open(app))
        return fire


async def _open(app: App) -> None:
    await app.open_async()
    await app.schema_manager.apply_schema_async()


async def _fire(app: App, due: int, timestamp: int) -> None:
    for number in range(due):
        job = Deferred(
            id=None, queue="default", lock=None, queueing_lock=None, task_name="nothing",
            task_kwargs={"timestamp": timestamp},
        )  # fmt: skip
        await app.job_manager.defer_periodic_job(job, f"hourly-{number:04d}", timestamp)
    await app.run_worker_async(
        wait=False, concurrency=_CONCURRENCY, listen_notify=False, install_signal_handlers=False
    )
