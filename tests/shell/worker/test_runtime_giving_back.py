"""
A worker that stops while a claim of its own waits for the end of another run.

Time is virtual. The world begins on 2026-03-01 at 00:00:00 UTC.
"""

import asyncio
from collections.abc import Sequence

import pytest

from gnomon.core.ledger.lifecycle import Reason
from gnomon.ports import Claim, Ended, Launched
from gnomon.shell.worker.runtime import Runtime
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually
from tests.shell.worker_world import World


class Stubborn:
    """Runs that do not end when they are asked to, but ten seconds after their worker stops."""

    def __init__(self, *, confirms: bool) -> None:
        self.confirms_start = confirms
        self.launched: list[int] = []
        self._runs: dict[str, int] = {}
        self._over = asyncio.Event()
        self._ends: asyncio.Queue[Ended] = asyncio.Queue()

    async def launch(self, claim: Claim) -> Launched:
        self.launched.append(claim.launches)
        self._runs[claim.key] = claim.fence
        return Launched(claim.key, claim.fence, "7")

    async def release(self, key: str) -> None:
        pass

    async def adopt(self, key: str, run_id: str) -> bool:
        return False

    async def ended(self) -> Sequence[Ended]:
        return [await self._ends.get()]

    async def end(self, key: str, reason: Reason) -> bool:
        await self._over.wait()
        return True

    async def drain(self, *, grace_ms: int) -> None:
        await asyncio.sleep(10)
        for key, fence in self._runs.items():
            self._ends.put_nowait(Ended(key, fence, False, "signal 15", Reason.STOPPED))
        self._over.set()


@clause("RUN-8", "RUN-9", "PG-18")
@pytest.mark.parametrize("confirms", [True, False])
@pytest.mark.parametrize("launches_max", [1, 3])
def test_what_waits_when_its_worker_stops_is_executed_by_another(
    confirms: bool, launches_max: int
) -> None:
    async def scenario() -> tuple[list[str], list[int]]:
        world, launchers = World(), [Stubborn(confirms=confirms) for _ in range(2)]
        anna, boris = (
            Runtime(world.ledger, launcher, world.clock, name)
            for launcher, name in zip(launchers, ("anna", "boris"), strict=True)
        )
        await world.save("one", overlap_policy="replace", launches_max=launches_max)
        workers = [asyncio.ensure_future(anna.run())]
        await world.pass_ms(85_000)  # 00:01 waits, and its lease has been renewed
        workers.append(asyncio.ensure_future(boris.run()))
        await anna.stop(20_000)
        boris.wake()
        await world.pass_ms(10_000)
        words, tries = await world.words("one"), launchers[1].launched
        await boris.stop(20_000)
        await asyncio.gather(*workers)
        return words, tries

    words, tries = run_virtually(scenario())
    assert words == ["done FAILED stopped", "running STARTED -"]
    assert tries == [2]
