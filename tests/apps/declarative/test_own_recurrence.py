"""Recurrences of the user's own, observers, and the zone of the host: what others may do to us."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import pytest
import tzlocal

import gnomon
from gnomon.errors import CronCalculationError, SchedulerAlreadyActiveError
from gnomon.ports import Entry
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause

START = 1_772_323_200


@dataclass(frozen=True)
class Fragile(gnomon.Recurrence):
    """Every minute, but it cannot see beyond an instant."""

    until: int

    @property
    def next_epoch(self) -> Callable[[int], int | None]:
        return self._next

    def _next(self, after: int) -> int | None:
        if after >= self.until:
            raise ArithmeticError("too far")
        return after - after % 60 + 60

    def latest_epoch(self, at: int) -> int | None:
        return at - at % 60

    def iterate_epochs(self, after: int) -> Iterator[int]:
        return iter(())

    def describe(self) -> str:
        return "Every minute, for a while"


@clause("REG-8", "ERR-6", "ERR-7")
def test_a_recurrence_that_cannot_say_when_it_occurs_is_refused_with_its_reason() -> None:
    async def scenario(stage: Stage) -> CronCalculationError:
        scheduler = stage.scheduler()
        with pytest.raises(CronCalculationError) as refusal:
            await scheduler.initialize([stage.task("a"), stage.task("b", Fragile(0))])
        await stage.until("00:05:00")
        assert (stage.notes, await stage.records()) == ([], [])
        return refusal.value

    error = on_stage(scenario)
    assert str(error) == "Failed to calculate next occurrence: too far"
    assert isinstance(error.__cause__, ArithmeticError)
    assert error.details == {
        "expression": "Fragile(until=0)",
        "currentTime": "2026-03-01T00:00:00Z",
        "cause": error.__cause__,
    }


@clause("REG-8")
def test_a_recurrence_that_fails_later_stops_its_own_task_and_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a"), stage.task("b", Fragile(START + 60))])
        await stage.until("00:03:30")
        await scheduler.stop()
        return sorted(stage.notes)

    assert on_stage(scenario) == [
        "00:00:00 a", "00:00:00 b", "00:01:00 a", "00:01:00 b", "00:02:00 a", "00:03:00 a",
    ]  # fmt: skip
    assert any("CronCalculationFailed" in record.getMessage() for record in caplog.records)


@clause("REG-7")
def test_a_recurrence_that_fails_leaves_a_running_scheduler_as_it_is() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        with pytest.raises(CronCalculationError):
            await scheduler.initialize([stage.task("b", Fragile(0))])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a"]


@clause("STORE-1")
def test_an_observer_that_fails_keeps_nothing_from_happening() -> None:
    async def scenario(stage: Stage) -> list[str]:
        def observe(entries: Sequence[Entry]) -> None:
            raise ValueError("I do not like this")

        scheduler = gnomon.Scheduler(
            zone="UTC", clock=stage.clock, journal=stage.opener, observe=observe, threads=0
        )
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a"]


@clause("INIT-7")
def test_a_second_list_is_rejected_also_when_that_cannot_be_written() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler(reinitialize="reject")
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:00:30")
        stage.faults.append("write before")
        with pytest.raises(SchedulerAlreadyActiveError):
            await scheduler.initialize([stage.task("b")])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a"]


@clause("REG-5", "TASK-2")
def test_the_zone_is_that_of_the_host_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler(zone=None)
        await scheduler.initialize([stage.task("a", "46 5 * * *"), stage.task("b", "1 0 * * *")])
        await stage.until("00:02:00")
        await scheduler.stop()
        return stage.notes

    monkeypatch.setenv("TZ", "Asia/Kathmandu")  # 05:45 ahead of UTC
    tzlocal.reload_localzone()
    try:
        assert on_stage(scenario) == ["00:01:00 a"]
    finally:
        monkeypatch.undo()
        tzlocal.reload_localzone()
