"""
The engine against the minute scan.

A sample that runs in well under a minute: a few hundred transitions, some thousand random
questions, and laws that hold for every recurrence. `make prove` runs all transitions of all zones
and a million random questions.
"""

from datetime import UTC, datetime
from itertools import islice
from random import Random

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from gnomon import cron
from tests.clauses import clause
from tests.oracle.compare import Case, Tally, check_case, check_transition
from tests.oracle.minute_scan import DST_POLICIES, occurrences
from tests.oracle.random_cases import SEED, cases
from tests.oracle.reading import Unreadable, read
from tests.oracle.transitions import HORIZON_END, Transition, transitions, zone_names

_ZONES = (
    "UTC", "Europe/Riga", "Europe/Dublin", "America/New_York", "America/Nuuk",
    "Australia/Lord_Howe", "Pacific/Apia", "Antarctica/Troll", "Africa/Monrovia",
    "Africa/Casablanca", "Asia/Gaza", "Asia/Kathmandu",
)  # fmt: skip
_YEAR_2000, _YEAR_2038 = 946_684_800, 2_145_916_800


def _sampled_zones() -> list[str]:
    return [*_ZONES[1:], *Random(SEED).sample(zone_names(), 40)]


def _sampled_transitions(zone: str) -> list[Transition]:
    changes = transitions(zone, _YEAR_2000, _YEAR_2038)
    return Random(f"{SEED}:{zone}").sample(changes, min(len(changes), 7))


def _fields(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(number, number).map(sorted).map(lambda ends: f"{ends[0]}-{ends[1]}")
    step = st.integers(1, high).map(lambda step: f"*/{step}")
    return st.one_of(st.just("*"), number.map(str), span, step)


_texts = st.tuples(
    _fields(0, 59),
    _fields(0, 23),
    st.one_of(st.just("*"), _fields(1, 31), st.sampled_from(["L", "LW", "15W", "31W", "1W"])),
    st.one_of(st.just("*"), st.integers(1, 12).map(str)),
    st.one_of(st.just("*"), _fields(0, 6), st.sampled_from(["5#5", "0L", "MON-FRI", "7"])),
).map(" ".join)
_possible_texts = _texts.filter(lambda text: _is_readable(text))
_instants = st.integers(0, HORIZON_END - 1)
_zones = st.sampled_from(_ZONES)
_policies = st.sampled_from(DST_POLICIES)


@clause("DST-7")
@pytest.mark.bulk
@pytest.mark.parametrize("zone", _sampled_zones())
def test_every_answer_around_a_transition_is_that_of_the_minute_scan(zone: str) -> None:
    differences = [
        str(difference)
        for transition in _sampled_transitions(zone)
        for difference in check_transition(transition, Tally())
    ]

    assert differences == []


@clause("DST-7")
@pytest.mark.parametrize(
    "zone",
    ["Pacific/Apia", "Pacific/Kwajalein", "Pacific/Kiritimati", "Africa/Monrovia", "Asia/Manila"],
)
def test_days_that_a_zone_leaves_out_are_treated_as_the_minute_scan_does(zone: str) -> None:
    differences = [
        str(difference)
        for transition in transitions(zone, 3 * 86_400, _YEAR_2038)
        if abs(transition.after - transition.before) != 3_600
        for difference in check_transition(transition, Tally())
    ]

    assert differences == []


@clause("DST-7", "REC-5")
@pytest.mark.bulk
@pytest.mark.parametrize("chunk", range(8))
def test_random_questions_from_1970_to_2200_get_the_answer_of_the_minute_scan(chunk: int) -> None:
    tally = Tally()
    differences = [
        str(difference)
        for case in cases(SEED, chunk, 500)
        for difference in check_case(case, tally)
    ]

    assert differences == []


@clause("DST-7")
@settings(deadline=None, max_examples=200)
@given(text=_texts, zone=_zones, dst=_policies, at=_instants)
@example(text="30 2 * * *", zone="America/New_York", dst="vixie", at=1_772_953_200)
def test_a_question_of_any_shape_gets_the_answer_of_the_minute_scan(
    text: str, zone: str, dst: str, at: int
) -> None:
    case = Case(text=text, dialect="standard", zone=zone, dst=dst, at=at)

    assert [str(difference) for difference in check_case(case, Tally())] == []


@clause("REC-1")
@settings(deadline=None)
@given(hour=_fields(0, 23), minute=_fields(0, 59), zone=_zones, dst=_policies, at=_instants)
def test_next_is_strictly_later_and_nothing_lies_between(
    hour: str, minute: str, zone: str, dst: str, at: int
) -> None:
    text = f"{minute} {hour} * * *"

    after = cron(text, zone=zone, dst=dst).next_epoch(at)

    end = HORIZON_END if after is None else after + 1
    scan = occurrences(text, dialect="standard", zone=zone, dst=dst, start=at + 1, end=end)
    assert scan == ([] if after is None else [after])


@clause("REC-2")
@settings(deadline=None)
@given(hour=_fields(0, 23), minute=_fields(0, 59), zone=_zones, dst=_policies, at=_instants)
def test_latest_is_inclusive_and_nothing_lies_after_it(
    hour: str, minute: str, zone: str, dst: str, at: int
) -> None:
    text = f"{minute} {hour} * * *"

    latest = cron(text, zone=zone, dst=dst).latest_epoch(at)

    start = 0 if latest is None else latest
    scan = occurrences(text, dialect="standard", zone=zone, dst=dst, start=start, end=at + 1)
    assert scan == ([] if latest is None else [latest])


@clause("REC-2")
@settings(deadline=None)
@given(text=_possible_texts, zone=_zones, dst=_policies, at=_instants)
def test_the_latest_at_an_occurrence_is_that_occurrence(
    text: str, zone: str, dst: str, at: int
) -> None:
    recurrence = cron(text, zone=zone, dst=dst)
    after = recurrence.next_epoch(at)
    assume(after is not None)

    assert recurrence.latest_epoch(after or 0) == after


@clause("REC-3")
@settings(deadline=None)
@given(text=_possible_texts, zone=_zones, dst=_policies, at=_instants, count=st.integers(1, 40))
def test_iterating_is_asking_for_the_next_again_and_again(
    text: str, zone: str, dst: str, at: int, count: int
) -> None:
    recurrence = cron(text, zone=zone, dst=dst)
    asked: list[int] = []
    after = recurrence.next_epoch(at)
    while after is not None and len(asked) < count:
        asked.append(after)
        after = recurrence.next_epoch(after)

    assert list(islice(recurrence.iterate_epochs(at), count)) == asked


@clause("REC-5")
@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),  # 2100 has no leap day
        ("0 0 29 2 *", "2196-02-29T00:00:00Z", None),  # 2200 has none, and 2204 is too late
        ("0 0 1 1 *", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z"),
        ("59 23 31 12 *", "2199-12-31T23:59:00Z", "2200-12-31T23:59:00Z"),
        ("59 23 31 12 *", "2200-12-31T23:59:00Z", None),
        ("0 12 * 2 1#5", "2016-03-01T00:00:00Z", "2044-02-29T12:00:00Z"),  # a Monday
    ],
)
def test_the_calendar_is_right_up_to_the_ends_of_the_horizon(
    text: str, after: str, expected: str | None
) -> None:
    answer = cron(text).next_epoch(_epoch(after))

    assert answer == (None if expected is None else _epoch(expected))


def _epoch(text: str) -> int:
    return int(datetime.fromisoformat(text).astimezone(UTC).timestamp())


def _is_readable(text: str) -> bool:
    try:
        read(text, "standard")
    except Unreadable:
        return False
    return True
