"""Tasks over time: when they run, what a failure does, and what a change of the clocks does."""

import asyncio
from datetime import timedelta

import pytest

import gnomon
from gnomon.apps.declarative.callback import RunContext
from tests.apps.declarative.stage import SECOND, Stage, on_stage
from tests.clauses import clause


@clause("TASK-2")
def test_a_task_runs_at_the_beginning_of_each_minute_that_matches() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1,3-4 0 * * *")])
        await stage.until("01:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:01:00 a", "00:03:00 a", "00:04:00 a"]


@clause("TASK-2")
def test_day_and_weekday_are_alternatives_when_both_are_restricted() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 12 4 * 1")])  # the 4th, and Mondays
        days: list[str] = []
        for day in range(1, 5):
            await stage.until(f"2026-03-{day:02d}T13:00:00")
            days += [f"{day:02d} {note}" for note in stage.notes[len(days) :]]
        await scheduler.stop()
        return days

    assert on_stage(scenario) == ["02 12:00:00 a", "04 12:00:00 a"]


@clause("TASK-2", "REG-8")
def test_a_recurrence_may_come_between_the_minutes() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", gnomon.every("25s"))])
        await stage.until("00:01:20")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario, begin="2026-03-01T00:00:03") == [
        "00:00:03 a", "00:00:25 a", "00:00:50 a", "00:01:15 a",
    ]  # fmt: skip


@clause("TASK-2", "REG-8")
def test_a_recurrence_that_has_come_to_its_end_is_not_run_any_more() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", gnomon.once("2026-03-01T00:02:00Z"))])
        await stage.until("02:00:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:02:00 a"]


@clause("TASK-3", "TASK-4")
def test_a_run_that_outlasts_occurrences_is_followed_by_one_run_at_once() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=200)])
        await stage.until("00:06:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:03:20 a"]


@clause("TASK-3", "TASK-4")
def test_a_run_that_fails_after_occurrences_came_is_followed_at_once_too() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [stage.task("a", "0-2 * * * *", takes=90, fails=1, retry=timedelta(hours=1))]
        )
        await stage.until("00:04:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:30 a", "00:03:00 a"]


@clause("TASK-1", "TASK-6")
def test_the_record_of_a_task_follows_it_through_its_states() -> None:
    async def scenario(stage: Stage) -> list[list[object]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *", takes=20, fails=1)])

        def short(value: object) -> object:
            return value[11:19] if isinstance(value, str) and value.endswith("Z") else value

        fields = "state", "lastAttemptAt", "lastSuccessAt", "pendingRetryUntil"
        found = []
        for time in ("00:00:10", "00:00:30", "00:01:00", "00:01:20"):
            await stage.until(time)
            record = await stage.record("a")
            found.append([short(record[field]) for field in fields])
        await scheduler.stop()
        return found

    assert on_stage(scenario) == [
        ["Running", "00:00:00", None, None],
        ["AwaitingRetry", "00:00:00", None, "00:00:50"],
        ["Running", "00:00:50", None, None],
        ["AwaitingRun", "00:00:50", "00:01:10", None],
    ]


@clause("RETRY-1")
def test_a_failed_run_is_tried_again_until_it_succeeds() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *", takes=5, fails=3)])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:00:35 a", "00:01:10 a", "00:01:45 a"]


@clause("RETRY-1")
def test_each_task_has_its_own_delay() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [
                stage.task("a", "0 * * * *", fails=1, retry=10 * SECOND),
                stage.task("b", "0 * * * *", fails=1, retry=20 * SECOND),
            ]
        )
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes[2:]

    assert on_stage(scenario) == ["00:00:10 a", "00:00:20 b"]


@clause("RETRY-2")
def test_an_occurrence_goes_before_a_pending_retry_which_is_forgotten() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [stage.task("a", "0,1 * * * *", fails=1, retry=timedelta(minutes=3))]
        )
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a"]


@clause("RETRY-2")
def test_an_occurrence_and_a_retry_at_the_same_instant_are_one_run() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize(
            [stage.task("a", "0,1 * * * *", fails=1, retry=timedelta(minutes=1))]
        )
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a"]


@clause("RETRY-3")
def test_a_delay_of_nothing_is_a_second() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 * * * *", fails=2, retry=timedelta(0))])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:00:01 a", "00:00:02 a"]


@clause("RETRY-1", "REG-6")
def test_a_delay_without_end_leaves_the_occurrences_alone() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], object]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0,2 * * * *", fails=9, retry=timedelta.max)])
        await stage.until("00:30:00")
        await scheduler.stop()
        return stage.notes, (await stage.record("a"))["pendingRetryUntil"]

    assert on_stage(scenario) == (["00:00:00 a", "00:02:00 a"], "9999-12-31T23:59:59.999Z")


@clause("CALL-2")
def test_the_key_of_a_period_is_the_same_for_each_try_and_another_for_the_next() -> None:
    async def scenario(stage: Stage) -> list[RunContext]:
        async def callback(context: RunContext) -> None:
            stage.contexts.append(context)
            if len(stage.contexts) == 1:
                raise ValueError("no")

        scheduler = stage.scheduler()
        await scheduler.initialize([("a", "* * * * *", callback, SECOND)])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.contexts

    first, again, later = on_stage(scenario)
    assert [first.attempt, again.attempt, later.attempt] == [1, 2, 1]
    assert [first.reason, again.reason, later.reason] == ["due", "retry", "due"]
    assert first.key == again.key != later.key
    assert (first.task, first.period) == ("a", "2026-03-01T00:00:00Z")
    assert later.nominal_at.isoformat() == "2026-03-01T00:01:00+00:00"


@clause("TASK-5")
def test_a_local_time_that_is_skipped_is_not_run_that_day() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler(zone="Europe/Berlin")
        await scheduler.initialize(
            [stage.task("night", "30 2 * * *"), stage.task("h", "0 * * * *")]
        )
        await stage.until("2027-03-29T00:45:00")
        await scheduler.stop()
        return stage.notes

    notes = on_stage(scenario, begin="2027-03-27T12:10:00")
    # 28 March has no 02:30 in Berlin; on the 29th it is 00:30 UTC.
    assert [note for note in notes if "night" in note] == ["00:30:00 night"]
    assert len([note for note in notes if note.endswith(" h")]) == 36


@clause("TASK-5")
def test_a_local_time_that_is_repeated_is_run_the_first_time_only() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler(zone="Europe/Berlin")
        await scheduler.initialize(
            [stage.task("night", "30 2 * * *"), stage.task("quarter", "0,15,30,45 2 * * *")]
        )
        await stage.until("2027-10-31T06:00:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario, begin="2027-10-30T12:00:00") == [
        "00:00:00 quarter", "00:15:00 quarter", "00:30:00 night", "00:30:00 quarter",
        "00:45:00 quarter",
    ]  # fmt: skip


@clause("TASK-5")
def test_a_shift_of_half_an_hour_is_a_shift_as_well() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler(zone="Australia/Lord_Howe")
        await scheduler.initialize([stage.task("night", "45 1 * * *")])
        await stage.until("2027-04-03T20:00:00")
        await scheduler.stop()
        return stage.notes

    # On 4 April 2027 the clocks go from 02:00 to 01:30: 01:45 comes at 14:45Z and at 15:15Z.
    assert on_stage(scenario, begin="2027-04-02T20:00:00") == ["14:45:00 night"]


@clause("TASK-5", "INIT-2")
def test_a_repeated_minute_that_is_no_occurrence_is_no_reason_to_start_at_once() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler(zone="Europe/Berlin")
        await scheduler.initialize([stage.task("night", "30 2 * * *")])
        await stage.until("2027-10-31T06:00:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario, begin="2027-10-31T01:30:10") == []


@clause("CALL-5", "POLL-3")
def test_what_is_due_together_is_written_and_started_together() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task(name, "1 * * * *", takes=10) for name in "abc"])
        await stage.until("00:01:05")
        story = await stage.story()
        await scheduler.stop()
        return stage.notes, story

    notes, story = on_stage(scenario)
    assert sorted(notes) == ["00:01:00 a", "00:01:00 b", "00:01:00 c"]
    assert story[2:] == ["RunStart a", "RunStart b", "RunStart c"]


@clause("CALL-5")
@pytest.mark.parametrize("count", [300])
def test_a_slow_task_delays_no_other_however_many_there_are(count: int) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        slow = [stage.task(f"slow{number}", "0 * * * *", takes=600) for number in range(count)]
        await scheduler.initialize([*slow, stage.task("quick", "5 * * * *")])
        await stage.until("00:06:00")
        await scheduler.stop()
        return stage.notes

    notes = on_stage(scenario)
    assert len(notes) == count + 1
    assert notes[-1] == "00:05:00 quick"


@clause("POLL-2")
def test_no_rest_is_longer_than_half_a_minute_and_none_is_fixed() -> None:
    async def scenario(stage: Stage) -> list[int]:
        scheduler = stage.scheduler(monitor=False)
        await scheduler.initialize([stage.task("a", "2 * * * *")])
        await stage.until("00:02:30")
        await scheduler.stop()
        return stage.clock.sleeps

    rests = on_stage(scenario, begin="2026-03-01T00:00:45")
    assert rests[:3] == [30_000, 30_000, 15_000]
    assert max(rests) == 30_000


@clause("POLL-1")
def test_an_end_that_is_near_the_next_occurrence_does_not_hide_it() -> None:
    async def scenario(stage: Stage) -> list[str]:
        async def callback() -> None:
            stage.note("a")
            await asyncio.sleep(60)

        scheduler = stage.scheduler()
        await scheduler.initialize([("a", "* * * * *", callback, SECOND)])
        await stage.until("00:03:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a", "00:02:00 a", "00:03:00 a"]
