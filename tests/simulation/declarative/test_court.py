"""The court and the witness notice what they are there to notice, on short stories by hand."""

import pytest

from gnomon.simulation.declarative.court import Court
from gnomon.simulation.declarative.minutes import Minutes
from gnomon.simulation.declarative.witness import Call, Witness
from gnomon.trace import Event, Header, Kind, Registration, Reinitialize
from tests.clauses import clause

START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
EVERY_MINUTE = Registration("a", "* * * * *", 5_000)


def court() -> tuple[Court, list[str]]:
    heard: list[str] = []
    header = Header(reinitialize=Reinitialize.REJECT)
    made = Court(
        header, Minutes("UTC", ["* * * * *"]), [("a", "* * * * *")], lag_ms=1_000,
        hear=lambda event: heard.append(f"{event.t} {event.kind}"),
    )  # fmt: skip
    return made, heard


def write(made: Court, at: int, *events: Event) -> None:
    made.shown(at, START_MS + at)
    mark = made.mark(at, START_MS + at)
    for event in events:
        made.written(event)
    made.settled(mark)


def initialized(t: int) -> tuple[Event, Event]:
    begin = Event(Kind.INIT_START, t, call=1, registrations=(EVERY_MINUTE,))
    return begin, Event(Kind.INIT_SUCCESS, t, call=1)


@clause("SIM-12", "SIM-13")
def test_minutes_and_dues_are_put_where_the_clock_first_showed_them() -> None:
    made, heard = court()
    write(made, 10_000, *initialized(10_000))
    write(made, 150_000, Event(Kind.RUN_START, 150_000, "a"))

    assert heard == [
        "10000 MinuteStart", "10000 Due", "10000 InitStart", "10000 InitSuccess",
        "60000 MinuteStart", "60000 Due", "120000 MinuteStart", "120000 Due", "150000 RunStart",
    ]  # fmt: skip
    assert [one.code for one in made.complaints] == ["L1"]


@clause("SIM-13")
def test_what_a_dead_process_had_seen_and_not_written_is_not_held_against_the_next() -> None:
    made, heard = court()
    write(made, 10_000, *initialized(10_000), Event(Kind.RUN_START, 10_000, "a"))
    made.stepped(20_000, START_MS + 3_600_000)
    made.shown(20_000, START_MS + 3_600_000)
    made.died()
    made.stepped(30_000, START_MS + 30_000)
    made.shown(30_000, START_MS + 30_000)

    made.close(30_000, START_MS + 30_000)
    assert heard[-1] == "10000 RunStart"


@clause("SIM-13", "CLOCK-3")
@pytest.mark.parametrize(("back_at", "first_shown"), [(39_999, 60_000), (50_000, 20_000)])
def test_a_leap_that_is_taken_back_before_the_scheduler_had_to_look_showed_nothing(
    back_at: int, first_shown: int
) -> None:
    made, heard = court()
    write(made, 10_000, *initialized(10_000), Event(Kind.RUN_START, 10_000, "a"))
    made.stepped(20_000, START_MS + 3_600_000)
    made.stepped(back_at, START_MS + back_at)

    made.close(70_000, START_MS + 70_000)
    assert heard[5:] == [f"{first_shown} MinuteStart", f"{first_shown} Due"]


@clause("SIM-13")
def test_time_that_goes_back_in_the_journal_is_noticed() -> None:
    made, _ = court()
    write(made, 10_000, *initialized(10_000))
    write(made, 11_000, Event(Kind.RUN_START, 9_000, "a"))

    assert "time goes back" in [one.code for one in made.complaints]


def call(nominal: int = 1_772_323_200, reason: str = "due", at: int = 0) -> Call:
    return Call(
        task="a", nominal=nominal, attempt=1, reason=reason, at=at, highest_ms=START_MS + 60_000
    )


def witness(*, written: int = 1) -> Witness:
    made = Witness(Minutes("UTC", ["* * * * *"]))
    made.written(Event(Kind.INIT_SUCCESS, 0, call=1), {"a": EVERY_MINUTE})
    for _ in range(written):
        made.written(Event(Kind.RUN_START, 0, "a"), {"a": EVERY_MINUTE})
    return made


@clause("SIM-14")
def test_a_call_that_was_written_and_ends_as_it_is_written_is_acquitted() -> None:
    made, one = witness(), call()
    made.called(one)
    made.ended(one, "success", 10)
    made.written(Event(Kind.RUN_SUCCESS, 10, "a"), {"a": EVERY_MINUTE})
    made.stopped()

    assert made.complaints == []


@clause("SIM-14")
@pytest.mark.parametrize(
    ("rule", "written", "nominals", "reason"),
    [
        ("too early", 0, [1_772_323_200], "due"),
        ("overlap", 1, [1_772_323_200, 1_772_323_260], "due"),
        ("no occurrence", 1, [1_772_323_230], "due"),
        ("before its time", 1, [1_772_323_320], "due"),
    ],
)
def test_a_call_that_nothing_asked_for_is_noticed(
    rule: str, written: int, nominals: list[int], reason: str
) -> None:
    made = witness(written=written)
    for nominal in nominals:
        made.called(call(nominal, reason))

    assert rule in [one.code for one in made.complaints]


@clause("SIM-14")
def test_an_end_that_is_told_wrongly_or_invented_is_noticed() -> None:
    made, one = witness(), call()
    made.written(Event(Kind.RUN_SUCCESS, 5, "a"), {"a": EVERY_MINUTE})
    made.called(one)
    made.ended(one, "failure", 10)
    made.written(Event(Kind.RUN_SUCCESS, 10, "a"), {"a": EVERY_MINUTE})

    assert [one.code for one in made.complaints] == ["invented", "told wrongly"]


@clause("SIM-14")
def test_a_call_that_goes_on_after_stop_is_noticed() -> None:
    made = witness()
    made.called(call())
    made.stopped()

    assert [one.code for one in made.complaints] == ["after stop"]


@clause("SIM-15")
def test_an_occurrence_without_a_call_in_quiet_times_is_lost() -> None:
    made = witness()
    made.called(call(at=0))
    made.ended(made.calls[0], "success", 5)
    made.examine_quiet(0, 70_000, START_MS, tasks=["a"])

    assert [str(one) for one in made.complaints] == ["lost: a was due at 1772323260 and not called"]
