"""The virtual event loop: time passes by itself, and a seed decides the order."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager

import pytest

from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.loop import WORKER, Stuck, VirtualLoop
from tests.clauses import clause

Work = Callable[[], Coroutine[None, None, None]]


@contextmanager
def virtual_loop(seed: int = 1) -> Iterator[VirtualLoop]:
    with closing(VirtualLoop(Dice(seed, "order"), steps_max=10_000)) as loop:
        yield loop


@clause("SIM-2")
def test_a_day_of_sleep_takes_a_virtual_day_and_no_time() -> None:
    with virtual_loop() as loop:
        loop.run_until_complete(asyncio.sleep(86_400))

        assert loop.time() == 86_400
        assert loop.steps < 10


@clause("SIM-2")
def test_sleepers_wake_in_the_order_of_their_instants() -> None:
    woken: list[int] = []

    async def sleeper(length: int) -> None:
        await asyncio.sleep(length)
        woken.append(length)

    async def all_of_them() -> None:
        await asyncio.gather(*(sleeper(length) for length in (30, 10, 20)))

    with virtual_loop() as loop:
        loop.run_until_complete(all_of_them())

    assert woken == [10, 20, 30]


def order_under(seed: int) -> list[int]:
    order: list[int] = []

    async def speak(number: int) -> None:
        order.append(number)

    async def all_of_them() -> None:
        await asyncio.gather(*(speak(number) for number in range(20)))

    with virtual_loop(seed) as loop:
        loop.run_until_complete(all_of_them())
    return order


@clause("SIM-1")
def test_the_seed_decides_the_order_of_what_is_ready_together() -> None:
    assert order_under(1) == order_under(1)
    assert order_under(1) != order_under(2)
    assert sorted(order_under(2)) == list(range(20))


@clause("SIM-2")
def test_a_frozen_worker_does_nothing_until_it_thaws() -> None:
    seen: list[float] = []

    with virtual_loop() as loop:

        async def work() -> None:
            await asyncio.sleep(1)
            seen.append(loop.time())

        async def world() -> None:
            WORKER.set("w1")
            task = asyncio.create_task(work())
            WORKER.set("")
            loop.hold = lambda worker: worker == "w1" and loop.time() < 60
            loop.call_later(60, loop.thaw)
            await task

        loop.run_until_complete(world())

    assert seen == [61.0]


@clause("SIM-2")
def test_a_world_in_which_nothing_can_happen_any_more_is_stuck() -> None:
    async def wait_for_nobody() -> None:
        await asyncio.Event().wait()

    with virtual_loop() as loop:
        task = loop.create_task(wait_for_nobody())
        with pytest.raises(Stuck, match="no timer is set"):
            loop.run_until_complete(task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)


@clause("SIM-2")
def test_a_world_that_goes_round_in_circles_is_stuck() -> None:
    async def spin() -> None:
        loop.call_soon(again)
        await asyncio.Event().wait()

    def again() -> None:
        loop.call_soon(again)

    with virtual_loop() as loop:
        task = loop.create_task(spin())
        with pytest.raises(Stuck, match="more than 10000 steps"):
            loop.run_until_complete(task)
        loop.steps = -10_000
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
