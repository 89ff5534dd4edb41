"""The journal is the trace: it can be put before the theory, which finds nothing wrong with it."""

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

from gnomon.apps.declarative.recorder import read_entries, trace_events, trace_lines
from gnomon.ports import Entry
from gnomon.theory import Report, check, merge, retry_pulses
from gnomon.trace import Event, Header, Kind, Reinitialize, Witnesses, parse_trace
from tests.apps.declarative.play import Play
from tests.apps.declarative.stage import Stage, on_stage
from tests.clauses import clause
from tests.oracle.minute_scan import occurrences

LAG_MS = 100_000
"""Two rests of the store, which are 30 s at most, and what lies between."""


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
