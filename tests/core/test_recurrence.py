"""Recurrences: cron, intervals, single instants, bounds, and the form with datetimes."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from threading import Barrier
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import cron, every, once
from gnomon.core.civil.zone import zone_names
from gnomon.core.recurrence import Boot, Recurrence
from gnomon.errors import DefinitionError
from tests.clauses import clause

EPOCHS = st.integers(0, 7_289_654_399)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def texts(found: list[datetime]) -> list[str]:
    return [instant.isoformat() for instant in found]


@clause("REC-1", "TIME-2")
def test_next_after_is_strictly_later_and_in_utc() -> None:
    nightly = cron("30 2 * * *", zone="Europe/Berlin")

    found = nightly.next_after(at("2026-01-10T02:30:00+01:00"))

    assert found is not None
    assert found.isoformat() == "2026-01-11T01:30:00+00:00"


@clause("REC-1")
def test_a_fraction_of_a_second_after_an_occurrence_is_after_it() -> None:
    minutely = cron("* * * * *")

    assert minutely.next_after(at("2026-01-10T00:00:59.999999Z")) == at("2026-01-10T00:01:00Z")
    assert minutely.next_after(at("2026-01-10T00:01:00.000001Z")) == at("2026-01-10T00:02:00Z")


@clause("REC-2")
def test_latest_at_includes_its_argument() -> None:
    minutely = cron("* * * * *")

    assert minutely.latest_at(at("2026-01-10T00:01:00Z")) == at("2026-01-10T00:01:00Z")
    assert minutely.latest_at(at("2026-01-10T00:00:59.999999Z")) == at("2026-01-10T00:00:00Z")


@clause("REC-3")
def test_iterate_goes_on_from_an_instant() -> None:
    weekly = cron("0 9 * * mon", zone="America/New_York")

    assert texts(list(islice(weekly.iterate(at("2026-03-01T00:00:00Z")), 3))) == [
        "2026-03-02T14:00:00+00:00",
        "2026-03-09T13:00:00+00:00",
        "2026-03-16T13:00:00+00:00",
    ]


@clause("REC-4")
def test_between_includes_its_start_and_excludes_its_end() -> None:
    hourly = cron("@hourly")

    found = hourly.between(at("2026-01-10T00:00:00Z"), at("2026-01-10T03:00:00Z"))

    assert texts(found) == [f"2026-01-10T0{hour}:00:00+00:00" for hour in range(3)]


@clause("REC-4")
def test_between_minds_fractions_at_both_ends() -> None:
    every_second = cron("* * * * * *")

    found = every_second.between(at("2026-01-10T00:00:00.5Z"), at("2026-01-10T00:00:02.5Z"))

    assert texts(found) == ["2026-01-10T00:00:01+00:00", "2026-01-10T00:00:02+00:00"]


@clause("REC-4")
def test_between_refuses_to_list_more_than_a_million() -> None:
    with pytest.raises(DefinitionError, match="has more than 1000000 occurrences"):
        every("1s").between(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"))


@clause("REC-4")
def test_between_may_be_empty() -> None:
    assert cron("0 0 29 2 *").between(at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z")) == []
    assert cron("* * * * *").between(at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z")) == []


@clause("REC-6")
@given(EPOCHS, st.integers(1, 10_000_000), EPOCHS)
def test_an_interval_occurs_at_multiples_on_both_sides_of_its_anchor(
    epoch: int, seconds: int, anchor: int
) -> None:
    series = every(timedelta(seconds=seconds), anchor=datetime.fromtimestamp(anchor, UTC))

    following, latest = series.next_epoch(epoch), series.latest_epoch(epoch)

    if following is not None:
        assert epoch < following <= epoch + seconds
        assert (following - anchor) % seconds == 0
        assert next(series.iterate_epochs(epoch)) == following
    if latest is not None:
        assert epoch - seconds < latest <= epoch
        assert (latest - anchor) % seconds == 0


@clause("REC-6")
def test_an_interval_without_an_anchor_falls_on_whole_multiples() -> None:
    found = list(islice(every("1h30m").iterate(at("2026-01-01T00:00:00Z")), 3))

    assert texts(found) == [
        "2026-01-01T01:30:00+00:00",
        "2026-01-01T03:00:00+00:00",
        "2026-01-01T04:30:00+00:00",
    ]


@clause("REC-5", "REC-6")
def test_an_interval_ends_with_the_horizon() -> None:
    yearly = every("8760h")

    assert yearly.next_after(at("2200-12-31T00:00:00Z")) is None
    assert list(yearly.iterate(at("2200-12-31T00:00:00Z"))) == []
    assert yearly.latest_at(at("1969-12-31T00:00:00Z")) is None
    assert yearly.next_after(at("1900-01-01T00:00:00Z")) == at("1970-01-01T00:00:00Z")


@clause("REC-6")
@pytest.mark.parametrize(
    "interval",
    ["0s", "-5m", "500ms", "1.5s", timedelta(0), timedelta(days=40_000), "soon", 60, None],
)
def test_an_interval_must_be_whole_seconds(interval: timedelta | str) -> None:
    with pytest.raises(DefinitionError, match="interval: "):
        every(interval)


@clause("REC-7")
def test_once_occurs_once() -> None:
    single = once("2026-03-01T09:00:00+01:00")

    assert single.next_after(at("2026-03-01T07:59:59Z")) == at("2026-03-01T08:00:00Z")
    assert single.next_after(at("2026-03-01T08:00:00Z")) is None
    assert single.latest_at(at("2026-03-01T08:00:00Z")) == at("2026-03-01T08:00:00Z")
    assert single.latest_at(at("2026-03-01T07:59:59Z")) is None
    assert list(single.iterate(at("2026-01-01T00:00:00Z"))) == [at("2026-03-01T08:00:00Z")]
    assert list(single.iterate(at("2027-01-01T00:00:00Z"))) == []


@clause("REC-7")
def test_once_is_never_early() -> None:
    single = once(at("2026-03-01T08:00:00.000001Z"))

    assert single.latest_at(at("2027-01-01T00:00:00Z")) == at("2026-03-01T08:00:01Z")


@clause("REC-7")
@pytest.mark.parametrize("text", ["1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "tomorrow"])
def test_once_must_lie_within_the_horizon(text: str) -> None:
    with pytest.raises(DefinitionError, match="at: "):
        once(text)


@clause("REC-11")
def test_a_boot_has_no_occurrence() -> None:
    boot = Boot()

    assert boot.next_after(at("2026-03-01T00:00:00Z")) is None
    assert boot.latest_at(at("2026-03-01T00:00:00Z")) is None
    assert list(boot.iterate(at("2026-03-01T00:00:00Z"))) == []
    assert boot.describe() == "At each boot of the machine"


@clause("REC-8")
def test_bounds_are_inclusive() -> None:
    bounded = cron("0 * * * *").bounded(
        start_at=at("2026-01-01T02:00:00Z"), end_at=at("2026-01-01T04:00:00Z")
    )

    assert texts(list(bounded.iterate(at("2025-01-01T00:00:00Z")))) == [
        "2026-01-01T02:00:00+00:00",
        "2026-01-01T03:00:00+00:00",
        "2026-01-01T04:00:00+00:00",
    ]
    assert bounded.next_after(at("2025-01-01T00:00:00Z")) == at("2026-01-01T02:00:00Z")
    assert bounded.next_after(at("2026-01-01T03:00:00Z")) == at("2026-01-01T04:00:00Z")
    assert bounded.next_after(at("2026-01-01T04:00:00Z")) is None
    assert bounded.latest_at(at("2027-01-01T00:00:00Z")) == at("2026-01-01T04:00:00Z")
    assert bounded.latest_at(at("2026-01-01T01:59:59Z")) is None
    assert bounded.latest_at(at("2026-01-01T02:30:00Z")) == at("2026-01-01T02:00:00Z")


@clause("REC-8")
def test_a_bound_within_a_second_keeps_what_lies_inside() -> None:
    bounded = cron("* * * * * *").bounded(
        start_at=at("2026-01-01T00:00:00.5Z"), end_at=at("2026-01-01T00:00:02.5Z")
    )

    assert texts(list(bounded.iterate(at("2025-01-01T00:00:00Z")))) == [
        "2026-01-01T00:00:01+00:00",
        "2026-01-01T00:00:02+00:00",
    ]


@clause("REC-8")
def test_bounds_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(DefinitionError, match="start_at: must not be later than end_at"):
        every("1m").bounded(start_at=at("2026-01-02T00:00:00Z"), end_at=at("2026-01-01T00:00:00Z"))


@clause("REC-8")
@pytest.mark.parametrize(
    ("bound", "text"), [("start_at", "2201-01-01T00:00:00Z"), ("end_at", "1969-12-31T23:59:59Z")]
)
def test_a_bound_that_leaves_nothing_is_refused(bound: str, text: str) -> None:
    with pytest.raises(DefinitionError, match=f"{bound}: must lie between 1970 and 2200"):
        every("1m").bounded(**{bound: at(text)})


@clause("REC-8")
def test_a_bound_beyond_the_horizon_is_no_bound() -> None:
    unbounded = every("1m").bounded()

    assert unbounded == every("1m").bounded(start_at=at("1900-01-01T00:00:00Z"))
    assert unbounded == every("1m").bounded(end_at=at("9999-12-31T23:59:59Z"))


@clause("REC-10")
def test_the_default_policy_follows_the_dialect() -> None:
    # Riga, 28 March 2021: 03:00 to 04:00 is skipped.
    after = at("2021-03-28T00:00:00+02:00")

    posix = cron("30 3 * * *", zone="Europe/Riga", dialect="posix").next_after(after)
    standard = cron("30 3 * * *", zone="Europe/Riga").next_after(after)

    assert posix == at("2021-03-29T03:30:00+03:00")
    assert standard == at("2021-03-28T04:00:00+03:00")


@clause("REC-10")
@pytest.mark.parametrize(
    ("parameter", "value"), [("dst", "sometimes"), ("dialect", "quart"), ("zone", "Mars/Phobos")]
)
def test_an_unknown_choice_is_refused(parameter: str, value: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        cron("0 0 * * *", **{parameter: value})

    assert caught.value.where == parameter
    assert caught.value.got == value


@clause("TIME-1")
def test_naive_datetimes_are_refused() -> None:
    daily, naive = cron("@daily"), datetime(2026, 1, 1)  # noqa: DTZ001

    for question in (daily.next_after, daily.latest_at, daily.iterate):
        with pytest.raises(DefinitionError, match="must be a datetime with a UTC offset"):
            question(naive)


@clause("REC-1")
def test_the_zone_of_the_argument_does_not_matter() -> None:
    daily = cron("@daily", zone="Asia/Tokyo")
    instant = at("2026-01-01T00:00:00Z")

    assert daily.next_after(instant) == daily.next_after(
        instant.astimezone(ZoneInfo("America/New_York"))
    )


@clause("ERR-3")
@pytest.mark.parametrize("epoch", [1_800_000_000.5, "x", None])
@pytest.mark.parametrize(
    "recurrence",
    [
        cron("0 9 * * *"), cron("0 9 * * *", zone="Europe/Riga"), cron("0 9 * * 1"),
        cron("0 9 1 1 *"), cron("5 0 9 * * *"), every("5m"), once("2027-01-01T00:00:00Z"),
        every("5m").bounded(),
    ],
)  # fmt: skip
def test_epochs_are_whole_numbers(recurrence: Recurrence, epoch: int) -> None:
    for _ in range(10):
        recurrence.next_epoch(0)

    for question in (
        recurrence.next_epoch, recurrence.latest_epoch, recurrence.iterate_epochs,
        lambda at: recurrence.between_epochs(at, 0),
    ):  # fmt: skip
        with pytest.raises(DefinitionError, match="must be whole seconds since 1970"):
            question(epoch)


def test_a_cron_shows_how_it_was_made() -> None:
    shown = "cron('@daily', zone='Europe/Riga', dialect='standard', dst='civil')"

    assert repr(cron("@daily", zone="Europe/Riga", dst="civil")) == shown


@clause("REC-6")
def test_an_anchor_may_be_text() -> None:
    assert every("1h", anchor="2026-01-01T00:05:00Z").next_epoch(0) == 300


EVERYTHING: list[Recurrence] = [
    cron("*/5 * * * *", zone="Europe/Riga"),
    cron("0,15 * * * *", dialect="posix"),
    every("90s"),
    once("2026-01-01T00:00:00Z"),
    every("1h").bounded(start_at=datetime(2026, 1, 1, tzinfo=UTC)),
]


@clause("API-4")
@pytest.mark.parametrize("recurrence", EVERYTHING, ids=lambda recurrence: type(recurrence).__name__)
def test_a_recurrence_is_a_value(recurrence: Recurrence) -> None:
    before = recurrence.next_epoch(0)  # a value stays one after it has been used

    for twin in (pickle.loads(pickle.dumps(recurrence)), copy.deepcopy(recurrence)):
        assert twin == recurrence
        assert hash(twin) == hash(recurrence)
        assert twin.next_epoch(0) == before


@clause("API-4")
def test_different_recurrences_are_different() -> None:
    assert len(set(EVERYTHING)) == len(EVERYTHING)
    assert cron("0 0 * * *") != cron("0 0 * * *", zone="Europe/Riga")
    assert cron("0 0 * * *") != cron("0 0 * * *", dst="civil")


@clause("DESC-7")
@pytest.mark.parametrize(
    ("recurrence", "sentence"),
    [
        (every("1m"), "Every minute"),
        (every("15m"), "Every 15 minutes"),
        (every("90s"), "Every 1 minute 30 seconds"),
        (every("25h"), "Every 1 day 1 hour"),
        (
            every("1h", anchor=datetime(2026, 1, 1, 0, 5, tzinfo=UTC)),
            "Every hour, counted from 2026-01-01T00:05:00Z",
        ),
        (once("2026-01-01T00:00:00Z"), "Once, at 2026-01-01T00:00:00Z"),
        (
            every("1h").bounded(start_at=at("2026-01-01T00:00:00Z")),
            "Every hour, from 2026-01-01T00:00:00Z",
        ),
        (
            every("1h").bounded(end_at=at("2026-02-01T00:00:00Z")),
            "Every hour, until 2026-02-01T00:00:00Z",
        ),
        (every("1h").bounded(), "Every hour"),
    ],
)
def test_intervals_instants_and_bounds_describe_themselves(
    recurrence: Recurrence, sentence: str
) -> None:
    assert recurrence.describe() == sentence


@clause("API-4")
def test_recurrences_made_in_different_threads_are_equal() -> None:
    zones = sorted(zone_names())[::6]
    start = Barrier(4)

    def make(_: int) -> list[Recurrence]:
        start.wait()
        return [cron("0 0 * * *", zone=zone) for zone in zones]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(make, range(4))

    assert all(other == first for other in others)
