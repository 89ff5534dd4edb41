"""What a worker on a database does beside its work, on a clock that does not wait."""

import asyncio
from pathlib import Path

from gnomon.compose.shared_database import SharedDatabase
from gnomon.compose.shared_run import attended
from gnomon.shell.clock import SystemClock
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.store.postgres.presence import BEAT_MS, Presence, workers
from gnomon.shell.worker.runtime import BACKOFF_MS, Runtime
from tests.clauses import clause
from tests.shell.store.postgres.fleet import Fleet, play
from tests.stand_ins.function_launcher import FunctionLauncher


class Hurried(SystemClock):
    """Waits for nothing between two heartbeats."""

    async def sleep_ms(self, length_ms: int) -> None:
        await super().sleep_ms(0 if length_ms == BEAT_MS else length_ms)


@clause("PG-14")
def test_a_worker_forgets_others_while_it_works_and_not_only_at_its_start(
    common_database: str, schema: str, tmp_path: Path
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, clock = await fleet.open(), Hurried()
        runtime = Runtime(
            ledger, ProcessLauncher(clock, directory=tmp_path, cwd=tmp_path), clock, "boris"
        )
        there = SharedDatabase(url=common_database, schema=schema, pooler=True)

        async def names() -> list[str]:
            return [row.owner for row in await workers(ledger.pool, ledger.sql)]

        anna = Presence(ledger.pool, ledger.sql, clock, owner="anna", host="anna", pid=1)
        async with attended(ledger, there, runtime, "boris", clock):
            while "boris" not in await names():
                pass
            await anna.beat("running", holding=0, counters={})
            await (await fleet.beside()).execute(
                "UPDATE workers SET seen_at = now() - interval '61 min' WHERE owner = 'anna'"
            )
            while "anna" in await names():
                pass

    play(common_database, schema, scenario)


@clause("PG-20")
def test_a_worker_notices_while_it_works_that_others_with_older_zone_data_are_gone(
    common_database: str, schema: str, tmp_path: Path
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, clock, beside = await fleet.open(), Hurried(), await fleet.beside()
        runtime = Runtime(
            ledger, ProcessLauncher(clock, directory=tmp_path, cwd=tmp_path), clock, "boris"
        )
        there = SharedDatabase(url=common_database, schema=schema, pooler=True)
        async with attended(ledger, there, runtime, "boris", clock):
            await beside.execute("INSERT INTO ledger_meta VALUES ('tzdata 1999a', '0')")
            while await ledger.note("tzdata 1999a") is not None:
                pass

    play(common_database, schema, scenario)


STOPPING_MS = 1_000
"""How long a runtime that stops waits for a ledger that has just failed it."""


class NeverLong(Hurried):
    """And nothing ever comes to the end of a longer wait than the shortest for a ledger."""

    async def sleep_ms(self, length_ms: int) -> None:
        if length_ms > BACKOFF_MS and length_ms not in (BEAT_MS, STOPPING_MS):
            await asyncio.Event().wait()
        await super().sleep_ms(0)


@clause("PG-8", "RUN-4")
def test_a_word_that_comes_through_ends_the_waiting_for_a_ledger(
    common_database: str, schema: str
) -> None:
    async def scenario(fleet: Fleet) -> None:
        ledger, clock, beside = await fleet.open(), NeverLong(), await fleet.beside()
        runtime = Runtime(ledger, FunctionLauncher({}, clock), clock, "boris")
        there = SharedDatabase(url=common_database, schema=schema, pooler=True)
        async with attended(ledger, there, runtime, "boris", clock):
            await beside.execute("ALTER TABLE schedules RENAME TO away")
            running = asyncio.create_task(runtime.run())
            while runtime.telemetry.ledger_errors < 10:  # the fifth wait alone would be 1.6 s
                await beside.execute("SELECT 1")
            await beside.execute("ALTER TABLE away RENAME TO schedules")
            while runtime.telemetry.turns <= runtime.telemetry.ledger_errors:
                await beside.execute("SELECT 1")
            await runtime.stop(0)
            await running

    play(common_database, schema, scenario)
