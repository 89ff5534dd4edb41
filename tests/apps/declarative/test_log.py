"""What a scheduler says about itself: the names of the contract, their facts, how late it was."""

import asyncio
import json
import logging

import pytest

from gnomon.errors import CronExpressionInvalidError, ScheduleTaskError
from gnomon.shell.observe.log import JsonLines
from tests.apps.declarative.stage import SECOND, Stage, on_stage
from tests.clauses import clause


def names(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage().partition(":")[0] for record in caplog.records]


@pytest.fixture(autouse=True)
def everything(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "gnomon.scheduler")


@clause("EVENT-1", "POLL-1")
def test_a_life_from_initialize_to_stop_is_told_in_order(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> None:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        await stage.until("00:10:00")
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        await scheduler.stop()

    on_stage(scenario)

    assert names(caplog) == [
        "SchedulerInitializationStarted", "TasksResolved", "SchedulerInitializationCompleted",
        "PollingStarted", "TaskRunStarted", "TaskRunCompleted",
        "SchedulerReinitializationStarted", "TasksResolved", "SchedulerReinitializationCompleted",
        "SchedulerStopRequested", "PollingStopRequested", "PollingStopped", "SchedulerStopped",
    ]  # fmt: skip


@clause("EVENT-1", "TASK-1")
def test_lines_tell_the_state_of_scheduler_task_and_polling(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(stage: Stage) -> None:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *", fails=1)])
        await stage.until("00:10:00")
        await scheduler.initialize([stage.task("a", "0 * * * *")])
        await scheduler.stop()

    on_stage(scenario)

    fields = [record.fields for record in caplog.records]  # type: ignore[attr-defined]
    assert [(one["event"], one["state"]) for one in fields if "state" in one] == [
        ("SchedulerInitializationStarted", "Initializing"),
        ("SchedulerInitializationCompleted", "Running"),
        ("PollingStarted", "Active"),
        ("TaskRunStarted", "Running"),
        ("TaskRunFailed", "AwaitingRetry"),
        ("TaskRetryStarted", "Running"),
        ("TaskRunCompleted", "AwaitingRun"),
        ("SchedulerReinitializationStarted", "Reinitializing"),
        ("SchedulerReinitializationCompleted", "Running"),
        ("SchedulerStopRequested", "Stopping"),
        ("PollingStopRequested", "Stopping"),
        ("PollingStopped", "Inactive"),
        ("SchedulerStopped", "Stopped"),
    ]


@clause("EVENT-1")
def test_a_retry_that_an_occurrence_goes_before_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> None:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", fails=2, retry=40 * SECOND)])
        await stage.until("00:00:59")
        stage.clock.offset_ms += 30_000
        await stage.until("00:01:35")
        await scheduler.stop()

    on_stage(scenario)

    told = [name for name in names(caplog) if name.startswith("Task")]
    assert told == [
        "TasksResolved", "TaskRunStarted", "TaskRunFailed", "TaskRetryStarted", "TaskRunFailed",
        "TaskRetryPreempted", "TaskRunStarted", "TaskRunCompleted",
    ]  # fmt: skip


@clause("EVENT-1")
def test_a_list_that_is_refused_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> None:
        scheduler = stage.scheduler()
        with pytest.raises(CronExpressionInvalidError):
            await scheduler.initialize([stage.task("a", "@daily")])
        stage.faults.append("open")
        with pytest.raises(ScheduleTaskError):
            await scheduler.initialize([stage.task("a")])

    on_stage(scenario)

    assert names(caplog) == [
        "SchedulerInitializationFailed", "SchedulerInitializationStarted",
        "SchedulerInitializationFailed",
    ]  # fmt: skip


@clause("EVENT-1")
def test_a_line_is_one_line_with_its_facts_as_fields(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> None:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a\nb", "0 * * * *", fails=1)])
        await stage.until("00:00:05")
        await scheduler.stop()

    on_stage(scenario)

    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    (failed,) = [line for line in lines if line["event"] == "TaskRunFailed"]
    assert failed["task"] == "a\nb"
    assert failed["error"] == "ValueError: no"
    assert failed["pendingRetryUntil"] == "2026-03-01T00:00:30.000Z"
    assert "ValueError" in failed["traceback"]
    assert all(len(record.getMessage().splitlines()) == 1 for record in caplog.records)


@clause("POLL-1", "REG-9")
def test_nothing_is_polled_while_there_is_no_task(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([])
        assert "PollingStarted" not in names(caplog)
        await scheduler.initialize([stage.task("a", takes=100)])
        await stage.until("00:00:30")
        await scheduler.initialize([])
        assert "PollingStopped" not in names(caplog)  # a run still goes on
        await stage.until("00:02:00")
        assert "PollingStopped" in names(caplog)
        await scheduler.initialize([stage.task("b", "3 * * * *")])
        await stage.until("00:03:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:03:00 b"]
    polling = [name for name in names(caplog) if name in ("PollingStarted", "PollingStopped")]
    assert polling == ["PollingStarted", "PollingStopped"] * 2


@clause("EVENT-2")
def test_how_late_a_run_was_started_is_measured() -> None:
    async def scenario(stage: Stage) -> tuple[int, int]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1-3 * * * *")])
        await stage.until("00:01:59")
        stage.faults += ["write before"] * 3  # 100 + 200 + 400 ms
        await stage.until("00:03:30")
        await scheduler.stop()
        return stage.telemetry.scheduling.count, stage.telemetry.scheduling.max_ms

    assert on_stage(scenario) == (3, 700)


@clause("EVENT-2")
def test_a_start_that_is_more_than_a_minute_late_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(stage: Stage) -> int:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 * * * *")])
        stage.gate = asyncio.Event()
        await stage.until("00:01:00")
        await stage.until("00:02:30")
        stage.gate.set()
        await stage.until("00:03:00")
        await scheduler.stop()
        return stage.telemetry.late

    assert on_stage(scenario) == 1
    (line,) = [r for r in caplog.records if r.getMessage().startswith("SchedulingLatencyExceeded")]
    assert line.fields["latency_ms"] == 90_000  # type: ignore[attr-defined]


@clause("EVENT-2")
def test_neither_what_was_missed_nor_what_had_to_wait_for_its_own_run_counts_as_late() -> None:
    async def scenario(stage: Stage) -> int:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0-2 * * * *", takes=300)])
        await stage.until("00:05:30")
        await scheduler.stop()
        await stage.until("03:30:00")
        await scheduler.initialize([stage.task("a", "0-2 * * * *", takes=300)])
        await stage.until("03:30:10")
        await scheduler.stop()
        assert len(stage.notes) == 3
        return stage.telemetry.late

    assert on_stage(scenario) == 0


@clause("EVENT-3")
def test_how_late_a_run_that_was_cut_off_is_restarted_is_measured(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(stage: Stage) -> tuple[int, int, int]:
        await stage.scheduler().initialize([stage.task("a", "0 0 * * *", takes=3600)])
        await stage.until("00:10:00")
        await stage.crash()
        second = stage.scheduler()
        stage.faults += ["write before"] * 10
        await second.initialize([stage.task("a", "0 0 * * *")])
        await stage.until("00:20:00")
        await second.stop()
        telemetry = stage.telemetry
        return telemetry.recovery.count, telemetry.late_recoveries, telemetry.interrupted

    assert on_stage(scenario, violations={"L1": 1}) == (1, 1, 1)
    assert "RecoveryLatencyExceeded" in names(caplog)
    (line,) = [r for r in caplog.records if r.getMessage().startswith("TaskRunInterrupted")]
    assert line.fields["task"] == "a"  # type: ignore[attr-defined]
