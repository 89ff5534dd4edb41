"""
A worker that lacks what it needs to start any run: descriptors, memory, processes.

Time is virtual. The world begins on 2026-03-01 at 00:00:00 UTC.
"""

import asyncio
import logging
from collections.abc import Sequence

import pytest

from gnomon.ports import Claim, Failed, Launched, Strained
from tests.clauses import clause
from tests.shell.virtual_time import run_virtually
from tests.shell.worker_world import World


class Narrow:
    """A world whose launcher starts so many runs at once and no more."""

    def __init__(self, room: int) -> None:
        self.world = World()
        self.room = room
        self.tries = 0
        self._launch = self.world.launcher.launch
        self.world.launcher.launch = self._try_launch  # type: ignore[method-assign, assignment]

    async def _try_launch(self, claim: Claim) -> Launched | Failed | Strained | None:
        self.tries += 1
        if len(self.world.launcher._runs) >= self.room:
            return Strained(claim.key, claim.fence, "Too many open files")
        return await self._launch(claim)

    async def live(self, length_ms: int) -> None:
        running = asyncio.ensure_future(self.world.runtime.run())
        await self.world.pass_ms(length_ms)
        await self.world.runtime.stop(0)
        await running

    async def words(self, names: Sequence[str]) -> list[list[str]]:
        return [await self.world.words(name) for name in names]


@clause("RUN-17")
def test_claims_are_held_back_while_nothing_can_be_started(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario() -> tuple[int, int, list[list[str]], list[str]]:
        narrow = Narrow(room=0)
        for name in ("one", "two"):
            await narrow.world.save(name, overlap_policy="allow", launches_max=1)
        running = asyncio.ensure_future(narrow.world.runtime.run())
        await narrow.world.pass_ms(290_000)
        tries, narrow.room = narrow.tries, 100
        await narrow.world.pass_ms(15_000)
        began = len(narrow.world.began)
        await narrow.world.runtime.stop(0)
        await running
        return tries, began, await narrow.words(["one", "two"]), narrow.world.began

    with caplog.at_level(logging.INFO, logger="gnomon.runtime"):
        tries, began, words, began_in_order = run_virtually(scenario())

    assert 20 < tries < 60  # 100 ms, then twice as long each time, up to 10 s
    assert began == 12  # both claims that were in hand, and what was due since
    assert began_in_order[:2] == ["one 00:00:00 1", "two 00:00:00 1"]
    assert [line[0] for line in words] == ["done SUCCESS -"] * 2
    assert not [word for line in words for word in line if "FAILED" in word]
    told = [record.getMessage() for record in caplog.records]
    assert len([line for line in told if "runs are held back" in line]) == 1
    assert len([line for line in told if "runs are started again" in line]) == 1


@clause("RUN-17")
def test_what_a_run_frees_is_used_by_the_next_and_nothing_is_given_up() -> None:
    async def scenario() -> tuple[list[list[str]], list[str]]:
        narrow, names = Narrow(room=1), [f"job-{number}" for number in range(8)]
        for name in names:
            await narrow.world.save(name, launches_max=1)
        await narrow.live(2_000)
        return await narrow.words(names), narrow.world.began

    words, began = run_virtually(scenario())
    assert words == [["done SUCCESS -"]] * 8
    assert len(began) == 8


@clause("RUN-17")
def test_a_claim_with_a_deadline_is_judged_again() -> None:
    async def scenario() -> list[str]:
        narrow = Narrow(room=0)
        await narrow.world.save("one", deadline="5s", catchup_policy="latest")
        running = asyncio.ensure_future(narrow.world.runtime.run())
        await narrow.world.pass_ms(20_000)
        narrow.room = 1
        await narrow.world.pass_ms(20_000)
        await narrow.world.runtime.stop(0)
        await running
        return await narrow.world.words("one")

    assert run_virtually(scenario()) == ["done SKIPPED deadline"]


@clause("RUN-17", "RUN-9")
@pytest.mark.parametrize("when_ms", [0, 30_000])
def test_a_worker_that_stops_gives_back_what_it_could_not_start(when_ms: int) -> None:
    async def scenario() -> tuple[list[str], list[str]]:
        narrow = Narrow(room=0)
        await narrow.world.save("one", launches_max=1)
        await narrow.live(when_ms)
        before = await narrow.world.words("one")
        other = narrow.world.apart("worker-2")
        running = asyncio.ensure_future(other.run())
        await narrow.world.pass_ms(10_000)
        await other.stop(0)
        await running
        return before, await narrow.world.words("one")

    before, after = run_virtually(scenario())
    assert before == ["planned None -"]
    assert after == ["done SUCCESS -"]
