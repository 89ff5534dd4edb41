"""Clocks that are set: nothing runs twice, nothing is lost, and delays are what they were."""

from datetime import timedelta

import pytest

from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause


@clause("CLOCK-1", "CLOCK-2")
def test_a_minute_does_not_come_again_when_the_clock_is_set_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b", "3 * * * *")])
        await stage.until("00:05:30")
        stage.set_clock("00:01:30")
        stage.note("set back")
        await stage.until("00:06:30")
        await scheduler.stop()
        assert stage.telemetry.steps_back == 1
        return stage.notes[7:]

    assert on_stage(scenario) == ["00:01:30 set back", "00:06:00 a"]
    (line,) = [one for one in caplog.records if one.getMessage().startswith("ClockSteppedBack")]
    assert line.fields == {  # type: ignore[attr-defined]
        "event": "ClockSteppedBack", "by_ms": 210_000,
        "nothingDueBefore": "2026-03-01T00:05:30.000Z",
    }  # fmt: skip


@clause("CLOCK-1")
def test_a_new_task_is_not_run_in_a_minute_that_has_passed_before() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 9 * * *")])
        await stage.until("00:05:30")
        stage.set_clock("00:03:10")
        await scheduler.initialize([stage.task("b", "3,5,7 * * * *")])
        await stage.until("00:08:00")
        await scheduler.stop()
        return stage.notes

    # 00:03 has passed before, and so has 00:05.
    assert on_stage(scenario) == ["00:07:00 b"]


@clause("CLOCK-1")
def test_what_came_due_during_a_run_is_owed_although_the_clock_was_set_back() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0-3 * * * *", takes=200)])
        await stage.until("00:03:10")
        stage.set_clock("00:00:10")
        await stage.until("00:00:40")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:00:20 a"]


@clause("CLOCK-1", "CLOCK-2")
def test_a_minute_does_not_come_again_after_a_restart_either() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:05:30")
        await stage.crash()
        stage.set_clock("00:02:00")
        second = stage.scheduler()
        await second.initialize([stage.task("a")])
        await stage.until("00:06:30")
        await second.stop()
        assert stage.telemetry.steps_back == 1
        return stage.notes[6:]

    assert on_stage(scenario) == ["00:06:00 a"]


@clause("CLOCK-3")
def test_what_lies_in_a_leap_forward_is_owed_once() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b", "30 0 * * *")])
        await stage.until("00:00:50")
        stage.set_clock("03:00:40")
        await stage.until("03:01:30")
        await scheduler.stop()
        return stage.notes[1:]

    # The scheduler looks at the clock again when its rest is over, 30 s at most.
    notes = on_stage(scenario)
    assert sorted(note.partition(" ")[2] for note in notes) == ["a", "a", "b"]
    assert notes[-1] == "03:01:00 a"


@clause("CLOCK-4")
@pytest.mark.parametrize("end", ["runs on", "stop", "crash"])
def test_a_clock_that_was_a_month_ahead_silences_no_task_once_it_is_right(end: str) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        await stage.until("2026-03-01T00:01:30")
        stage.set_clock("2026-04-01T00:01:40")
        await stage.until("2026-04-01T00:02:30")
        stage.note("right again")
        if end != "runs on":
            await (scheduler.stop() if end == "stop" else stage.crash())
        stage.set_clock("2026-03-01T00:03:10")
        if end != "runs on":
            scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b", "5 * * * *")])
        await stage.until("2026-03-01T00:05:30")
        await scheduler.stop()
        return stage.notes[stage.notes.index("00:02:30 right again") + 1 :]

    assert sorted(on_stage(scenario)) == [
        "00:03:10 a", "00:04:00 a", "00:05:00 a", "00:05:00 b",
    ]  # fmt: skip


@clause("CLOCK-1", "CLOCK-4")
def test_what_was_looked_at_ahead_of_its_time_does_not_come_again() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:01:30")
        stage.set_clock("00:05:00")
        await stage.until("00:06:30")
        stage.set_clock("00:03:30")
        await stage.until("00:04:30")
        await scheduler.stop()
        second = stage.scheduler()
        await second.initialize([stage.task("a")])
        await stage.until("00:08:30")
        await second.stop()
        return stage.notes

    # Set to 00:05:00 at 00:01:30 and to 00:03:30 at 00:06:30; each is seen half a minute later.
    assert on_stage(scenario) == [
        "00:00:00 a", "00:01:00 a", "00:05:30 a", "00:06:00 a", "00:04:00 a", "00:07:00 a",
        "00:08:00 a",
    ]  # fmt: skip


@clause("CLOCK-4")
@pytest.mark.parametrize("restarts", [False, True])
def test_what_came_due_in_a_run_before_the_clock_was_set_back_is_owed(restarts: bool) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        tasks = [stage.task("a", "0 0,9 * * *", takes=200)]
        await scheduler.initialize(tasks)
        stage.set_clock("09:00:10")
        await stage.until("09:01:10")
        stage.set_clock("00:01:20")
        if restarts:
            await scheduler.stop()
            stage.note("stopped")
            scheduler = stage.scheduler()
            await scheduler.initialize(tasks)
        await stage.until("00:09:00")
        await scheduler.stop()
        return stage.notes

    stopped = ["00:03:40 stopped"] if restarts else []
    assert on_stage(scenario) == ["00:00:00 a", *stopped, "00:03:40 a"]


@clause("RETRY-4")
@pytest.mark.parametrize("clock", ["00:00:00", "05:00:00"])
def test_setting_the_clock_neither_hastens_nor_delays_a_retry(clock: str) -> None:
    async def scenario(stage: Stage) -> float:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [stage.task("a", "10 0 * * *", fails=1, retry=timedelta(minutes=10))]
        )
        await stage.until("00:12:00")
        before_ms = stage.clock.monotonic_ms()
        stage.set_clock(clock)
        while len(stage.notes) < 2:
            await stage.clock.sleep_ms(1_000)
        passed_ms = stage.clock.monotonic_ms() - before_ms
        await scheduler.stop()
        return passed_ms / 60_000

    assert round(on_stage(scenario)) == 8


@clause("RETRY-4")
def test_a_retry_waits_no_longer_than_its_delay_after_a_restart_with_the_clock_set_back() -> None:
    async def scenario(stage: Stage) -> list[str]:
        await stage.scheduler().initialize(
            [stage.task("a", "10 9 * * *", fails=1, retry=timedelta(minutes=10))]
        )
        await stage.until("09:12:00")
        await stage.crash()
        stage.set_clock("02:00:00")
        second = stage.scheduler()
        await second.initialize([stage.task("a", "10 9 * * *", retry=timedelta(minutes=10))])
        await stage.until("03:00:00")
        await second.stop()
        return stage.notes[1:]

    assert on_stage(scenario) == ["02:10:00 a"]
