"""
Pulses that a trace leaves out: merged in order, derived alike by two that share no code.

Europe/Riga in 2021: 28 March 03:00+02 -> 04:00+03 (gap); 31 October 04:00+03 -> 03:00+02 (fold).
"""

from datetime import datetime

import pytest

from gnomon.cli import trace_pulses
from gnomon.cli.trace_pulses import with_pulses
from gnomon.errors import DefinitionError
from gnomon.theory import Verdict, check, merge, retry_pulses
from gnomon.trace import Event, Header, Kind, Pulses, Registration
from tests.clauses import clause
from tests.theory.minute_pulses import scanned
from tests.theory.story import tell

RIGA = Header(zone="Europe/Riga", pulses=Pulses.DERIVED)


def at(text: str, kind: Kind, task: str = "", *, since: str, **fields: int) -> Event:
    """An event at an instant; `t` counts from another."""
    wall_ms = round(datetime.fromisoformat(text).timestamp() * 1_000)
    start_ms = round(datetime.fromisoformat(since).timestamp() * 1_000)
    return Event(kind, wall_ms - start_ms, task, fields.get("call", 0), wall_ms=wall_ms)


def night(date: str, cron: str, *runs: str) -> list[Event]:
    """A scheduler that is up from midnight on and runs at these instants."""
    since = f"{date}T00:00:00+02:00" if "-03-" in date else f"{date}T00:00:00+03:00"
    start = at(since, Kind.INIT_START, since=since, call=1)
    events = [
        start._replace(registrations=(Registration("backup", cron, 60_000),)),
        at(since, Kind.INIT_SUCCESS, since=since, call=1),
    ]
    for run in runs:
        events.append(at(run, Kind.RUN_START, "backup", since=since))
        events.append(at(run, Kind.RUN_SUCCESS, "backup", since=since))
    return [*events, at(f"{date}T06:00:00+03:00", Kind.STOP_START, since=since, call=2)]


@clause("THEORY-18")
def test_pulses_come_before_what_happens_in_the_same_millisecond() -> None:
    events = [Event(Kind.RUN_START, 60, "a"), Event(Kind.CRASH, 60)]
    minutes = [Event(Kind.MINUTE_START, 0), Event(Kind.MINUTE_START, 60), Event(Kind.DUE, 60, "a")]
    retries = [Event(Kind.RETRY_DUE, 60, "a")]

    assert [one.kind.value for one in merge(events, retries, minutes)] == [
        "MinuteStart", "MinuteStart", "Due", "RetryDue", "RunStart", "UnexpectedShutdown",
    ]  # fmt: skip


@clause("THEORY-18")
def test_a_retry_is_due_when_the_delay_of_its_failure_is_over() -> None:
    events = tell("init a", "minute", "due a", "start a", "fail a")

    assert list(retry_pulses(events)) == [Event(Kind.RETRY_DUE, 5_005, "a")]
    assert list(retry_pulses(events, delay_min_ms=9_000)) == [Event(Kind.RETRY_DUE, 9_005, "a")]


@clause("THEORY-18")
@pytest.mark.parametrize(("date", "cron", "runs"), [
    ("2021-03-28", "30 3 * * *", []),
    ("2021-03-28", "30 4 * * *", ["2021-03-28T04:30:00.250+03:00"]),
    ("2021-10-31", "30 3 * * *", ["2021-10-31T03:30:00.250+03:00"]),
])  # fmt: skip
def test_a_night_on_which_the_clock_changes_is_judged_by_the_scan(
    date: str, cron: str, runs: list[str]
) -> None:
    report = check(RIGA, scanned(RIGA, night(date, cron, *runs)))

    assert report.is_fine
    assert report.verdicts["L1"].exercised == len(runs)


@clause("THEORY-18", "S1")
def test_a_scheduler_that_runs_in_both_hours_of_a_fold_is_found_out() -> None:
    runs = ["2021-10-31T03:30:00+03:00", "2021-10-31T03:30:00+02:00"]
    events = night("2021-10-31", "30 3 * * *", *runs)
    report = check(RIGA, scanned(RIGA, events))

    assert report.verdicts["S1"].verdict is Verdict.FALSE
    assert report.verdicts["S1"].position is not None


@clause("THEORY-18", "L1")
def test_a_scheduler_that_forgets_a_due_is_found_out() -> None:
    report = check(RIGA, scanned(RIGA, night("2021-03-28", "30 4 * * *")))

    assert report.verdicts["L1"].verdict is Verdict.FALSE


@clause("CHECK-4")
@pytest.mark.parametrize("date", ["2021-03-28", "2021-10-31"])
@pytest.mark.parametrize("cron", ["* * * * *", "30 3 * * *", "0,15,30,45 2-4 * * 0", "0 0 1 1 *"])
def test_the_command_derives_the_same_pulses_as_the_scan(date: str, cron: str) -> None:
    events = night(date, cron, f"{date}T05:00:00+03:00")

    assert list(with_pulses(RIGA, events)) == scanned(RIGA, events, delay_min_ms=1_000)


@clause("CHECK-4")
def test_no_minute_begins_twice_when_the_clock_goes_back() -> None:
    walls = [0, 90_000, 30_000, 150_000]
    events = [Event(Kind.FAULT, 90_000 * n, fault="x", wall_ms=w) for n, w in enumerate(walls)]
    minutes = [one for one in with_pulses(Header(), events) if one.kind is Kind.MINUTE_START]

    assert [(one.t, one.wall_ms) for one in minutes] == [
        (0, 0),
        (60_000, 60_000),
        (240_000, 120_000),
    ]


@clause("CHECK-4")
def test_minutes_that_the_clock_skipped_begin_where_it_jumped() -> None:
    events = [
        Event(Kind.FAULT, 0, fault="x", wall_ms=0),
        Event(Kind.FAULT, 30_000, fault="x", wall_ms=150_000),
    ]
    minutes = [one for one in with_pulses(Header(), events) if one.kind is Kind.MINUTE_START]

    assert [(one.t, one.wall_ms) for one in minutes] == [(0, 0), (0, 60_000), (0, 120_000)]


@clause("CHECK-4")
def test_a_clock_that_jumped_by_a_century_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_pulses, "PULSES_MAX", 1_000)
    events = [Event(Kind.FAULT, t, fault="x", wall_ms=t * 3_000_000_000) for t in (0, 1)]

    with pytest.raises(DefinitionError, match="wall: spans more than 1,000 minutes and dues"):
        list(trace_pulses.with_pulses(Header(), events))
