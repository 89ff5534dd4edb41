"""Initialize while the scheduler runs: the same list, another one, several at once."""

import asyncio

import pytest

from gnomon.errors import (
    SchedulerAlreadyActiveError,
    ScheduleTaskError,
)
from tests.apps.declarative.stage import SECOND, Stage, on_stage
from tests.clauses import clause


@clause("INIT-5", "OVERRIDE-2")
def test_the_same_list_again_has_no_effect_but_the_new_callbacks() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        before = await stage.record("a")
        for _ in range(3):
            await stage.until("00:00:10")
            await scheduler.initialize([stage.task("a")])
        assert await stage.record("a") == before | {
            "state": "AwaitingRun", "lastAttemptAt": "2026-03-01T00:00:00.000Z",
            "lastSuccessAt": "2026-03-01T00:00:00.000Z", "attempts": 1,
            "period": "2026-03-01T00:00:00Z", "settledThrough": "2026-03-01T00:00:00.000Z",
        }  # fmt: skip
        await scheduler.initialize([("a", "* * * * *", lambda: stage.note("new"), 30 * SECOND)])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 new"]


@clause("INIT-6")
def test_another_list_is_applied_in_place() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b")])
        await stage.until("00:00:30")
        await scheduler.initialize([stage.task("b"), stage.task("c", "1 * * * *")])
        await stage.until("00:01:30")
        await scheduler.stop()
        return sorted(stage.notes), await stage.records()

    assert on_stage(scenario) == (
        ["00:00:00 a", "00:00:00 b", "00:01:00 b", "00:01:00 c"], ["b", "c"],
    )  # fmt: skip


@clause("INIT-6", "TASK-3")
def test_a_task_that_is_overridden_while_it_runs_waits_for_that_run() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *", takes=100)])
        await stage.until("00:00:30")
        await scheduler.initialize([stage.task("a", "1 0 * * *")])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:40 a"]


@clause("INIT-6", "OVERRIDE-3")
def test_a_run_that_fails_under_a_former_definition_is_not_retried_under_the_new_one() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], object]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *", takes=100, fails=1)])
        await stage.until("00:00:30")
        await scheduler.initialize([stage.task("a", "0 9 * * *")])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes, (await stage.record("a"))["state"]

    assert on_stage(scenario) == (["00:00:00 a"], "AwaitingRun")


@clause("INIT-6", "RETRY-1")
def test_a_run_that_fails_after_its_task_went_and_came_back_the_same_is_retried() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        task = stage.task("a", "0 0 * * *", takes=100, fails=1)
        await scheduler.initialize([task])
        await stage.until("00:00:30")
        await scheduler.initialize([stage.task("a", "0 9 * * *")])
        await scheduler.initialize([task])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    # It came back in the minute that it is due in, and is owed once for that.
    assert on_stage(scenario) == ["00:00:00 a", "00:01:40 a"]


@clause("INIT-6")
def test_the_run_of_a_removed_task_ends_in_the_journal_only() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=40, fails=1)])
        await stage.until("00:00:30")
        await scheduler.initialize([])
        await stage.until("00:10:00")
        story = await stage.story()
        await scheduler.stop()
        return story, await stage.records()

    assert on_stage(scenario) == (
        ["InitStart", "InitSuccess", "RunStart a", "InitStart", "InitSuccess", "RunFailure a"], [],
    )  # fmt: skip


@clause("INIT-6", "TASK-3", "INIT-4")
def test_a_task_that_comes_back_while_its_former_run_goes_on_does_not_overlap_it() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], object]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=150)])
        await stage.until("00:00:30")
        await scheduler.initialize([])
        await scheduler.initialize([stage.task("a", takes=1)])
        await stage.until("00:01:00")
        state = (await stage.record("a"))["state"]
        await stage.until("00:02:50")
        await scheduler.stop()
        return stage.notes, state

    assert on_stage(scenario) == (["00:00:00 a", "00:02:30 a"], "Running")


@clause("INIT-7")
def test_a_second_list_is_rejected_where_that_was_asked_for() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler(reinitialize="reject")
        await scheduler.initialize([stage.task("a")])
        with pytest.raises(SchedulerAlreadyActiveError) as refusal:
            await scheduler.initialize([stage.task("b")])
        assert str(refusal.value) == "Cannot initialize scheduler: scheduler is already running"
        assert refusal.value.details["currentState"] == "running"
        await stage.until("00:01:30")
        await scheduler.stop()
        await scheduler.initialize([stage.task("c", "2 * * * *")])
        await scheduler.stop()
        return stage.notes, [one for one in await stage.story() if "Init" in one]

    assert on_stage(scenario) == (
        ["00:00:00 a", "00:01:00 a"],
        ["InitStart", "InitSuccess", "InitStart", "InitFailure", "InitStart", "InitSuccess"],
    )


@clause("INIT-8")
def test_of_calls_at_once_the_first_wins_and_the_others_are_applied_in_place() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await asyncio.gather(
            scheduler.initialize([stage.task("a")]),
            scheduler.initialize([stage.task("a"), stage.task("b")]),
            scheduler.initialize([stage.task("c")]),
        )
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes, await stage.records()

    notes, records = on_stage(scenario)
    assert notes[-1] == "00:01:00 c"
    assert records == ["c"]


@clause("INIT-8")
def test_of_calls_at_once_the_others_are_rejected_where_that_was_asked_for() -> None:
    async def scenario(stage: Stage) -> list[object]:
        scheduler = stage.scheduler(reinitialize="reject")
        calls = [scheduler.initialize([stage.task(name)]) for name in "abc"]
        found = await asyncio.gather(*calls, return_exceptions=True)
        await scheduler.stop()
        return [type(one) for one in found]

    assert on_stage(scenario) == [
        type(None), SchedulerAlreadyActiveError, SchedulerAlreadyActiveError,
    ]  # fmt: skip


@clause("INIT-9", "INIT-6")
def test_a_store_that_fails_on_the_second_list_puts_the_scheduler_down_in_order() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=50)])
        await stage.until("00:00:30")
        stage.faults.append("write before")
        with pytest.raises(ScheduleTaskError):
            await scheduler.initialize([stage.task("b")])
        stage.note("failed")
        await stage.until("00:05:00")
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:05:30")
        await scheduler.stop()
        return stage.notes, (await stage.story())[:6]

    assert on_stage(scenario) == (
        ["00:00:00 a", "00:00:50 failed", "00:05:00 a"],
        ["InitStart", "InitSuccess", "RunStart a", "StopStart", "RunSuccess a", "StopEnd"],
    )
