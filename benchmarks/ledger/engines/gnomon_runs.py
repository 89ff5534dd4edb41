"""
What Gnomon is made to do: a thousand periods at once, at one second, and many one after the other.

Fires happen on a clock that is moved on for each pass and goes at its usual pace in between, so
that hourly schedules are due again without an hour of waiting. Lateness is measured on the clock of
the machine. A pass in which a period is missing raises, whatever the figure.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path
from time import monotonic_ns, time_ns

from benchmarks.harness.meter import Meter
from benchmarks.ledger.cells import HOURLY, ZONES, Cell
from benchmarks.ledger.population import BEGINS_MS, TARGET
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.ports import Ended, Ledger, Report
from gnomon.shell.clock import SystemClock
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.worker.runtime import Runtime
from tests.stand_ins.function_launcher import Context, FunctionLauncher

__all__ = [
    "Fires",
    "Ledger",
    "LongWorker",
    "MovableClock",
    "Opener",
    "be_late",
    "hourly",
    "nothing",
]

_HOUR_MS = 3_600_000
_BEAT = 3
"""How many seconds lie between those in which everything is due, where lateness is measured."""
_PATIENCE = 30.0


class MovableClock(SystemClock):
    """The clock of this machine, set to another time."""

    def __init__(self) -> None:
        self._moved_ms = 0

    def now_ms(self) -> int:
        # Read as `SystemClock` reads it and not through it: what is measured has no second call.
        return time_ns() // 1_000_000 + self._moved_ms

    def monotonic_ms(self) -> int:
        return monotonic_ns() // 1_000_000 + self._moved_ms

    def move_to(self, at_ms: int) -> None:
        self._moved_ms = at_ms - super().now_ms()


Opener = Callable[[], Awaitable[Ledger]]


class WrittenEnds:
    """Says when so many ends have been written to a ledger."""

    def __init__(self, ledger: Ledger, count: int) -> None:
        self.event = asyncio.Event()
        self._left = count
        self._report = ledger.report
        setattr(ledger, "report", self._counted)  # noqa: B010 - whatever store it is

    async def _counted(self, reports: Sequence[Report], *, now_ms: int) -> list[bool]:
        accepted = await self._report(reports, now_ms=now_ms)
        if self._left:
            answers = zip(reports, accepted, strict=True)
            self._left -= sum(written and type(report) is Ended for report, written in answers)
            if not self._left:
                self.event.set()
        return accepted

    def stop(self, ledger: Ledger) -> None:
        setattr(ledger, "report", self._report)  # noqa: B010


class Fires:
    """Hourly schedules that are all due at once, hour after hour."""

    def __init__(self, open_ledger: Opener, cell: Cell) -> None:
        self.meter = Meter()
        self._open, self._cell = open_ledger, cell
        self._clock = MovableClock()
        self._hour_ms = BEGINS_MS // _HOUR_MS * _HOUR_MS

    async def save(self) -> None:
        self._ledger = await self._open()
        await self._ledger.save_all(hourly(self._cell.stored), now_ms=self._hour_ms + 1)

    async def once(self) -> None:
        """The next hour strikes: everything is run and written down, and only that is timed."""
        if self._cell.is_cold:
            await self._ledger.close()
            self._ledger = await self._open()
        due = self._cell.due
        self._hour_ms += _HOUR_MS
        self._clock.move_to(self._hour_ms + 1)
        launcher = FunctionLauncher({"nothing": nothing}, self._clock)
        runtime = Runtime(self._ledger, launcher, self._clock, f"bench-{self._hour_ms}")
        written = WrittenEnds(self._ledger, due)
        with self.meter.running():
            running = asyncio.create_task(runtime.run())
            running.add_done_callback(lambda _: written.event.set())  # failed; says why below
            await asyncio.wait_for(written.event.wait(), _PATIENCE)
        written.stop(self._ledger)
        await runtime.stop(0)
        await running
        assert runtime.telemetry.launches == due, runtime.telemetry

    async def close(self) -> None:
        await self._ledger.close()


class LongWorker:
    """A worker that has been at it for a while: from one wake to the next, without the waiting."""

    def __init__(self, path: Path, thread: Executor) -> None:
        self._ledger = SqliteLedger.open(path, executor=thread)
        self._clock = MovableClock()
        launcher = FunctionLauncher({"nothing": nothing}, self._clock)
        self._runtime = Runtime(self._ledger, launcher, self._clock, "bench")

    async def fire(self, count: int) -> None:
        telemetry = self._runtime.telemetry
        wanted = telemetry.ends + count
        while telemetry.ends < wanted:
            wake_ms = await self._ledger.next_wake_ms()
            assert wake_ms is not None
            self._clock.move_to(wake_ms)
            await self._runtime.turn()
            while telemetry.ends < telemetry.launches:
                await self._runtime.collect()
            await self._runtime.turn()

    async def close(self) -> None:
        await self._ledger.close()


async def be_late(open_ledger: Opener, cell: Cell) -> list[int]:
    """
    How many nanoseconds after a nominal second each callback began.

    The schedules have just been saved. In their first second the worker has not seen them before;
    in their second it has.
    """
    late: dict[int, list[int]] = {}
    enough = asyncio.Event()
    counted = 0

    async def note(context: Context) -> None:
        began = time_ns()
        several = late.setdefault(context.nominal, [])
        several.append(began - context.nominal * 1_000_000_000)
        if context.nominal == counted and len(several) == cell.due:
            enough.set()

    ledger, clock = await open_ledger(), SystemClock()
    schedules = [
        _schedule(f"beat-{index:04d}", f"*/{_BEAT} * * * * *") for index in range(cell.stored)
    ]
    await clock.sleep_ms(_BEAT * 1000 - clock.now_ms() % (_BEAT * 1000) + 50)
    saved = await ledger.save_all(schedules, now_ms=clock.now_ms())
    first = saved[0].next_nominal
    assert first is not None
    counted = first if cell.is_cold else first + _BEAT
    runtime = Runtime(ledger, FunctionLauncher({"nothing": note}, clock), clock, "bench")
    running = asyncio.create_task(runtime.run())
    with suppress(TimeoutError):  # the caller counts
        await asyncio.wait_for(enough.wait(), _PATIENCE)
    await runtime.stop(1000)
    await running
    await ledger.close()
    return late.get(counted, [])


def hourly(count: int) -> list[Schedule]:
    """So many hourly schedules, in a few zones."""
    return [
        _schedule(f"hourly-{index:04d}", HOURLY, ZONES[index % len(ZONES)])
        for index in range(count)
    ]


async def nothing(context: Context) -> None:
    """Does nothing."""


def _schedule(name: str, cron_expr: str, zone: str = "UTC") -> Schedule:
    return read_schedule(
        {"schedule_id": name, "cron_expr": cron_expr, "timezone": zone, "target": TARGET}
    )
