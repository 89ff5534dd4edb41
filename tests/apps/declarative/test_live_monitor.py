"""
The monitor in a running scheduler: silent while it is right, and not when it is not.

Everywhere else on the stage, too, a violation that a test does not expect fails the test.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest

from gnomon.apps.declarative import agenda, machine, override, session
from gnomon.apps.declarative.agenda import Agenda
from gnomon.apps.declarative.machine import Why
from gnomon.apps.declarative.moment import Moment
from gnomon.apps.declarative.record import TaskRecord, TaskState
from tests.apps.declarative.play import Play
from tests.apps.declarative.stage import Stage, on_stage
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


@clause("LIVE-3", "LIVE-4", "LIVE-5")
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
    popped = agenda._popped
    calls = [0]

    def lossy(heap: list[tuple[int, str]], through: int) -> list[str]:
        calls[0] += 1
        found = list(popped(heap, through))
        return found[1:] if calls[0] > 6 else found

    patch.setattr(agenda, "_popped", lossy)


def start_without_reason(patch: Patch) -> None:
    calls = [0]

    def eager(record: TaskRecord, due: int | None, *, now: Moment) -> Why | None:
        calls[0] += 1
        why = machine.reason_to_start(record, due, now=now)
        return Why.RETRY if calls[0] == 5 else why

    patch.setattr(agenda, "reason_to_start", eager)


def drop_retries(patch: Patch) -> None:
    patch.setattr(machine, "failed", machine.succeeded)


def hasten_retries(patch: Patch) -> None:
    failed = machine.failed

    def hasty(record: TaskRecord, *, now: Moment) -> TaskRecord:
        after = failed(record, now=now)
        assert after.retry_t_ms is not None
        return replace(after, retry_t_ms=after.retry_t_ms - 1)

    patch.setattr(machine, "failed", hasty)


def forget_what_was_cut_off(patch: Patch) -> None:
    def forgetful(record: TaskRecord, *, now: Moment) -> TaskRecord:
        return replace(record, state=TaskState.AWAITING_RUN)

    patch.setattr(override, "crashed", forgetful)


def make_up_for_every_occurrence(patch: Patch) -> None:
    started = machine.started

    def frugal(record: TaskRecord, *, nominal: int, now: Moment) -> TaskRecord:
        after = started(record, nominal=nominal, now=now)
        return replace(after, settled_ms=min(record.settled_ms + 60_000, now.through_ms))

    patch.setattr(machine, "started", frugal)


def sleep_for_ever(patch: Patch) -> None:
    patch.setattr(session, "REST_MAX_MS", 10**9)
    patch.setattr(Agenda, "rest_ms", lambda self, now: None)


def stop_without_waiting(patch: Patch) -> None:
    ask = session.Session._ask_to_stop

    def hasty(self: session.Session, entries: list[agenda.Entry], now: Moment) -> int:
        call = ask(self, entries, now)
        if call:
            entries.append(agenda.Entry(agenda.Event.STOP_END, now.t_ms, now.wall_ms, call=call))
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
