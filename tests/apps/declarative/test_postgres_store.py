"""The scheduler with its facts on PostgreSQL: the same life, on a store that machines share."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

import gnomon
from gnomon import Scheduler
from gnomon.errors import SchedulerAlreadyActiveError, ScheduleTaskError
from tests.clauses import clause

DELAY = timedelta(minutes=1)
NEVER = "0 0 1 1 *"


@clause("OWNER-1")
def test_a_second_scheduler_is_told_who_the_owner_is(database: str) -> None:
    async def scenario() -> None:
        one, two = (Scheduler(database, zone="UTC") for _ in range(2))
        await one.initialize([("a", NEVER, print, DELAY)])
        with pytest.raises(SchedulerAlreadyActiveError) as refusal:
            await two.initialize([("a", NEVER, print, DELAY)])
        assert refusal.value.owner.startswith("pid ")
        await one.stop()
        await two.initialize([("a", NEVER, print, DELAY)])
        await two.stop()

    asyncio.run(scenario())


@clause("OWNER-2")
def test_a_scheduler_on_standby_follows_when_the_store_becomes_free(database: str) -> None:
    async def scenario() -> None:
        one = Scheduler(database, zone="UTC")
        two = Scheduler(database, zone="UTC", standby=True)
        await one.initialize([("a", NEVER, print, DELAY)])
        waiting = asyncio.create_task(two.initialize([("a", NEVER, print, DELAY)]))
        await asyncio.sleep(0)
        await one.stop()
        await waiting
        await two.stop()

    asyncio.run(scenario())


@clause("JOURNAL-11", "INIT-4")
def test_a_run_that_was_cut_off_is_started_again_by_who_follows(database: str) -> None:
    async def scenario() -> str:
        begun: asyncio.Queue[gnomon.RunContext] = asyncio.Queue()

        async def endless(context: gnomon.RunContext) -> None:
            begun.put_nowait(context)
            await asyncio.Event().wait()

        async def short(context: gnomon.RunContext) -> None:
            begun.put_nowait(context)

        one = Scheduler(database, zone="UTC")
        await one.initialize([("a", "* * * * *", endless, DELAY)])
        await begun.get()
        await _end_sessions(database)
        two = Scheduler(database, zone="UTC", standby=True)
        await two.initialize([("a", "* * * * *", short, DELAY)])
        second = await begun.get()
        await two.stop()
        return second.reason

    assert asyncio.run(scenario()) in ("interrupted", "due")  # due, if a minute has just begun


@clause("JOURNAL-11")
def test_a_server_that_is_away_is_named_without_its_password() -> None:
    async def scenario() -> str:
        scheduler = Scheduler("postgresql://anna:secret@localhost:1/books", zone="UTC")
        with pytest.raises(ScheduleTaskError) as refusal:
            await scheduler.initialize([("a", NEVER, print, DELAY)])
        return str(refusal.value.__cause__)

    said = asyncio.run(scenario())
    assert "cannot be reached" in said
    assert "secret" not in said


async def _end_sessions(url: str) -> None:
    """As if the machine of the scheduler were gone."""
    beside = await asyncpg.connect(url)
    await beside.fetch(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name LIKE 'gnomon pid %' AND datname = current_database()"
    )
    await beside.close()
