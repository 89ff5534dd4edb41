"""
A stage for schedulers: virtual time, a store that outlives them, and callbacks that take notes.

The day is 2026-03-01 in UTC unless a test begins elsewhere. Time passes only when every task waits.
`crash` does what kill -9 does: nothing of the scheduler runs any more, and the store is as the last
commit left it.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TypeVar

from gnomon import Recurrence
from gnomon.apps.declarative.callback import RunContext
from gnomon.apps.declarative.scheduler import Scheduler
from gnomon.apps.declarative.telemetry import SchedulerTelemetry
from gnomon.errors import StoreError
from gnomon.ports import Change, Entry, Head, Journal
from gnomon.shell.store.journal import SqliteJournalOpener
from tests.shell.virtual_time import VirtualClock, run_virtually

__all__ = ["SECOND", "Registrations", "Stage", "on_stage"]

SECOND = timedelta(seconds=1)
_T = TypeVar("_T")
Registrations = Sequence[
    tuple[str, str | Recurrence, Callable[[], object] | Callable[[RunContext], object], timedelta]
]


class Killed(BaseException):
    """The process is dead: whatever of it still moves gets nothing done."""


class FaultyJournal:
    """A journal whose next calls may fail, before or after they have had their effect."""

    def __init__(self, inner: Journal, stage: "Stage") -> None:
        self._inner = inner
        self._stage = stage
        self._life = stage.lives

    @property
    def owner(self) -> str:
        return "pid 7 on stage"

    async def load(self) -> tuple[Head, dict[str, str]]:
        return await self._pass("load", self._inner.load)

    async def head(self) -> Head:
        return await self._pass("head", self._inner.head)

    async def acquire(self, change: Change, *, after: int) -> int:
        return await self._pass("acquire", lambda: self._inner.acquire(change, after=after))

    async def write(self, change: Change, *, fence: int, number: int) -> None:
        await self._pass("write", lambda: self._inner.write(change, fence=fence, number=number))

    async def entries(self, *, after: int = 0, limit: int = 1000) -> list[Entry]:
        return await self._inner.entries(after=after, limit=limit)

    async def close(self) -> None:
        await self._pass("close", self._inner.close)

    async def _pass(self, name: str, act: Callable[[], Awaitable[_T]]) -> _T:
        stage = self._stage
        if stage.lives != self._life:
            raise Killed
        if stage.gate is not None and name == "write":
            await stage.gate.wait()
        if f"{name} before" in stage.faults:
            stage.faults.remove(f"{name} before")
            raise StoreError("did not answer", where="stage", transient=True)
        result = await act()
        if f"{name} after" in stage.faults:
            stage.faults.remove(f"{name} after")
            raise StoreError("did not answer", where="stage", transient=True)
        return result


class Opener:
    """Opens the one store of the stage, for every scheduler."""

    name = "stage"

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage
        self.sqlite = SqliteJournalOpener(":memory:", threaded=False)

    async def open(self) -> FaultyJournal:
        if "open" in self._stage.faults:
            self._stage.faults.remove("open")
            raise StoreError("cannot be opened", where="stage", hint="check the directory")
        return FaultyJournal(await self.sqlite.open(), self._stage)


class Stage:
    """Where a scheduler is put to the test."""

    def __init__(self, begin: str) -> None:
        self.clock = VirtualClock()
        self.clock.offset_ms = _ms(begin)
        self.opener = Opener(self)
        self.faults: list[str] = []
        self.gate: asyncio.Event | None = None
        """While it is there and not set, writes wait."""
        self.lives = 0
        self.notes: list[str] = []
        self.contexts: list[RunContext] = []
        self.seen: list[Entry] = []
        self.telemetry = SchedulerTelemetry()

    def scheduler(
        self, *, zone: str | None = "UTC", reinitialize: str = "reconcile", threads: int = 0,
        monitor: bool = True, timeout: str | None = None,
    ) -> Scheduler:  # fmt: skip
        """A scheduler on the store of the stage."""
        return Scheduler(
            zone=zone, reinitialize=reinitialize, threads=threads, clock=self.clock,
            journal=self.opener, telemetry=self.telemetry, observe=self.seen.extend,
            monitor=monitor, timeout=timeout,
        )  # fmt: skip

    def task(
        self, name: str, cron: str | Recurrence = "* * * * *", *, takes: float = 0,
        fails: int = 0, retry: timedelta = timedelta(seconds=30),
    ) -> tuple[str, str | Recurrence, Callable[[], object], timedelta]:  # fmt: skip
        """A registration whose callback notes its name and the time, and fails at first."""
        left = [fails]

        async def callback() -> None:
            self.note(name)
            if takes:
                await asyncio.sleep(takes)
            if left[0]:
                left[0] -= 1
                raise ValueError("no")

        return name, cron, callback, retry

    def note(self, text: str) -> None:
        self.notes.append(f"{self.now()} {text}")

    def now(self) -> str:
        at = datetime.fromtimestamp(self.clock.now_ms() / 1000, UTC)
        text = f"{at:%H:%M:%S}"
        return f"{text}.{at.microsecond // 1000:03d}" if at.microsecond else text

    async def until(self, time: str) -> None:
        """Let time pass until the clock on the wall shows this, the same day or as written."""
        await asyncio.sleep((_ms(time, self.clock.now_ms()) - self.clock.now_ms()) / 1000)
        for _ in range(50):  # let those who are woken at the same instant go first
            await asyncio.sleep(0)

    def set_clock(self, time: str) -> None:
        """Set the clock on the wall."""
        self.clock.offset_ms += _ms(time, self.clock.now_ms()) - self.clock.now_ms()

    async def crash(self) -> None:
        """End everything that is under way, without a word."""
        self.lives += 1
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

    async def record(self, name: str) -> dict[str, object]:
        """What the store has of a task."""
        _, records = await (await self.opener.sqlite.open()).load()
        found: dict[str, object] = json.loads(records[name])
        return found

    async def records(self) -> list[str]:
        _, records = await (await self.opener.sqlite.open()).load()
        return sorted(records)

    async def entries(self) -> list[Entry]:
        return await (await self.opener.sqlite.open()).entries(limit=10_000)

    async def story(self) -> list[str]:
        """The journal in short: events, with the task where there is one."""
        return [f"{entry.event} {entry.task}".strip() for entry in await self.entries()]


def on_stage(
    scenario: Callable[[Stage], Coroutine[object, object, _T]], *,
    begin: str = "2026-03-01T00:00:00", violations: Mapping[str, int] = MappingProxyType({}),
) -> _T:  # fmt: skip
    """Play a scenario on a stage of its own; the scheduler's monitor finds that much wrong."""

    async def play() -> _T:
        stage = Stage(begin)
        result = await scenario(stage)
        assert stage.telemetry.violations == violations
        return result

    return run_virtually(play())


def _ms(time: str, day_of_ms: int = 0) -> int:
    if "T" not in time:
        day = datetime.fromtimestamp(day_of_ms / 1000, UTC)
        time = f"{day:%Y-%m-%d}T{time}"
    return round(datetime.fromisoformat(f"{time}+00:00").timestamp() * 1000)
