"""Stop, bounded: given up, with a deadline, and called by those it waits for."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from gnomon import Scheduler
from gnomon.errors import DefinitionError, StopSchedulerError
from tests.apps.declarative.stage import SECOND, Stage, on_stage
from tests.clauses import clause


@clause("STOP-7")
def test_a_cancelled_stop_returns_at_once_and_the_stop_goes_on_to_its_end() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=20)])
        await stage.until("00:00:05")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(scheduler.stop(), 5)
        stage.note("given up")
        await scheduler.stop()
        stage.note("stopped")
        assert (await stage.story())[2:] == ["RunStart a", "StopStart", "RunSuccess a", "StopEnd"]
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:00:10 given up", "00:00:20 stopped"]


@clause("STOP-8")
def test_a_stop_with_a_deadline_cancels_what_still_runs_then_and_writes_its_end() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=100), stage.task("b", takes=12)])
        await stage.until("00:00:05")
        await scheduler.stop(within=10 * SECOND)
        stage.note("stopped")
        details = [one.detail for one in await stage.entries() if one.event == "RunFailure"]
        return stage.notes[2:] + details, (await stage.story())[4:]

    assert on_stage(scenario) == (
        ["00:00:15 stopped", "TimeoutError: was cut short by the stop of its scheduler"],
        ["StopStart", "RunSuccess b", "RunFailure a", "StopEnd"],
    )


@clause("STOP-8", "INIT-4", "TASK-3")
def test_what_does_not_end_by_the_deadline_is_named_and_never_runs_beside_itself() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        async def stubborn() -> None:
            stage.note("begins")
            while stage.now() < "00:01:30":
                try:
                    await asyncio.sleep(1)
                except asyncio.CancelledError:
                    stage.note("refuses")
            stage.note("ends")

        scheduler = stage.scheduler(monitor=False)
        await scheduler.initialize([("a", "0 0 * * *", stubborn, SECOND), stage.task("b")])
        await stage.until("00:00:05")
        with pytest.raises(StopSchedulerError, match=r"still running when the time was up: a$"):
            await scheduler.stop(within="10s")
        stage.note("left")
        await scheduler.initialize([("a", "0 0 * * *", stubborn, SECOND)])
        await stage.until("00:02:00")
        await scheduler.stop()
        return stage.notes, (await stage.story())[2:]

    notes, story = on_stage(scenario)
    assert notes == [
        "00:00:00 begins", "00:00:00 b", "00:00:15 refuses", "00:00:16 left", "00:01:30 ends",
        "00:01:30 begins", "00:01:30 ends",
    ]  # fmt: skip
    assert story == [
        "RunStart a", "RunStart b", "RunSuccess b", "StopStart", "UnexpectedShutdown",
        "InitStart", "InitSuccess", "RunStart a", "RunSuccess a", "StopStart", "StopEnd",
    ]  # fmt: skip


@clause("STOP-8")
def test_the_earliest_of_several_deadlines_counts() -> None:
    async def scenario(stage: Stage) -> list[str]:
        async def stop(seconds: int) -> None:
            await scheduler.stop(within=seconds * SECOND)
            stage.note(f"{seconds} stopped")

        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=1000)])
        await stage.until("00:00:05")
        patient = asyncio.create_task(scheduler.stop())
        await asyncio.gather(stop(30), stop(10), stop(20))
        await patient
        return stage.notes[1:]

    assert on_stage(scenario) == [f"00:00:15 {seconds} stopped" for seconds in (30, 10, 20)]


@clause("STOP-8")
def test_a_deadline_of_nothing_waits_for_nothing_and_a_wrong_one_is_refused() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=100)])
        await stage.until("00:00:05")
        with pytest.raises(DefinitionError, match="within: must be a time of 0s or more"):
            await scheduler.stop(within=-SECOND)
        await stage.until("00:01:50")
        await scheduler.stop(within="0")
        return [stage.now(), *(await stage.story())[3:]]

    assert on_stage(scenario) == [
        "00:01:50", "RunSuccess a", "RunStart a", "StopStart", "RunFailure a", "StopEnd",
    ]  # fmt: skip


def directly(scheduler: Scheduler) -> Awaitable[object]:
    return scheduler.stop()


def gathered(scheduler: Scheduler) -> Awaitable[object]:
    return asyncio.gather(scheduler.stop())


def in_a_task(scheduler: Scheduler) -> Awaitable[object]:
    return asyncio.create_task(scheduler.stop())


@clause("STOP-9")
@pytest.mark.parametrize("ask", [directly, gathered, in_a_task])
def test_a_callback_that_stops_its_own_scheduler_waits_for_the_others_only(
    ask: Callable[[Scheduler], Awaitable[object]],
) -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        async def callback() -> None:
            await ask(scheduler)
            stage.note("asked")
            await asyncio.sleep(5)

        scheduler = stage.scheduler()
        await scheduler.initialize(
            [("a", "* * * * *", callback, SECOND), stage.task("b", takes=10)]
        )
        await stage.until("00:00:05")
        await scheduler.stop()
        stage.note("stopped")
        return stage.notes, (await stage.story())[-3:]

    assert on_stage(scenario) == (
        ["00:00:00 b", "00:00:10 asked", "00:00:15 stopped"],
        ["RunSuccess b", "RunSuccess a", "StopEnd"],
    )


@clause("STOP-9")
def test_callbacks_that_all_stop_their_scheduler_do_not_wait_for_each_other() -> None:
    async def scenario(stage: Stage) -> list[str]:
        async def callback() -> None:
            await asyncio.gather(scheduler.stop(), scheduler.stop())

        scheduler = stage.scheduler()
        await scheduler.initialize([(name, "* * * * *", callback, SECOND) for name in "abc"])
        await stage.until("00:00:05")
        await scheduler.stop()
        return [stage.now(), *sorted((await stage.story())[-4:])]

    assert on_stage(scenario) == [
        "00:00:05", "RunSuccess a", "RunSuccess b", "RunSuccess c", "StopEnd",
    ]  # fmt: skip


@clause("STOP-9")
def test_a_function_in_a_thread_may_wait_for_the_stop_of_its_own_scheduler() -> None:
    async def scenario() -> list[str]:
        def callback() -> None:
            asyncio.run_coroutine_threadsafe(scheduler.stop(), loop).result()
            asked.append("asked")
            loop.call_soon_threadsafe(done.set)

        asked: list[str] = []
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        scheduler = Scheduler(":memory:", zone="UTC")
        await scheduler.initialize([("a", "* * * * *", callback, SECOND)])
        await done.wait()
        await scheduler.stop()
        return asked

    assert asyncio.run(scenario()) == ["asked"]


@clause("STOP-9")
def test_a_callback_may_stop_its_own_scheduler_without_waiting_for_it() -> None:
    async def scenario(stage: Stage) -> list[str]:
        stopping: list[asyncio.Task[None]] = []

        async def callback() -> None:
            stage.note("a")
            stopping.append(asyncio.create_task(scheduler.stop()))

        scheduler = stage.scheduler()
        await scheduler.initialize([("a", "* * * * *", callback, SECOND)])
        await stage.until("00:05:00")
        await asyncio.gather(*stopping)
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a"]
