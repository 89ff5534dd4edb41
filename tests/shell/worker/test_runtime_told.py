"""What the runtime tells of starts and ends when an answer comes late, or not at all."""

import asyncio
from collections.abc import Sequence

import pytest

from gnomon.core.schedule_record import read_schedule
from gnomon.errors import StoreError
from gnomon.ports import Claim, Failed, Launched, Observer, Report
from gnomon.shell.launcher.process import ProcessLauncher
from gnomon.shell.worker.runtime import Runtime
from tests.clauses import clause
from tests.shell.faulty_ledger import FaultyLedger
from tests.shell.steered_clock import SteeredClock
from tests.shell.virtual_time import START_MS, run_virtually
from tests.shell.worker_world import World, every_minute


@clause("RUN-38")
def test_a_run_that_is_over_before_its_launcher_has_answered_keeps_no_worker_busy() -> None:
    async def scenario() -> tuple[str, bool]:
        world = World()
        launch = world.launcher.launch

        async def slowly(claim: Claim) -> Launched | Failed:
            result = await launch(claim)
            await world.runtime.collect()  # the end comes first
            return result

        world.launcher.launch = slowly  # type: ignore[method-assign]
        await world.save("one")
        await world.pass_ms(60_000)
        await world.runtime.turn()
        await world.runtime.turn()
        return (await world.words("one"))[-1], world.runtime._worker.is_idle

    assert run_virtually(scenario()) == ("done SUCCESS -", True)


class Listener(Observer):
    """Notes what it is told of reports."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def reported(self, reports: Sequence[Report]) -> None:
        self.told += [type(report).__name__ for report in reports]


@clause("CLI-21", "RUN-5")
def test_a_start_whose_answer_was_lost_is_told_once() -> None:
    async def scenario() -> list[str]:
        world, listener = World(), Listener()
        runtime = Runtime(world.ledger, world.launcher, world.clock, "worker-1", observer=listener)
        await world.save("one", "held")
        await runtime.turn()
        await runtime.turn()
        world.ledger.fail("report", done=True)
        with pytest.raises(StoreError):
            await runtime.turn()
        await runtime.turn()
        world.go.set()
        await runtime.collect()
        await runtime.turn()
        return listener.told

    assert run_virtually(scenario()) == ["Launched", "Ended"]


@clause("CLI-21", "RUN-3")
def test_a_confirmed_start_whose_answer_was_lost_is_told_once() -> None:
    async def scenario() -> list[str]:
        clock, ledger, listener = SteeredClock(START_MS), FaultyLedger.make(), Listener()
        runtime = Runtime(ledger, ProcessLauncher(clock), clock, "worker-1", observer=listener)
        await ledger.save(read_schedule(every_minute("one", {"shell": "true"})), now_ms=START_MS)
        ledger.fail("report", done=True)
        with pytest.raises(StoreError):
            await runtime.turn()
        await runtime.turn()
        await runtime.collect()
        await runtime.turn()
        return listener.told

    assert asyncio.run(scenario()) == ["Launched", "Ended"]
