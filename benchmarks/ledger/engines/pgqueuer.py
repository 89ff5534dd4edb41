"""
PgQueuer: a queue on PostgreSQL through asyncpg, filled beforehand by one statement.

Its own dequeue and log are timed, in batches of 10, which is its default, or of 500, with a
coroutine that does nothing for each job. There is no schedule to advance, and filling the queue is
not counted, both of which favours it; in a third cell it is, because a period has to get there.
"""

from datetime import timedelta
from uuid import uuid4

import asyncpg
from pgqueuer.db import AsyncpgDriver  # type: ignore[import-not-found]
from pgqueuer.queries import EntrypointExecutionParameter, Queries  # type: ignore[import-not-found]

from benchmarks.harness.meter import Meter
from benchmarks.ledger.engines.peer import Fire, PostgresPeer

__all__ = ["FilledPgQueuerEngine", "LargePgQueuerEngine", "PgQueuerEngine"]

_NAME = "nothing"


class PgQueuerEngine(PostgresPeer):
    distributions = ("pgqueuer", "asyncpg")
    batch = 10
    counts_filling = False

    def fires(self, url: str, due: int) -> Fire:
        queries = self.do(_open(url))

        def fire(meter: Meter) -> int:
            if not self.counts_filling:
                self.do(_fill(queries, due))
            with meter.running():
                if self.counts_filling:
                    self.do(_fill(queries, due))
                return self.do(_work(queries, self.batch))

        return fire


class LargePgQueuerEngine(PgQueuerEngine):
    batch = 500


class FilledPgQueuerEngine(LargePgQueuerEngine):
    counts_filling = True


async def _open(url: str) -> Queries:
    queries = Queries(AsyncpgDriver(await asyncpg.connect(url)))
    await queries.install()
    return queries


async def _fill(queries: Queries, due: int) -> None:
    await queries.enqueue([_NAME] * due, [None] * due, [0] * due)


async def _work(queries: Queries, batch: int) -> int:
    called = 0

    async def nothing() -> None:
        nonlocal called
        called += 1

    entrypoints = {_NAME: EntrypointExecutionParameter(concurrency_limit=0)}
    manager = uuid4()
    while jobs := await queries.dequeue(
        batch_size=batch, entrypoints=entrypoints, queue_manager_id=manager,
        global_concurrency_limit=None, heartbeat_timeout=timedelta(minutes=5),
    ):  # fmt: skip
        for _ in jobs:
            await nothing()
        await queries.log_jobs([(job, "successful", None) for job in jobs])
    return called
