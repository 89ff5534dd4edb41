"""Initialize: the first time, again, at once from several places, and after a crash."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

import gnomon
from gnomon.errors import (
    CronExpressionInvalidError,
    DefinitionError,
    NegativeRetryDelayError,
    SchedulerAlreadyActiveError,
    ScheduleTaskError,
    StoreError,
    TaskMissingFieldError,
)
from tests.apps.declarative.stage import SECOND, Stage, on_stage
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

    assert on_stage(scenario) == ["00:00:00 a", "00:15:00 a"]


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


@clause("RECORD-2")
def test_a_damaged_record_stops_the_beginning_and_leaves_the_store_untouched() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b")])
        await stage.until("00:00:30")
        await scheduler.stop()
        journal = await stage.opener.sqlite.open()
        journal.database.connection.execute(
            "UPDATE tasks SET record = json_remove(record, '$.state') WHERE name = 'b'"
        )
        before = list(journal.database.connection.iterdump())
        with pytest.raises(TaskMissingFieldError) as refusal:
            await scheduler.initialize([stage.task("a")])
        assert (refusal.value.task, refusal.value.details) == ("b", {"field": "state"})
        await stage.until("00:05:00")
        assert list(journal.database.connection.iterdump()) == before
        journal.database.connection.execute("DELETE FROM tasks WHERE name = 'b'")
        await scheduler.initialize([stage.task("a"), stage.task("b", "0 9 * * *")])
        await stage.until("00:05:30")
        await scheduler.stop()
        return stage.notes[2:], await stage.records()

    assert on_stage(scenario) == (["00:05:00 a"], ["a", "b"])


@clause("OVERRIDE-1", "OVERRIDE-3")
@pytest.mark.parametrize(
    ("cron", "retry", "expected"),
    [
        ("0 0 * * *", timedelta(minutes=5), "preserved"),
        ("0  0 * * *", timedelta(minutes=5), "overridden"),
        ("00 0 * * *", timedelta(minutes=5), "overridden"),
        ("0 0 * * *", timedelta(minutes=5, milliseconds=1), "overridden"),
    ],
)
def test_name_text_and_delay_tell_whether_a_task_is_the_same(
    cron: str, retry: timedelta, expected: str
) -> None:
    async def scenario(stage: Stage) -> str:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [stage.task("a", "0 0 * * *", fails=1, retry=timedelta(minutes=5))]
        )
        await stage.until("00:02:00")
        await scheduler.stop()
        await scheduler.initialize([stage.task("a", cron, retry=retry)])
        record = await stage.record("a")
        await scheduler.stop()
        assert (record["cronExpression"], record["state"] == "AwaitingRetry") == (
            cron, expected == "preserved",
        )  # fmt: skip
        return "overridden" if record["lastAttemptAt"] is None else "preserved"

    assert on_stage(scenario) == expected


@clause("OVERRIDE-2", "RETRY-4")
def test_a_pending_retry_survives_a_restart() -> None:
    async def scenario(stage: Stage) -> list[str]:
        retry = timedelta(minutes=10)
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *", fails=1, retry=retry)])
        await stage.until("00:04:00")
        await stage.crash()
        await stage.until("00:07:00")
        second = stage.scheduler()
        await second.initialize([stage.task("a", "0 0 * * *", retry=retry)])
        await stage.until("00:20:00")
        await second.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:10:00 a"]


@clause("OVERRIDE-4")
def test_a_task_that_was_removed_and_comes_back_is_new() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str], object]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        await stage.until("00:30:00")
        await scheduler.stop()
        await scheduler.initialize([])
        gone = await stage.records()
        await stage.until("02:30:00")
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        attempt = (await stage.record("a"))["lastAttemptAt"]
        await stage.until("02:45:00")
        await scheduler.stop()
        return stage.notes, gone, attempt

    assert on_stage(scenario) == (["00:00:00 a"], [], None)


@clause("REG-5", "INIT-1")
@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"zone": "Europe/Berln"}, "zone"),
        ({"reinitialize": "perhaps"}, "reinitialize"),
        ({"namespace": "a/b"}, "namespace"),
        ({"store": "postgresql://db/gnomon"}, "store"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_when_it_is_given(
    options: dict[str, str], where: str
) -> None:
    with pytest.raises(DefinitionError) as refusal:
        gnomon.Scheduler(**options)  # type: ignore[arg-type]

    assert refusal.value.where == where
    assert refusal.value.hint
