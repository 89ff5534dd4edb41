"""Initialize: the first time, after a stop, after a crash, and when the store fails."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

import gnomon
from gnomon.errors import (
    CronExpressionInvalidError,
    DefinitionError,
    NegativeRetryDelayError,
    ScheduleTaskError,
    StoreError,
)
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause


@clause("INIT-1")
def test_a_scheduler_has_two_public_methods_and_nothing_else() -> None:
    scheduler = gnomon.Scheduler(":memory:", zone="UTC")

    assert [name for name in dir(scheduler) if not name.startswith("_")] == ["initialize", "stop"]


@clause("INIT-2")
@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("* * * * *", ["00:07:42 a", "00:08:00 a"]),
        ("7 0 * * *", ["00:07:42 a"]),
        ("7-8 0 1 3 0", ["00:07:42 a", "00:08:00 a"]),
        ("8 * * * *", ["00:08:00 a"]),
        ("6 * * * *", []),
        ("7 0 * * 1", []),
    ],
)
def test_a_new_task_runs_at_once_only_if_the_present_minute_matches(
    cron: str, expected: list[str]
) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", cron)])
        await stage.until("00:08:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario, begin="2026-03-01T00:07:42") == expected


@clause("INIT-2")
def test_a_task_that_is_added_later_is_new_although_the_store_is_not() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *")])
        await scheduler.stop()
        await stage.until("12:30:30")
        await scheduler.initialize(
            [
                stage.task("a", "0 0 * * *"),
                stage.task("b", "30 * * * *"),
                stage.task("c", "0 * * * *"),
            ]
        )
        await stage.until("12:45:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "12:30:30 b"]


@clause("INIT-3")
@pytest.mark.parametrize("cron", ["* * * * *", "0,10,20,30,40,50 * * * *", "59 0 * * *"])
def test_a_task_that_missed_occurrences_runs_exactly_once(cron: str) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", cron)])
        await stage.until("00:00:30")
        await scheduler.stop()
        stage.notes.clear()
        await stage.until("01:01:15")
        await scheduler.initialize([stage.task("a", cron)])
        await stage.until("01:01:45")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["01:01:15 a"]


@clause("INIT-3")
def test_a_task_that_missed_nothing_does_not_run_at_once() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        await stage.until("00:20:00")
        await scheduler.stop()
        await stage.until("00:40:00")
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        await stage.until("01:00:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "01:00:00 a"]


@clause("INIT-3")
def test_a_restart_within_the_minute_does_not_run_a_task_twice() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        for _ in range(5):
            await scheduler.initialize([stage.task("a")])
            await stage.until("00:00:01")
            await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a"]


@clause("INIT-4", "OWNER-3")
@pytest.mark.parametrize("cron", ["0 0 * * *", "0 12 * * *"])
def test_a_run_that_a_crash_cut_off_is_started_again_at_once(cron: str) -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        await stage.scheduler().initialize([stage.task("a", "0 0 * * *", takes=3600)])
        await stage.until("00:10:00")
        await stage.crash()
        await stage.until("00:20:00")
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", cron)])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes, await stage.story()

    notes, story = on_stage(scenario)
    assert notes == ["00:00:00 a", "00:20:00 a"]
    assert story == [
        "InitStart", "InitSuccess", "RunStart a", "UnexpectedShutdown",
        "InitStart", "InitSuccess", "RunStart a", "RunSuccess a", "StopStart", "StopEnd",
    ]  # fmt: skip


@clause("INIT-4")
def test_a_run_that_was_cut_off_is_owed_until_it_is_started() -> None:
    async def scenario(stage: Stage) -> list[str]:
        await stage.scheduler().initialize([stage.task("a", "0 0 * * *", takes=3600)])
        await stage.until("00:10:00")
        await stage.crash()
        stage.gate = asyncio.Event()  # the second one gets as far as the list, and no further
        await stage.scheduler().initialize([stage.task("a", "0 0 * * *")])
        await stage.until("00:15:00")
        await stage.crash()
        stage.gate = None
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "30 9 * * *")])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    notes = on_stage(scenario, violations={"L1": 1})
    assert notes == ["00:00:00 a", "00:15:00 a"]


@clause("INIT-4")
def test_a_run_of_a_task_that_was_removed_is_not_owed() -> None:
    async def scenario(stage: Stage) -> list[str]:
        await stage.scheduler().initialize([stage.task("a", "0 0 * * *", takes=3600)])
        await stage.until("00:10:00")
        await stage.crash()
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("b", "0 0 * * *")])
        await scheduler.initialize([stage.task("a", "0 0 * * *")])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a"]


@clause("INIT-9", "OVERRIDE-5", "ERR-6", "ERR-7")
@pytest.mark.parametrize("fault", ["open", "load before", "acquire before"])
def test_a_store_that_fails_leaves_nothing_active_and_nothing_changed(fault: str) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("old", "0 9 * * *")])
        await scheduler.stop()
        before = await stage.record("old")
        stage.faults.append(fault)
        with pytest.raises(ScheduleTaskError) as failure:
            await scheduler.initialize([stage.task("a"), stage.task("b")])
        cause = failure.value.__cause__
        assert isinstance(cause, StoreError)
        assert failure.value.details == {
            "name": "a", "cronExpression": "* * * * *", "cause": cause,
        }  # fmt: skip
        assert str(failure.value) == f"Failed to schedule task 'a': {cause}"
        await stage.until("00:05:00")
        assert stage.notes == []
        assert await stage.records() == ["old"]
        assert await stage.record("old") == before
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:05:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:05:00 a"]


@clause("INIT-9", "STORE-3")
def test_an_ownership_whose_answer_was_lost_is_an_ownership() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        stage.faults.append("acquire after")
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:01:30")
        await scheduler.stop()
        return await stage.story()

    assert on_stage(scenario) == [
        "InitStart", "InitSuccess", "RunStart a", "RunSuccess a", "RunStart a", "RunSuccess a",
        "StopStart", "StopEnd",
    ]  # fmt: skip


@clause("INIT-10")
def test_a_cancelled_initialize_leaves_nothing_active() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        call = asyncio.create_task(scheduler.initialize([stage.task("a")]))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await stage.until("00:05:00")
        assert (await stage.story())[-1] == "StopEnd"
        return stage.notes

    assert on_stage(scenario) in ([], ["00:00:00 a"])


@clause("REG-7")
@pytest.mark.parametrize("bad", ["* * * *", "60 * * * *"])
def test_a_wrong_list_leaves_a_running_scheduler_as_it_is(bad: str) -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        with pytest.raises(CronExpressionInvalidError):
            await scheduler.initialize([stage.task("b"), stage.task("c", bad)])
        await stage.until("00:01:30")
        story = await stage.story()
        await scheduler.stop()
        return stage.notes, story[:2]

    assert on_stage(scenario) == (["00:00:00 a", "00:01:00 a"], ["InitStart", "InitSuccess"])


@clause("REG-7")
def test_a_wrong_list_makes_no_file(tmp_path: Path) -> None:
    async def scenario() -> None:
        scheduler = gnomon.Scheduler(tmp_path / "gnomon.sqlite3", zone="UTC")
        with pytest.raises(NegativeRetryDelayError):
            await scheduler.initialize([("a", "* * * * *", print, timedelta(seconds=-1))])
        await scheduler.stop()

    asyncio.run(scenario())

    assert list(tmp_path.iterdir()) == []


@clause("REG-5", "INIT-1")
@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"zone": "Europe/Berln"}, "zone"),
        ({"reinitialize": "perhaps"}, "reinitialize"),
        ({"namespace": "a/b"}, "namespace"),
        ({"store": "mysql://db/gnomon"}, "database"),
        ({"threads": -1}, "threads"),
        ({"kept": 0}, "kept"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_when_it_is_given(
    options: dict[str, str | int], where: str
) -> None:
    with pytest.raises(DefinitionError) as refusal:
        gnomon.Scheduler(**options)  # type: ignore[arg-type]

    assert refusal.value.where == where
    assert refusal.value.hint
