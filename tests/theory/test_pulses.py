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


def seen(*shown: tuple[int, int], kinds: tuple[Kind, ...] = ()) -> list[Event]:
    """Events at these `t` and instants of the wall clock, both in ms; of a kind, or of none."""
    rest = (Kind.FAULT,) * (len(shown) - len(kinds))
    return [
        Event(kind, t, fault="x" if kind is Kind.FAULT else "", wall_ms=wall_ms)
        for kind, (t, wall_ms) in zip((*kinds, *rest), shown, strict=True)
    ]


def pulses(
    events: list[Event], task: str = "", cron: str = "* * * * *"
) -> list[tuple[int, int | None]]:
    """The minutes that begin, or the dues of a task, of every minute: `t`, and the wall clock."""
    kind = Kind.DUE if task else Kind.MINUTE_START
    if task:
        first = Event(Kind.INIT_START, 0, registrations=(Registration(task, cron, 0),))
        events = [first, Event(Kind.INIT_SUCCESS, 0), *events]
    return [(one.t, one.wall_ms) for one in with_pulses(Header(), events) if one.kind is kind]


@clause("CHECK-6")
def test_a_minute_that_was_seen_begins_again_and_nothing_is_due_in_it() -> None:
    events = seen((0, 0), (90_000, 90_000), (91_000, 30_000), (211_000, 150_000))

    assert pulses(events) == [
        (0, 0), (60_000, 60_000), (91_000, 0), (121_000, 60_000), (181_000, 120_000),
    ]  # fmt: skip
    assert pulses(events, "a") == [(0, 0), (60_000, 60_000), (181_000, 120_000)]


@clause("CHECK-6")
def test_minutes_that_the_clock_leapt_over_begin_when_they_have_passed_for_certain() -> None:
    assert pulses(seen((0, 0), (90_000, 300_000))) == [
        (0, 0), (60_000, 60_000), (90_000, 120_000), (90_000, 180_000), (90_000, 240_000),
        (90_000, 300_000),
    ]  # fmt: skip


@clause("CHECK-6")
def test_minutes_that_the_clock_leapt_over_come_when_it_is_set_back() -> None:
    events = seen((0, 0), (1_000, 601_000), (2_000, 121_000), (62_000, 181_000))

    assert pulses(events, "a")[-2:] == [(2_000, 120_000), (61_000, 180_000)]


@clause("CHECK-6")
@pytest.mark.parametrize(("kind", "dues"), [
    (Kind.FAULT, []),
    (Kind.STOP_START, []),
    (Kind.STOP_END, [180_000]),
    (Kind.CRASH, [60_000, 180_000]),
])  # fmt: skip
def test_what_passed_while_the_scheduler_was_down_comes_when_the_clock_is_set_back(
    kind: Kind, dues: list[int]
) -> None:
    # It ends in the third minute, is begun anew in the fifth, and set back to the first.
    shown = [(0, 0), (150_000, 150_000), (250_000, 250_000), (250_000, 59_000), (400_000, 209_000)]
    kinds = (Kind.FAULT, kind, Kind.INIT_START)

    assert [wall_ms for t, wall_ms in pulses(seen(*shown, kinds=kinds), "a") if t > 250_000] == dues


@clause("CHECK-6")
@pytest.mark.parametrize("starts", [False, True])
def test_a_due_that_is_in_doubt_is_there_when_a_start_is(starts: bool) -> None:
    # Whether the minute of 120,000 was shown before the clock was set, no event tells.
    events = seen((0, 0), (130_000, 600_000), (140_000, 119_000), (150_000, 129_000))
    if starts:
        events.append(Event(Kind.RUN_START, 150_000, "a", wall_ms=129_000))
        events.append(Event(Kind.RUN_START, 150_000, "a", wall_ms=129_000))

    late = [one for one in pulses(events, "a") if one[0] > 140_000]
    assert late == ([(150_000, 120_000)] if starts else [])


@clause("CHECK-6")
def test_a_due_that_is_certain_takes_the_place_of_one_in_doubt() -> None:
    events = seen((0, 0), (130_000, 600_000), (140_000, 119_000), (270_000, 249_000))
    events.append(Event(Kind.RUN_START, 270_000, "a", wall_ms=249_000))

    assert pulses(events, "a")[-2:] == [(201_000, 180_000), (261_000, 240_000)]


@clause("CHECK-6")
def test_what_the_clock_may_have_shown_again_is_in_doubt() -> None:
    # Set back by an hour at some time in the last three minutes, over what it had leapt over.
    events = seen((0, 0), (1_000, 7_201_000), (181_000, 3_781_000))
    events.append(Event(Kind.RUN_START, 181_000, "a", wall_ms=3_781_000))

    assert pulses(events, "a", "0 * * * *")[-1] == (181_000, 3_600_000)


@clause("CHECK-6")
def test_a_due_that_is_in_doubt_is_none_of_a_task_by_another_text() -> None:
    events = seen((0, 0), (130_000, 600_000), (140_000, 119_000), (150_000, 129_000))
    other = Event(Kind.INIT_START, 150_000, registrations=(Registration("a", "0 0 1 1 *", 0),))
    started = Event(Kind.RUN_START, 150_000, "a", wall_ms=129_000)
    events += [other, Event(Kind.INIT_SUCCESS, 150_000), started]

    assert [one for one in pulses(events, "a") if one[0] > 140_000] == []


@clause("CHECK-4")
def test_a_task_whose_text_says_nothing_is_due_when_it_starts_and_never_else() -> None:
    start = [Event(Kind.RUN_START, t, "a", wall_ms=t) for t in (70_000, 80_000)]
    events = [*seen((0, 0), (60_000, 60_000)), *start, *seen((300_000, 300_000))]

    assert [t for t, _ in pulses(events, "a", "Tides(harbour='Riga')")] == [70_000, 80_000]
    assert pulses(events[:2], "a", "Tides(harbour='Riga')") == []


@clause("CHECK-4")
def test_a_clock_that_jumped_by_a_century_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_pulses, "PULSES_MAX", 1_000)
    events = [Event(Kind.FAULT, t, fault="x", wall_ms=t * 3_000_000_000) for t in (0, 1)]

    with pytest.raises(DefinitionError, match="wall: spans more than 1,000 minutes and dues"):
        list(trace_pulses.with_pulses(Header(), events))
