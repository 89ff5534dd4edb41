"""
The monitor in a running scheduler: silent while it is right, and not when it is not.

Everywhere else on the stage, too, a violation that a test does not expect fails the test.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from gnomon.apps.declarative import registration, session, task, task_plan
from gnomon.apps.declarative.journal_time import JournalTime
from gnomon.apps.declarative.live_pulses import LivePulses
from gnomon.apps.declarative.task import TaskRecord, TaskState, Why
from gnomon.apps.declarative.task_plan import TaskPlan
from gnomon.ports import Entry, Event
from gnomon.shell.store.journal import SqliteJournalOpener
from tests.apps.declarative.play import Play
from tests.apps.declarative.stage import Stage, on_stage
from tests.apps.declarative.test_own_recurrence import Fragile
from tests.clauses import clause

RICH = "iiiisscffwwwt"
PLACES = (
    ("UTC", "2026-03-01T00:00:00"),
    ("Europe/Berlin", "2026-03-28T23:30:00"),
    ("Europe/Berlin", "2026-10-24T22:45:00"),
    ("Australia/Lord_Howe", "2026-04-04T14:00:00"),
)
Patch = pytest.MonkeyPatch


def lines(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, object]]:
    """The facts of each line about an event."""
    return [
        cast(dict[str, object], record.fields)  # type: ignore[attr-defined]
        for record in caplog.records
        if record.getMessage().startswith(f"{event}:")
    ]


@clause("LIVE-3", "LIVE-4")
@pytest.mark.parametrize("reinitialize", ["reconcile", "reject"])
@pytest.mark.parametrize("seed", range(40))
def test_the_monitor_is_silent_in_a_random_history(
    seed: int, reinitialize: str, caplog: pytest.LogCaptureFixture
) -> None:
    zone, begin = PLACES[seed % len(PLACES)]
    caplog.set_level(logging.ERROR, "gnomon.scheduler")

    async def scenario(stage: Stage) -> int:
        dice = random.Random(f"live {seed} {reinitialize}")
        play = Play(stage, dice, reinitialize, letters=RICH, zone=zone)
        for _ in range(40):
            await play.act()
        await play.finish()
        return len(stage.seen)

    assert on_stage(scenario, begin=begin) > 5
    assert not lines(caplog, "MonitorFailed")


async def life(stage: Stage) -> None:
    """A day in short: a failure, a slow run, a crash in a run, an outage, a step of the clock."""
    tasks = [
        stage.task("minutely"),
        stage.task("failing", "0,5 * * * *", fails=1),
        stage.task("slow", "0 * * * *", takes=400),
    ]
    first = stage.scheduler()
    await first.initialize(tasks)
    await stage.until("00:04:30")
    await stage.crash()
    await stage.until("00:20:10")
    second = stage.scheduler()
    await second.initialize(tasks)
    await stage.until("00:24:30")
    stage.set_clock("00:23:00")
    await stage.until("00:26:30")
    stage.set_clock("01:00:00")
    await stage.until("01:03:30")
    await second.initialize([stage.task("slow", "4 * * * *", takes=400)])
    await stage.until("01:04:30")
    await second.stop()


@clause("LIVE-1")
def test_the_monitor_is_silent_in_a_life_without_mutation() -> None:
    on_stage(life)


def forget_dues(patch: Patch) -> None:
    popped = task_plan._popped
    calls = [0]

    def lossy(heap: list[tuple[int, str]], through: int) -> list[str]:
        calls[0] += 1
        found = list(popped(heap, through))
        return found[1:] if calls[0] > 6 else found

    patch.setattr(task_plan, "_popped", lossy)


def start_without_reason(patch: Patch) -> None:
    calls = [0]

    def eager(record: TaskRecord, due: int | None, *, now: JournalTime) -> Why | None:
        calls[0] += 1
        why = task.reason_to_start(record, due, now=now)
        return Why.RETRY if calls[0] == 5 else why

    patch.setattr(task_plan, "reason_to_start", eager)


def drop_retries(patch: Patch) -> None:
    patch.setattr(task, "failed", task.succeeded)


def hasten_retries(patch: Patch) -> None:
    failed = task.failed

    def hasty(record: TaskRecord, *, now: JournalTime) -> TaskRecord:
        after = failed(record, now=now)
        assert after.retry_t_ms is not None
        return replace(after, retry_t_ms=after.retry_t_ms - 1)

    patch.setattr(task, "failed", hasty)


def forget_what_was_cut_off(patch: Patch) -> None:
    def forgetful(record: TaskRecord, *, now: JournalTime) -> TaskRecord:
        return replace(record, state=TaskState.AWAITING_RUN)

    patch.setattr(registration, "crashed", forgetful)


def make_up_for_every_occurrence(patch: Patch) -> None:
    started = task.started

    def frugal(record: TaskRecord, *, nominal: int, now: JournalTime) -> TaskRecord:
        after = started(record, nominal=nominal, now=now)
        return replace(after, settled_ms=min(record.settled_ms + 60_000, now.through_ms))

    patch.setattr(task, "started", frugal)


def sleep_for_ever(patch: Patch) -> None:
    patch.setattr(session, "REST_MAX_MS", 10**9)
    patch.setattr(TaskPlan, "rest_ms", lambda self, now: None)


def stop_without_waiting(patch: Patch) -> None:
    ask = session.Session._ask_to_stop

    def hasty(self: session.Session, entries: list[Entry], now: JournalTime) -> int:
        call = ask(self, entries, now)
        if call:
            entries.append(Entry(Event.STOP_END, now.t_ms, now.wall_ms, call=call))
        return call

    patch.setattr(session.Session, "_ask_to_stop", hasty)


MUTANTS: list[tuple[Callable[[Patch], None], str]] = [
    (forget_dues, "L1"),
    (start_without_reason, "S1"),
    (drop_retries, "L1"),
    (hasten_retries, "S1"),
    (forget_what_was_cut_off, "L1"),
    (make_up_for_every_occurrence, "S1"),
    (sleep_for_ever, "L1"),
    (stop_without_waiting, "S3"),
]


@clause("LIVE-1", "LIVE-2")
@pytest.mark.parametrize(
    ("mutate", "axiom"), MUTANTS, ids=lambda one: getattr(one, "__name__", one)
)
def test_the_monitor_speaks_up_for_a_mutant(
    mutate: Callable[[Patch], None], axiom: str, monkeypatch: Patch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    async def scenario(stage: Stage) -> set[str]:
        mutate(monkeypatch)
        try:
            await life(stage)
        finally:
            monkeypatch.undo()
        found = set(stage.telemetry.violations)
        stage.telemetry.violations.clear()
        return found

    assert axiom in on_stage(scenario)
    assert axiom in {line["axiom"] for line in lines(caplog, "AxiomViolated")}
    assert not lines(caplog, "MonitorFailed")


@clause("LIVE-1")
def test_a_violation_is_a_line_and_a_counter_and_changes_nothing(
    monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(stage: Stage) -> list[str]:
        hasten_retries(monkeypatch)
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "0 0 * * *", fails=1)])
        await stage.until("00:01:00")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario, violations={"S1": 1}) == ["00:00:00 a", "00:00:29.999 a"]
    (line,) = lines(caplog, "AxiomViolated")
    assert line == {
        "event": "AxiomViolated", "axiom": "S1", "task": "a", "entry": 5, "position": 9,
        "explanation": "'a' started and nothing asked for it: no due, retry or interrupted run "
        "was pending",
    }  # fmt: skip


@clause("LIVE-1")
def test_many_violations_at_once_are_ten_lines_and_a_sum(
    monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(stage: Stage) -> None:
        sleep_for_ever(monkeypatch)
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task(f"t{i}", "1 0 * * *") for i in range(12)])
        await stage.until("00:03:00")
        await scheduler.stop()

    on_stage(scenario, violations={"L1": 12})
    found = [line["explanation"] for line in lines(caplog, "AxiomViolated")]
    assert len(found) == 11
    assert found[-1] == "2 more of the same"


@clause("LIVE-2")
def test_the_write_of_a_start_that_hangs_is_noticed_while_it_hangs() -> None:
    async def scenario(stage: Stage) -> list[int]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1,2 0 * * *")])
        await stage.until("00:00:45")
        stage.gate = asyncio.Event()
        found = []
        for time in ("00:02:00", "00:03:00", "00:04:00"):
            await stage.until(time)
            found.append(stage.telemetry.violations["L1"])
        stage.gate.set()
        await stage.until("00:05:00")
        await scheduler.stop()
        return [*found, stage.telemetry.starts]

    # When it is over, the run counts from 00:01 on, and the one for 00:02 had to wait for it.
    assert on_stage(scenario, violations={"L1": 1}) == [0, 1, 1, 2]


@clause("LIVE-3")
def test_a_journal_that_has_forgotten_its_beginning_gives_no_alarm() -> None:
    async def scenario(stage: Stage) -> list[str]:
        stage.opener.sqlite = SqliteJournalOpener(":memory:", threaded=False, kept=1)
        tasks = [
            stage.task("cut", "0 0 * * *", takes=900),
            stage.task("missed", "5 0 * * *"),
            stage.task("again", "0 0 * * *", fails=1, retry=timedelta(minutes=20)),
        ]
        await stage.scheduler().initialize(tasks)
        await stage.until("00:02:00")
        await stage.crash()
        await stage.until("00:08:00")
        second = stage.scheduler()
        await second.initialize(tasks)
        await stage.until("00:30:00")
        await second.stop()
        return stage.notes[2:]

    assert on_stage(scenario) == ["00:08:00 cut", "00:08:00 missed", "00:20:00 again"]


@clause("LIVE-5")
def test_a_monitor_that_fails_says_so_once_and_nothing_else_is_touched(
    monkeypatch: Patch, caplog: pytest.LogCaptureFixture
) -> None:
    def stumble(self: LivePulses, t: int, through_ms: int) -> None:
        raise ZeroDivisionError("judge")

    async def scenario(stage: Stage) -> list[str]:
        monkeypatch.setattr(LivePulses, "until", stumble)
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a")])
        await stage.until("00:01:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a"]
    (line,) = lines(caplog, "MonitorFailed")
    assert line["error"] == "judge"


@clause("LIVE-6")
def test_a_process_that_was_frozen_is_not_late() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", takes=30), stage.task("b", "5 0 * * *")])
        await stage.until("00:00:29")
        loop = asyncio.get_running_loop()
        loop.selector.passed += 1200  # type: ignore[attr-defined]
        await stage.until("00:21:10")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario)[1:3] == ["00:20:29 a", "00:20:29 b"]


@clause("LIVE-6", "LIVE-2")
@pytest.mark.parametrize(("frozen_s", "told_s"), [(0, 75), (30, 60), (36, 60), (1200, 60)])
def test_what_was_late_before_a_freeze_is_told_once_a_minute_has_passed_beside_it(
    frozen_s: int, told_s: int, monkeypatch: Patch
) -> None:
    async def scenario(stage: Stage) -> list[int]:
        sleep_for_ever(monkeypatch)
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", "1 0 * * *")])
        await stage.until("00:01:15")
        loop, found = asyncio.get_running_loop(), []
        loop.selector.passed += frozen_s  # type: ignore[attr-defined]
        begin_s = 75 + frozen_s
        for second in range(begin_s, begin_s + 100, 5):
            await stage.until(f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}")
            found.append(stage.telemetry.violations["L1"])
        monkeypatch.undo()
        await scheduler.stop()
        stage.telemetry.violations.clear()
        return found

    assert on_stage(scenario).index(1) * 5 == told_s


@clause("LIVE-7")
def test_nothing_is_watched_when_that_is_not_wanted(monkeypatch: Patch) -> None:
    async def scenario(stage: Stage) -> list[int]:
        sleep_for_ever(monkeypatch)
        scheduler = stage.scheduler(monitor=False)
        await scheduler.initialize([stage.task("a", "1 0 * * *")])
        await stage.until("00:10:00")
        await scheduler.stop()
        return stage.clock.sleeps

    assert on_stage(scenario)[:1] == [10**9]


@clause("LIVE-7")
def test_what_runs_when_is_the_same_with_and_without_the_monitor() -> None:
    def story(*, monitor: bool) -> list[str]:
        async def scenario(stage: Stage) -> list[str]:
            scheduler = stage.scheduler(monitor=monitor)
            tasks = [stage.task("a", fails=2, takes=70), stage.task("b", "3 * * * *")]
            await scheduler.initialize(tasks)
            await stage.until("00:10:00")
            await scheduler.stop()
            return [*stage.notes, *await stage.story()]

        return on_stage(scenario)

    assert story(monitor=True) == story(monitor=False)


@clause("LIVE-5")
def test_a_task_whose_recurrence_cannot_say_when_it_occurs_is_not_judged() -> None:
    async def scenario(stage: Stage) -> list[str]:
        scheduler = stage.scheduler()
        fragile = Fragile(1_772_323_200 + 60)
        await scheduler.initialize([stage.task("a", fragile), stage.task("b", "1 0 * * *")])
        await stage.until("00:09:30")
        await scheduler.stop()
        return stage.notes

    assert on_stage(scenario) == ["00:00:00 a", "00:01:00 a", "00:01:00 b"]
