"""
APScheduler 3, recorded: `python -m benchmarks.theory.recorders.apscheduler SCENARIO TRACE`.

The real scheduler as it comes: the SQLAlchemy job store on SQLite, the cron trigger, the thread
pool, and its own defaults. The clock that its modules read is replaced by one that jumps to the
next wake-up once all callbacks have returned. A crash is a real one: the process ends within the
callback, and another one takes over.

The callback itself writes down that it was called and that it returned; what APScheduler says about
itself is not asked.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from threading import Event, Semaphore
from typing import NamedTuple
from zoneinfo import ZoneInfo

import apscheduler.executors.base
import apscheduler.schedulers.base
from apscheduler.events import (
    EVENT_JOB_ERROR,
    EVENT_JOB_EXECUTED,
    EVENT_JOB_MISSED,
    EVENT_JOB_SUBMITTED,
)
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.base import BaseScheduler
from apscheduler.triggers.cron import CronTrigger

__all__ = ["SCENARIOS", "Scenario"]

_UTC = timezone.utc  # noqa: UP017 - the environments of peers may be older
_RUN_TIME = timedelta(seconds=5)
_KILLED = 9
_PATIENCE_S = 30


class Scenario(NamedTuple):
    """One task, from when to when, and the start at which the process dies."""

    cron: str
    zone: str
    starts_at: str
    ends_at: str
    dies_at_start: int = 0
    comes_back_after: timedelta = timedelta(0)


SCENARIOS = {
    "crash": Scenario(
        "0 2 * * *", "UTC", "2026-03-01T01:55:00+00:00", "2026-03-01T03:00:00+00:00",
        dies_at_start=1, comes_back_after=timedelta(seconds=30),
    ),
    "outage": Scenario(
        "0 2 * * *", "UTC", "2026-03-01T01:40:00+00:00", "2026-03-01T03:00:00+00:00",
        dies_at_start=-1, comes_back_after=timedelta(minutes=30),
    ),
    "gap": Scenario(
        "30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00", "2026-03-29T06:00:00+02:00"
    ),
    "fold": Scenario(
        "30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00+02:00", "2026-10-25T06:00:00+01:00"
    ),
}  # fmt: skip


class Clock:
    """The only clock there is; `t` counts milliseconds from the beginning of the scenario."""

    def __init__(self, starts_at: datetime, now: datetime) -> None:
        self.starts_at = starts_at
        self.now = now

    @property
    def t(self) -> int:
        return round((self.now - self.starts_at) / timedelta(milliseconds=1))


class Recorder:
    """Writes events as they happen, and at once, because the process may end at any time."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock

    def say(self, event: str, **fields: object) -> None:
        wall = self._clock.now.astimezone(_UTC).isoformat(timespec="milliseconds")
        line = {"t": self._clock.t, "wall": wall.replace("+00:00", "Z"), "e": event, **fields}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def count(self, event: str) -> int:
        return self._path.read_text(encoding="utf-8").count(f'"{event}"')


class SteppedScheduler(BaseScheduler):  # type: ignore[misc]
    """APScheduler without a loop: its caller says when it looks."""

    def shutdown(self, wait: bool = True) -> None:
        super().shutdown(wait)

    def wakeup(self) -> None:
        pass

    def look(self) -> float | None:
        """Do what is due; the seconds until the next time."""
        seconds: float | None = self._process_jobs()
        return seconds


_present: Callable[[], None] = lambda: None  # noqa: E731 - what the stored job calls


def job() -> None:
    """The stored job; what it does is set anew in every process."""
    _present()


def live(scenario: Scenario, path: Path, store: Path, now: datetime) -> None:
    """One process, from `now` to the end of the scenario or to its death."""
    global _present
    clock = Clock(datetime.fromisoformat(scenario.starts_at), now)
    _replace_clock(clock)
    recorder = Recorder(path, clock)

    looked, ended = Event(), Semaphore(0)

    def callback() -> None:
        looked.wait()  # as if it took longer than the scheduler takes to hand it over
        recorder.say("RunStart", task="backup")
        if recorder.count("RunStart") == scenario.dies_at_start:
            os._exit(_KILLED)
        clock.now += _RUN_TIME
        recorder.say("RunSuccess", task="backup")

    _present = callback
    recorder.say("InitStart", call=now.isoformat(), registrations=[["backup", scenario.cron, 0]])
    scheduler = _started(scenario, store)
    recorder.say("InitSuccess", call=now.isoformat())
    submitted = list[object]()
    scheduler.add_listener(submitted.append, EVENT_JOB_SUBMITTED)
    over = EVENT_JOB_EXECUTED | EVENT_JOB_ERROR | EVENT_JOB_MISSED
    scheduler.add_listener(lambda event: ended.release(), over)
    end = datetime.fromisoformat(scenario.ends_at)
    dies_early = scenario.dies_at_start < 0 and recorder.count("InitStart") == 1
    while clock.now < end:
        looked.clear()
        looked_at = clock.now
        seconds = scheduler.look()
        looked.set()
        while submitted:
            assert ended.acquire(timeout=_PATIENCE_S)
            submitted.pop()
        if dies_early:
            os._exit(_KILLED)
        step = timedelta(minutes=1) if seconds is None else timedelta(seconds=max(seconds, 0.001))
        clock.now = max(clock.now, min(looked_at + step, end))
    recorder.say("StopStart", call="stop")
    scheduler.shutdown()
    recorder.say("StopEnd", call="stop")


def _started(scenario: Scenario, store: Path) -> SteppedScheduler:
    zone = ZoneInfo(scenario.zone)
    scheduler = SteppedScheduler(
        timezone=zone,
        jobstores={"default": SQLAlchemyJobStore(url=f"sqlite:///{store}")},
        executors={"default": ThreadPoolExecutor(1)},
    )
    scheduler.start()
    if scheduler.get_job("backup") is None:
        trigger = CronTrigger.from_crontab(scenario.cron, timezone=zone)
        scheduler.add_job("benchmarks.theory.recorders.apscheduler:job", trigger, id="backup")
    return scheduler


def _replace_clock(clock: Clock) -> None:
    class Present(datetime):
        """A datetime whose present is the scenario's."""

        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return clock.now.astimezone(tz)

    for module in (apscheduler.schedulers.base, apscheduler.executors.base):
        module.datetime = Present


def record(name: str, path: Path) -> None:
    """The whole scenario: processes one after the other, until one stops by itself."""
    scenario = SCENARIOS[name]
    header = {"gnomon_trace": 1, "zone": scenario.zone, "pulses": "derived"}
    path.write_text(json.dumps(header) + "\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        now = datetime.fromisoformat(scenario.starts_at)
        while _process(name, path, Path(directory) / "jobs.sqlite", now) == _KILLED:
            last = json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
            died_at = datetime.fromisoformat(last["wall"].replace("Z", "+00:00"))
            clock = Clock(datetime.fromisoformat(scenario.starts_at), died_at)
            Recorder(path, clock).say("UnexpectedShutdown")
            now = died_at + scenario.comes_back_after


def _process(name: str, path: Path, store: Path, now: datetime) -> int:
    arguments = [name, str(path), str(store), now.isoformat()]
    command = [sys.executable, "-m", "benchmarks.theory.recorders.apscheduler", *arguments]
    return subprocess.run(command, check=False).returncode


def main(name: str, path: str, store: str = "", now: str = "") -> None:
    if store:
        # Under its own name, because that is how the stored job finds the module again.
        from benchmarks.theory.recorders import apscheduler as module

        module.live(SCENARIOS[name], Path(path), Path(store), datetime.fromisoformat(now))
    else:
        record(name, Path(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
