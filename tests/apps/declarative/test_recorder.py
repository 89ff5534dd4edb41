"""The journal is the trace: it can be put before the theory, which finds nothing wrong with it."""

import asyncio
import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from gnomon.apps.declarative.recorder import read_entries, trace_events, trace_lines
from gnomon.apps.declarative.scheduler import Scheduler
from gnomon.errors import GnomonError
from gnomon.ports import Entry
from gnomon.theory import Report, check, merge, retry_pulses
from gnomon.trace import Event, Header, Kind, Reinitialize, Witnesses, parse_trace
from tests.apps.declarative.stage import SECOND, Stage, on_stage
from tests.clauses import clause
from tests.oracle.minute_scan import occurrences

LAG_MS = 100_000
"""Two rests of the store, which are 30 s at most, and what lies between."""

CRONS = ("* * * * *", "0,10,20,30,40,50 * * * *", "7 * * * *", "59 0 * * *")


def pulses(entries: list[Entry], end_ms: int) -> Iterator[Event]:
    """Every minute, and what is due in it: from a scan of all minutes, not from the scheduler."""
    origin_ms = entries[0].wall_ms - entries[0].t_ms
    first, end = origin_ms // 60_000 * 60, end_ms // 1000 + 1
    tasks = sorted({(one.name, one.cron) for entry in entries for one in entry.registrations})
    dues = {
        cron: set(
            occurrences(cron, dialect="posix", zone="UTC", dst="strict", start=first, end=end)
        )
        for _, cron in tasks
    }
    for minute in range(first, end, 60):
        t_ms = max(minute * 1000 - origin_ms, 0)
        yield Event(Kind.MINUTE_START, t_ms)
        for name, cron in tasks:
            if minute in dues[cron]:
                yield Event(Kind.DUE, t_ms, task=name, cron=cron)


def judged(entries: list[Entry], end_ms: int, reinitialize: str) -> Report:
    events = list(trace_events(entries))
    whole = merge(events, pulses(entries, end_ms), retry_pulses(events, delay_min_ms=1_000))
    header = Header(reinitialize=Reinitialize(reinitialize))
    return check(header, list(whole), witnesses=Witnesses(0.0, 0.0, LAG_MS))


class Play:
    """A random history: lists, stops, crashes, failing and slow callbacks, a failing store."""

    def __init__(self, stage: Stage, dice: random.Random, reinitialize: str) -> None:
        self._stage = stage
        self._dice = dice
        self._reinitialize = reinitialize
        self._scheduler = self._new()
        self._calls: list[asyncio.Task[None]] = []

    async def act(self) -> None:
        stage, dice = self._stage, self._dice
        await stage.clock.sleep_ms(dice.choice([0, 7, 1_000, 20_000, 59_993, 200_000, 900_000]))
        match dice.choice("iiisscfff"):
            case "i":
                self._calls.append(asyncio.create_task(self._initialize()))
            case "s":
                self._calls.append(asyncio.create_task(self._stop()))
            case "c":
                await stage.crash()
                self._calls.clear()
                stage.faults.clear()
                await stage.clock.sleep_ms(dice.choice([0, 30_000, 4_000_000]))
                self._scheduler = self._new()
            case _:
                where = dice.choice(["write before", "write after", "acquire after", "head before"])
                if len(stage.faults) < 5:  # a store that fails for long makes everything late
                    stage.faults += [where] * dice.randint(1, 3)

    async def finish(self) -> None:
        self._stage.faults.clear()
        await self._stop()
        await asyncio.gather(*self._calls, return_exceptions=True)
        await self._stop()
        # Only whoever comes next can say that the one before has crashed.
        self._scheduler = self._new()
        await self._scheduler.initialize([])
        await self._scheduler.stop()

    def _new(self) -> Scheduler:
        return self._stage.scheduler(reinitialize=self._reinitialize)

    async def _initialize(self) -> None:
        names = self._dice.sample("abc", self._dice.randint(0, 3))
        try:
            await self._scheduler.initialize([self._task(name) for name in names])
        except GnomonError:
            self._stage.note("refused")

    async def _stop(self) -> None:
        try:
            await self._scheduler.stop()
        except GnomonError:
            self._stage.note("not told")

    def _task(self, name: str):  # type: ignore[no-untyped-def]
        dice = self._dice

        async def callback() -> None:
            await asyncio.sleep(dice.choice([0, 0, 5, 61, 400]))
            if dice.random() < 0.3:
                raise ValueError("no")

        cron = dice.choice(CRONS) if dice.random() < 0.3 else CRONS["abc".index(name)]
        return name, cron, callback, dice.choice([0, 0, 0, 1, 90]) * SECOND + 5 * SECOND


@clause("JOURNAL-10")
@pytest.mark.parametrize("reinitialize", ["reconcile", "reject"])
@pytest.mark.parametrize("seed", range(30))
def test_the_theory_finds_nothing_wrong_with_the_journal_of_a_random_history(
    seed: int, reinitialize: str
) -> None:
    async def scenario(stage: Stage) -> tuple[list[Entry], int]:
        play = Play(stage, random.Random(f"{seed} {reinitialize}"), reinitialize)
        for _ in range(40):
            await play.act()
        await play.finish()
        return await stage.entries(), stage.clock.now_ms()

    entries, end_ms = on_stage(scenario)
    report = judged(entries, end_ms, reinitialize)

    assert report.first is None, (report.first, seed)
    assert report.is_fine


@clause("JOURNAL-10")
def test_an_entry_is_an_event_with_the_same_facts() -> None:
    async def scenario(stage: Stage) -> tuple[list[Entry], list[Entry]]:
        scheduler = stage.scheduler()
        await scheduler.initialize([stage.task("a", fails=1, retry=timedelta(seconds=3))])
        await stage.until("00:00:30")
        await scheduler.stop()
        return await read_entries(await stage.opener.sqlite.open()), stage.seen

    entries, seen = on_stage(scenario)
    header, events = parse_trace(trace_lines(entries, zone="UTC", reinitialize="reconcile"))

    assert header.reinitialize is Reinitialize.RECONCILE
    assert list(events) == list(trace_events(seen))
    assert [(event.kind, event.t) for event in trace_events(entries)] == [
        (Kind.INIT_START, 0), (Kind.INIT_SUCCESS, 0), (Kind.RUN_START, 0), (Kind.RUN_FAILURE, 0),
        (Kind.RUN_START, 3_000), (Kind.RUN_SUCCESS, 3_000), (Kind.STOP_START, 30_000),
        (Kind.STOP_END, 30_000),
    ]  # fmt: skip
