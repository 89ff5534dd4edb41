"""Stop: what it waits for, what it leaves, and whom it races."""

import asyncio

import pytest

from gnomon.errors import ScheduleTaskError, StopSchedulerError, StoreError
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause


@clause("STOP-1")
def test_stop_waits_for_all_runs_and_starts_nothing_meanwhile() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [stage.task("a", takes=130), stage.task("b", takes=100), stage.task("c")]
        )
        await stage.until("00:00:30")
        await scheduler.stop()
        stage.note("stopped")
        await stage.until("00:10:00")
        return stage.notes, (await stage.story())[-4:]

    notes, story = on_stage(scenario)
    assert sorted(notes) == ["00:00:00 a", "00:00:00 b", "00:00:00 c", "00:02:10 stopped"]
    assert story == ["StopStart", "RunSuccess b", "RunSuccess a", "StopEnd"]


@clause("STOP-1")
def test_a_run_that_fails_while_stop_waits_is_recorded_and_retried_after_the_next_start() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], object]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *", takes=10, fails=1)])
        await stage.until("00:00:05")
        await scheduler.stop()
        state = (await stage.record("a"))["state"]
        await stage.until("00:20:00")
        await scheduler.initialize([stage.task("a", "0 0 * * *")])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes, state

    assert on_stage(scenario) == (["00:00:00 a", "00:20:00 a"], "AwaitingRetry")


@clause("STOP-2")
def test_stopping_what_was_never_started_has_no_effect() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.stop()
        await scheduler.stop()
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:00:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a"]


@clause("STOP-2")
def test_stopping_from_several_places_stops_once_and_all_of_them_wait() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        async def stop() -> None:
            await scheduler.stop()
            stage.note("stopped")

        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=20)])
        await stage.until("00:00:10")
        await asyncio.gather(stop(), stop(), stop())
        await scheduler.stop()
        return stage.notes, [one for one in await stage.story() if "Stop" in one]

    assert on_stage(scenario) == (
        ["00:00:00 a", *["00:00:20 stopped"] * 3], ["StopStart", "StopEnd"],
    )  # fmt: skip


@clause("STOP-3")
def test_stop_during_initialize_waits_for_it_and_nothing_has_run() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        beginning = asyncio.create_task(scheduler.initialize([stage.task("a")]))
        await asyncio.sleep(0)
        await scheduler.stop()
        assert beginning.done()
        await beginning
        await stage.until("00:05:00")
        return stage.notes, await stage.story()

    assert on_stage(scenario) == ([], ["InitStart", "InitSuccess", "StopStart", "StopEnd"])


@clause("STOP-3", "INIT-9")
def test_stop_that_races_a_failing_initialize_does_not_fail_with_it() -> None:
    async def scenario(stage: Stage) -> list[object]:
        scheduler = stage.scheduler()
        stage.faults += ["acquire before", "head before"]
        found = await asyncio.gather(
            scheduler.initialize([stage.task("a")]), scheduler.stop(), return_exceptions=True
        )
        await stage.until("00:05:00")
        assert (stage.notes, stage.faults) == ([], [])
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:05:30")
        await scheduler.stop()
        assert stage.notes == ["00:05:00 a"]
        return [type(one) for one in found]

    assert on_stage(scenario) == [ScheduleTaskError, type(None)]


@clause("STOP-3", "STOP-4")
def test_initialize_during_stop_waits_for_it_and_begins_anew() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=70)])
        await stage.until("00:00:10")
        await asyncio.gather(scheduler.stop(), scheduler.initialize([stage.task("a")]))
        await stage.until("00:02:30")
        await scheduler.stop()
        return stage.notes, [one for one in await stage.story() if "Run" not in one]

    assert on_stage(scenario) == (
        ["00:00:00 a", "00:01:10 a", "00:02:00 a"],
        ["InitStart", "InitSuccess", "StopStart", "StopEnd"] * 2,
    )


@clause("STOP-4")
def test_a_scheduler_can_be_started_and_stopped_again_and_again() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], set[object]]:
        scheduler = stage.scheduler()
        identifiers = set()
        for minute in range(20):
            await scheduler.initialize([stage.task("a")])
            identifiers.add((await stage.record("a"))["schedulerIdentifier"])
            await stage.until(f"00:{minute:02d}:30")
            await scheduler.stop()
        return stage.notes, identifiers

    notes, identifiers = on_stage(scenario)
    assert len(notes) == 20
    assert len(identifiers) == 20


@clause("STOP-1", "STORE-1")
def test_stop_that_races_a_poll_leaves_no_start_without_an_end() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *", takes=5)])
        stage.gate = asyncio.Event()
        await stage.until("00:01:00")  # the start is on its way to the store
        stopping = asyncio.create_task(scheduler.stop())
        await stage.until("00:01:10")
        stage.gate.set()
        await stopping
        return stage.notes, (await stage.story())[2:]

    assert on_stage(scenario) == (
        ["00:01:10 a"], ["RunStart a", "StopStart", "RunSuccess a", "StopEnd"],
    )  # fmt: skip


@clause("STOP-5", "INIT-4", "ERR-6", "ERR-7")
def test_a_store_that_fails_during_stop_is_told_and_the_run_counts_as_cut_off() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *", takes=20)])
        await stage.until("00:00:10")
        stage.faults += ["write before"] * 100
        with pytest.raises(StopSchedulerError) as failure:
            await scheduler.stop()
        stage.faults.clear()
        cause = failure.value.details["cause"]
        assert isinstance(cause, StoreError)
        assert failure.value.__cause__ is cause
        assert str(failure.value) == "Failed to stop scheduler: stage: did not answer"
        await stage.until("00:05:00")
        await scheduler.initialize([stage.task("a", "0 0 * * *")])
        await stage.until("00:06:00")
        await scheduler.stop()
        return stage.notes, await stage.story()

    notes, story = on_stage(scenario)
    assert notes == ["00:00:00 a", "00:05:00 a"]
    assert story[2:6] == ["RunStart a", "UnexpectedShutdown", "InitStart", "InitSuccess"]


@clause("STOP-5")
def test_a_store_that_fails_for_a_while_during_stop_is_tried_again() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=20)])
        await stage.until("00:00:10")
        stage.faults += ["write before"] * 4
        await scheduler.stop()
        return (await stage.story())[2:]

    assert on_stage(scenario) == ["RunStart a", "StopStart", "RunSuccess a", "StopEnd"]


@clause("STOP-5", "STORE-3")
def test_an_end_of_all_whose_answer_was_lost_is_written_once() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        stage.faults += ["write after", "head before"]
        await scheduler.stop()
        return await stage.story()

    assert on_stage(scenario) == ["InitStart", "InitSuccess", "StopStart", "StopEnd"]


@clause("STOP-1", "STORE-3")
def test_a_start_that_was_in_doubt_when_stop_was_called_is_waited_for() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *", takes=10)])
        stage.faults += ["write after", *["head before"] * 3]  # written, and not answered
        await stage.until("00:01:00")
        await scheduler.stop()
        stage.note("stopped")
        assert (await stage.story())[2:] == ["RunStart a", "StopStart", "RunSuccess a", "StopEnd"]
        return [note.partition(" ")[2] for note in stage.notes]

    assert on_stage(scenario) == ["a", "stopped"]


@clause("STOP-5")
def test_stop_does_not_wait_for_the_end_of_a_long_pause_between_two_tries() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        stage.faults += ["write before"] * 10
        await stage.until("00:02:05")  # tried at 00:01:51.100, and next 30 s later
        stage.faults.clear()
        await scheduler.stop()
        stage.note("stopped")
        return stage.notes

    assert on_stage(scenario, violations={"L1": 1}) == ["00:02:05 stopped"]
