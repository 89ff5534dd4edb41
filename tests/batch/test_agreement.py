"""The batch says about each of many recurrences what the recurrence says by itself."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import cron, every, once
from gnomon.batch import NONE, Table
from gnomon.core.civil.calendar import HORIZON_END
from gnomon.core.civil.instant import from_epoch
from gnomon.core.civil.zone import load_zone
from gnomon.core.recurrence import Cron, Recurrence
from tests.batch.mixes import DST, EDGES, INSTANTS, ZONES, mix
from tests.clauses import clause

SEEDS = range(20_260_301, 20_260_305)
ROWS = 5_000

MINUTES = ("*", "*/5", "*/7", "0", "30", "29,31", "59", "0-10", "45-59/3")
HOURS = ("*", "*/2", "0", "1", "2", "3", "23", "0-3", "1,2", "2-23/7")
DAYS = ("*", "*/2", "1", "29", "31", "8,25,29", "1-7", "L", "LW", "1W", "15W,L")
MONTHS = ("*", "2", "3", "10,11", "1-6")
WEEKDAYS = ("*", "0", "1-5", "6", "0L", "1#5", "0#2,0#1")
SECONDS = ("", "", "", "0 ", "59 ", "*/25 ", "30-31 ")


@pytest.fixture(scope="module")
def instants() -> list[int]:
    moments = [int(datetime.fromisoformat(text).timestamp()) for text in INSTANTS]
    return [*moments, *EDGES]


@clause("BATCH-1", "BATCH-2", "BATCH-3")
@pytest.mark.bulk
@pytest.mark.parametrize("seed", SEEDS)
def test_thousands_of_recurrences_agree_at_every_listed_instant(
    seed: int, instants: list[int]
) -> None:
    table = Table(mix(seed, ROWS))

    answers = [table.next_epochs(now).tolist() for now in instants]

    # Drawn again and asked one after the other, so that what each of them caches is soon gone, and
    # without the tables of its own that a recurrence makes when it is asked often.
    wrong = [
        (row, now, answers[question][row])
        for row, recurrence in enumerate(mix(seed, ROWS))
        for question, now in enumerate(instants)
        if answers[question][row] != _plainly(recurrence, now)
    ]
    assert wrong == []


@clause("BATCH-1", "BATCH-2")
@pytest.mark.parametrize("dst", DST)
def test_a_crowd_of_schedules_agrees_at_every_minute_around_a_gap_and_a_fold(
    dst: str | None,
) -> None:
    texts = [f"{minute} {hour} * * *" for minute in MINUTES for hour in HOURS]
    crowd = [cron(text, zone="Europe/Berlin", dst=dst) for text in texts]
    table = Table(crowd)

    # 2026-03-29 and 2026-10-25, 01:00 UTC, one hour before and after.
    for change in (1_774_746_000, 1_792_890_000):
        for now in range(change - 3_720, change + 3_720, 40):
            assert table.next_epochs(now).tolist() == [_alone(one, now) for one in crowd]


@clause("BATCH-2")
@pytest.mark.parametrize("second", range(-3, 31))
def test_a_gap_that_ends_inside_a_minute_agrees_at_every_second_of_it(second: int) -> None:
    texts = (
        "* * * * * *", "0 30 0 * * *", "0 44,45 * * * *", "*/7 * 0 * * *", "15 50 0 * * *",
        "35,50 20,44 0 * * *", "40 44 0 * * *",
    )  # fmt: skip
    crowd = [cron(text, zone="Africa/Monrovia", dst=dst) for text in texts for dst in DST]

    now = 63_593_070 + second  # 1972-01-07T00:44:30Z, when the clocks went from 00:00 to 00:44:30

    assert Table(crowd).next_epochs(now).tolist() == [_alone(one, now) for one in crowd]


def _crons() -> st.SearchStrategy[Recurrence]:
    fields = [st.sampled_from(values) for values in (MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS)]
    texts = st.tuples(st.sampled_from(SECONDS), st.tuples(*fields).map(" ".join)).map("".join)
    return st.builds(
        lambda text, zone, dst: cron(text, zone=zone, dst=dst),
        texts.filter(_can_match), st.sampled_from(ZONES), st.sampled_from(DST),
    )  # fmt: skip


def _can_match(text: str) -> bool:
    day, month = text.split()[-3:-1]
    return not (month == "2" and day == "31")


def _bounded(recurrence: Recurrence, start: int, length: int) -> Recurrence:
    return recurrence.bounded(start_at=from_epoch(start), end_at=from_epoch(start + length))


def _near_a_change(zone: str) -> st.SearchStrategy[int]:
    changes = [at for at, _, _ in load_zone(zone).changes(0, HORIZON_END)] or [0]
    return st.builds(
        lambda at, distance: at + distance, st.sampled_from(changes), st.integers(-9_000, 9_000)
    )


EPOCHS = st.integers(0, HORIZON_END - 1)
SIMPLE = st.one_of(
    _crons(),
    st.builds(
        lambda seconds, anchor: every(f"{seconds}s", anchor=from_epoch(anchor)),
        st.integers(1, 10**9), EPOCHS,
    ),
    st.builds(lambda epoch: once(from_epoch(epoch)), EPOCHS),
)  # fmt: skip
RECURRENCES = SIMPLE | st.builds(_bounded, SIMPLE, EPOCHS, st.integers(0, 10**9))
NOWS = EPOCHS | st.sampled_from(EDGES) | st.sampled_from(ZONES).flatmap(_near_a_change)


@clause("BATCH-1", "BATCH-2", "BATCH-3")
@given(recurrences=st.lists(RECURRENCES, max_size=12), nows=st.lists(NOWS, min_size=1, max_size=4))
def test_any_recurrences_at_any_instants_agree(
    recurrences: list[Recurrence], nows: list[int]
) -> None:
    table = Table(recurrences)

    for now in nows:
        assert table.next_epochs(now).tolist() == [_alone(one, now) for one in recurrences]


@clause("BATCH-5")
@given(recurrence=SIMPLE, now=st.datetimes(timezones=st.just(UTC)))
def test_a_datetime_agrees_with_the_scalar_form_for_datetimes(
    recurrence: Recurrence, now: datetime
) -> None:
    (found,) = Table([recurrence]).next_epochs(now).tolist()

    assert (None if found == NONE else from_epoch(found)) == recurrence.next_after(now)


def _plainly(recurrence: Recurrence, now: int) -> int:
    if not isinstance(recurrence, Cron):
        return _alone(recurrence, now)
    found = recurrence.search.next_epoch(now)
    return NONE if found is None else found


def _alone(recurrence: Recurrence, now: int) -> int:
    found = recurrence.next_epoch(now)
    return NONE if found is None else found
