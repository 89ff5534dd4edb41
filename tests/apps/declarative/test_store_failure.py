"""A store that fails, answers late or is taken away: nothing is lost, nothing happens twice."""

import asyncio

import pytest

from gnomon.apps.declarative.scheduler import Scheduler
from gnomon.errors import StopSchedulerError
from gnomon.ports import Change
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause


@clause("STORE-1")
def test_a_callback_is_called_only_after_its_start_was_committed() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        stage.gate = asyncio.Event()
        await stage.until("00:01:20")
        before = list(stage.notes)
        stage.gate.set()
        await stage.until("00:01:21")
        await scheduler.stop()
        return before, stage.notes

    assert on_stage(scenario) == ([], ["00:01:20 a"])


@clause("STORE-1", "INIT-4")
def test_who_dies_between_the_commit_and_the_call_owes_the_run() -> None:
    async def scenario(stage: Stage) -> list[str]:
        await stage.scheduler().initialize([stage.task("a", "1 * * * *")])
        stage.faults += ["write after", *["head before"] * 100]  # committed, but not answered
        await stage.until("00:01:20")
        assert (await stage.story())[-1] == "RunStart a"
        await stage.crash()
        stage.faults.clear()
        assert stage.notes == []
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        await stage.until("00:10:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:01:20 a"]


@clause("STORE-1", "INIT-3")
def test_who_dies_before_the_commit_owes_the_occurrence() -> None:
    async def scenario(stage: Stage) -> list[str]:
        await stage.scheduler().initialize([stage.task("a", "1 * * * *")])
        stage.faults += ["write before"] * 100
        await stage.until("00:01:20")
        await stage.crash()
        stage.faults.clear()
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        await stage.until("00:10:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:01:20 a"]


@clause("STORE-2")
def test_a_start_that_cannot_be_written_is_tried_again_after_longer_and_longer_waits() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[int]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        await stage.until("00:00:59")
        stage.clock.sleeps.clear()
        stage.faults += ["write before"] * 5
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes, [one for one in stage.clock.sleeps if one < 5_000]

    notes, sleeps = on_stage(scenario)
    assert notes == ["00:01:03.100 a"]
    assert sleeps == [100, 200, 400, 800, 1600]


@clause("STORE-2")
def test_the_waits_are_bounded_and_the_store_is_asked_for_ever() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], int, int]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 0 * * *")])
        await stage.until("00:00:59")
        stage.faults += ["write before"] * 40
        await stage.until("01:00:00")
        await scheduler.stop()
        return stage.notes, max(stage.clock.sleeps), stage.telemetry.store_errors

    notes, longest, errors = on_stage(scenario, violations={"L1": 1})
    assert len(notes) == 1
    assert longest == 30_000
    assert errors == 40


@clause("STORE-2")
def test_an_end_that_cannot_be_written_is_not_forgotten() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *", takes=10)])
        await stage.until("00:01:05")
        stage.faults += ["write before"] * 3
        await stage.until("00:01:30")
        story = await stage.story()
        await scheduler.stop()
        return story[2:]

    assert on_stage(scenario) == ["RunStart a", "RunSuccess a"]


@clause("STORE-3")
@pytest.mark.parametrize("silences", [0, 1, 4])
def test_a_write_whose_answer_was_lost_is_made_once(silences: int) -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *", takes=1)])
        stage.faults += ["write after", *["head before"] * silences]
        await stage.until("00:01:30")
        await scheduler.stop()
        return [note.partition(" ")[2] for note in stage.notes], (await stage.story())[2:]

    assert on_stage(scenario) == (["a"], ["RunStart a", "RunSuccess a", "StopStart", "StopEnd"])


@clause("STORE-3")
def test_an_end_whose_answer_was_lost_is_written_once() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *", takes=10)])
        await stage.until("00:01:05")
        stage.faults += ["write after", "head before"]
        await stage.until("00:01:30")
        await scheduler.stop()
        return (await stage.story())[2:]

    assert on_stage(scenario) == ["RunStart a", "RunSuccess a", "StopStart", "StopEnd"]


@clause("STORE-3", "INIT-6")
def test_a_second_list_whose_answer_was_lost_is_applied_once() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "9 * * * *")])
        stage.faults += ["write after"]
        await scheduler.initialize([stage.task("b", "1 * * * *")])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes, await stage.records()

    assert on_stage(scenario) == (["00:01:00 b"], ["b"])


async def taken_over(stage: Stage, scheduler: Scheduler) -> None:
    """Another owner writes, as only a lost lock could let it."""
    journal = await stage.opener.sqlite.open()
    head = await journal.head()
    change = Change(
        identifier="boris", t_ms=head.t_ms, wall_ms=head.wall_ms, through_ms=head.through_ms,
        calls=head.calls,
    )  # fmt: skip
    await journal.acquire(change, after=head.fence)


@clause("OWNER-4")
def test_a_scheduler_whose_store_was_taken_over_starts_and_writes_nothing_more() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b", takes=90)])
        await stage.until("00:00:30")
        await taken_over(stage, scheduler)
        before = await stage.story()
        await stage.until("00:03:30")
        with pytest.raises(StopSchedulerError, match="belongs to another scheduler now"):
            await scheduler.stop()
        return stage.notes, (await stage.story())[len(before) :]

    assert on_stage(scenario) == (["00:00:00 a", "00:00:00 b"], [])


@clause("OWNER-4", "INIT-4")
def test_a_scheduler_whose_store_was_taken_over_can_begin_anew() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("b", "0 0 * * *", takes=90)])
        await stage.until("00:00:30")
        await taken_over(stage, scheduler)
        await stage.until("00:03:00")
        await scheduler.initialize([stage.task("b", "0 0 * * *")])
        await stage.until("00:03:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 b", "00:03:00 b"]
