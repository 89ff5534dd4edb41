"""One store, one owner: other processes are told, wait, or follow."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

import gnomon
from gnomon.apps.declarative.scheduler import Scheduler
from gnomon.errors import SchedulerAlreadyActiveError
from tests.clauses import clause

DELAY = timedelta(minutes=1)


@contextmanager
def owner(store: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that owns the store, in the middle of a run."""
    command = [sys.executable, "-m", "tests.apps.declarative.lone_owner", str(store)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "running\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def ran(store: Path) -> list[gnomon.RunContext]:
    """What a scheduler that follows does first."""
    called: asyncio.Queue[gnomon.RunContext] = asyncio.Queue()

    async def callback(context: gnomon.RunContext) -> None:
        called.put_nowait(context)

    scheduler = Scheduler(store, zone="UTC")
    await scheduler.initialize([("a", "* * * * *", callback, timedelta(0))])
    first = await called.get()
    await scheduler.stop()
    return [first]


@clause("OWNER-1", "INIT-4")
def test_a_second_process_is_told_who_the_owner_is_and_follows_when_it_is_killed(
    tmp_path: Path,
) -> None:
    async def refused() -> SchedulerAlreadyActiveError:
        scheduler = Scheduler(store, zone="UTC")
        with pytest.raises(SchedulerAlreadyActiveError) as refusal:
            await scheduler.initialize([("b", "* * * * *", print, DELAY)])
        await scheduler.stop()
        return refusal.value

    store = tmp_path / "gnomon.sqlite3"
    with owner(store) as process:
        error = asyncio.run(refused())
        assert error.owner.startswith(f"pid {process.pid} on ")
        assert str(error) == f"Cannot initialize scheduler: {store} is held by {error.owner}"
        assert "standby=True" in error.__notes__[0]
        process.kill()
        process.wait()
        (first,) = asyncio.run(ran(store))

    assert first.reason in ("interrupted", "due")  # due, if a minute has begun meanwhile
    assert first.task == "a"


@clause("OWNER-1")
def test_two_schedulers_of_one_process_cannot_own_one_store_either(tmp_path: Path) -> None:
    async def scenario() -> None:
        one, two = (Scheduler(tmp_path / "store", zone="UTC") for _ in range(2))
        await one.initialize([("a", "0 0 1 1 *", print, DELAY)])
        with pytest.raises(SchedulerAlreadyActiveError):
            await two.initialize([("a", "0 0 1 1 *", print, DELAY)])
        await one.stop()
        await two.initialize([("a", "0 0 1 1 *", print, DELAY)])
        await two.stop()

    asyncio.run(scenario())


@clause("OWNER-1", "JOURNAL-7")
def test_namespaces_of_one_store_have_owners_of_their_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        one, two = (
            Scheduler(tmp_path / "store", zone="UTC", namespace=name) for name in ("one", "two")
        )
        await one.initialize([("a", "0 0 1 1 *", print, DELAY)])
        await two.initialize([("a", "0 0 1 1 *", print, DELAY)])
        await two.stop()
        await one.stop()

    asyncio.run(scenario())


@clause("OWNER-2")
def test_a_scheduler_on_standby_follows_when_the_store_becomes_free(tmp_path: Path) -> None:
    async def scenario() -> None:
        one = Scheduler(tmp_path / "store", zone="UTC")
        two = Scheduler(tmp_path / "store", zone="UTC", standby=True)
        await one.initialize([("a", "0 0 1 1 *", print, DELAY)])
        waiting = asyncio.create_task(two.initialize([("a", "0 0 1 1 *", print, DELAY)]))
        await asyncio.sleep(0)
        assert not waiting.done()
        await one.stop()
        await waiting
        await two.stop()

    asyncio.run(scenario())


@clause("OWNER-2")
def test_stop_ends_the_waiting_of_a_scheduler_on_standby(tmp_path: Path) -> None:
    async def scenario() -> None:
        one = Scheduler(tmp_path / "store", zone="UTC")
        two = Scheduler(tmp_path / "store", zone="UTC", standby=True)
        await one.initialize([("a", "0 0 1 1 *", print, DELAY)])
        waiting = asyncio.create_task(two.initialize([("a", "0 0 1 1 *", print, DELAY)]))
        await asyncio.sleep(0)
        await two.stop()
        with pytest.raises(SchedulerAlreadyActiveError):
            await waiting
        await one.stop()

    asyncio.run(scenario())


@clause("OWNER-2", "INIT-10")
def test_cancelling_ends_the_waiting_of_a_scheduler_on_standby(tmp_path: Path) -> None:
    async def scenario() -> None:
        one = Scheduler(tmp_path / "store", zone="UTC")
        two = Scheduler(tmp_path / "store", zone="UTC", standby=True)
        await one.initialize([("a", "0 0 1 1 *", print, DELAY)])
        waiting = asyncio.create_task(two.initialize([("a", "0 0 1 1 *", print, DELAY)]))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await one.stop()

    asyncio.run(scenario())


@clause("OWNER-3")
def test_every_record_carries_the_identifier_of_its_owner(tmp_path: Path) -> None:
    async def scenario() -> list[set[str]]:
        from gnomon.apps.declarative.task import read_record
        from gnomon.shell.store.journal import SqliteJournalOpener

        scheduler = Scheduler(tmp_path / "store", zone="UTC")
        found = []
        for _ in range(2):
            await scheduler.initialize([(name, "0 0 1 1 *", print, DELAY) for name in "abc"])
            await scheduler.stop()
            journal = await SqliteJournalOpener(str(tmp_path / "store")).open()
            head, texts = await journal.load()
            await journal.close()
            records = [read_record(name, text) for name, text in texts.items()]
            found.append({head.identifier, *(record.identifier for record in records)})
        return found

    first, second = asyncio.run(scenario())
    assert len(first) == len(second) == 1
    assert first != second
