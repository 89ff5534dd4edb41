"""What becomes of the tasks that the store knows, and of a store that cannot be read."""

from datetime import timedelta

import pytest

from gnomon.errors import (
    TaskMissingFieldError,
)
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause


@clause("RECORD-2")
def test_a_damaged_record_stops_the_beginning_and_leaves_the_store_untouched() -> None:
    async def scenario(stage: Stage) -> tuple[list[str], list[str]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b")])
        await stage.until("00:00:30")
        await scheduler.stop()
        journal = await stage.opener.sqlite.open()
        journal.source.database.connection.execute(
            "UPDATE tasks SET record = json_remove(record, '$.state') WHERE name = 'b'"
        )
        before = list(journal.source.database.connection.iterdump())
        with pytest.raises(TaskMissingFieldError) as refusal:
            await scheduler.initialize([stage.task("a")])
        assert (refusal.value.task, refusal.value.details) == ("b", {"field": "state"})
        await stage.until("00:05:00")
        assert list(journal.source.database.connection.iterdump()) == before
        journal.source.database.connection.execute("DELETE FROM tasks WHERE name = 'b'")
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
