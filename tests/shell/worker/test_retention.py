"""Old rows go a portion at a time, on virtual time; the world begins on 2026-03-01 at midnight."""

import asyncio
import logging

import pytest

from gnomon.errors import StoreError
from gnomon.shell.worker.retention import LOOK_MS, PAUSE_MS, PORTION, PUT_OFF_MAX, Retention
from tests.clauses import clause
from tests.shell.faulty_ledger import FaultyLedger
from tests.shell.virtual_time import START_MS, VirtualClock, run_virtually
from tests.shell.worker_world import World

HOUR_MS = 3_600_000


class CrowdedLedger(FaultyLedger):
    """A ledger with so many rows that are too old; it notes when it was asked, and for what."""

    left = 2_500
    asked: list[tuple[int, int, int]]
    clock: VirtualClock

    async def retain(self, *, before_ms: int, limit: int) -> int:
        now_ms = self.clock.now_ms() - START_MS
        self.asked.append((now_ms, before_ms - START_MS, limit))
        removed = min(self.left, limit)
        self.left -= removed
        return removed


def crowded() -> CrowdedLedger:
    ledger = CrowdedLedger.make()
    assert isinstance(ledger, CrowdedLedger)
    ledger.asked, ledger.clock = [], VirtualClock()
    return ledger


async def work_for(length_ms: int, ledger: CrowdedLedger, *, busy_ms: int = 0) -> None:
    """Work for so long, and be busy for the first part of it."""
    retention = Retention(ledger, ledger.clock, keep_ms=HOUR_MS)
    until_ms = ledger.clock.now_ms() + busy_ms
    task = asyncio.create_task(retention.work(lambda: ledger.clock.now_ms() < until_ms))
    await asyncio.sleep(length_ms / 1000)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await ledger.close()


@clause("RUN-14")
def test_portions_come_once_a_second_while_there_is_more_and_then_once_a_minute() -> None:
    async def scenario() -> list[tuple[int, int, int]]:
        ledger = crowded()
        await work_for(100_000, ledger)
        return ledger.asked

    assert (PORTION, PAUSE_MS, LOOK_MS) == (1_000, 1_000, 60_000)
    assert run_virtually(scenario()) == [
        (0, -HOUR_MS, 1_000),
        (1_000, 1_000 - HOUR_MS, 1_000),
        (2_000, 2_000 - HOUR_MS, 1_000),
        (62_000, 62_000 - HOUR_MS, 1_000),
    ]


@clause("RUN-14")
@pytest.mark.parametrize(("busy_ms", "first_ms"), [(4_500, 5_000), (HOUR_MS, 60_000)])
def test_a_portion_waits_while_runs_are_started_but_not_for_ever(
    busy_ms: int, first_ms: int
) -> None:
    async def scenario() -> int:
        ledger = crowded()
        await work_for(90_000, ledger, busy_ms=busy_ms)
        return ledger.asked[0][0]

    assert PUT_OFF_MAX == 60
    assert run_virtually(scenario()) == first_ms


@clause("RUN-14")
def test_a_real_ledger_keeps_what_ended_within_the_hour() -> None:
    async def scenario() -> tuple[int, list[str]]:
        world = World()
        await world.save("one")
        retention = Retention(world.ledger, world.clock, keep_ms=HOUR_MS)
        running = asyncio.ensure_future(world.runtime.run())
        keeping = asyncio.ensure_future(retention.work(lambda: world.runtime.is_starting))
        await world.pass_ms(3 * HOUR_MS)
        await world.runtime.stop(0)
        keeping.cancel()
        await asyncio.gather(running, keeping, return_exceptions=True)
        rows = await world.ledger.runs("one", limit=1_000)
        return len(world.began), [str(row.outcome) for row in rows]

    began, left = run_virtually(scenario())
    assert began == 180
    assert left == ["executed"] * 60


@clause("RUN-14")
def test_a_ledger_that_fails_is_asked_again_later(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> list[int]:
        ledger = crowded()
        retention = Retention(Failing.make(), ledger.clock, keep_ms=HOUR_MS)
        assert not await retention.take_portion()
        await ledger.close()
        return ledger.clock.sleeps

    with caplog.at_level(logging.INFO, logger="gnomon.runtime"):
        run_virtually(scenario())
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "old rows could not be removed: error=" in caplog.text


class Failing(FaultyLedger):
    """Nothing can be removed from it."""

    async def retain(self, *, before_ms: int, limit: int) -> int:
        raise StoreError("is locked", where="ledger", hint="wait", transient=True)
