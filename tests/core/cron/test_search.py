"""The search: its answers agree with each other, at the edges of the horizon too."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import cron
from gnomon.core.civil.calendar import HORIZON_END
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import load_zone
from tests.clauses import clause

ZONES = [
    "UTC", "Europe/Riga", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia",
    "Africa/Monrovia", "Africa/Casablanca", "Antarctica/Troll", "Asia/Gaza", "Pacific/Kiritimati",
]  # fmt: skip
TEXTS = [
    "* * * * *", "*/7 * * * *", "0 * * * *", "30 2 * * *", "0 0 * * *", "59 23 * * 0",
    "15 3 * * 1-5", "0 0 1,15 * *", "0 0 1 * 1", "30 1 L * *", "0 2 LW * *", "30 2 * * 0#2",
    "0 3 * 3,10 0L", "0 0 29 2 *", "30 2 31 3,10 *", "*/20 30 2 * * *", "5 * 2 * * *",
    "45 0 7 1 *", "44 0 * * *", "*/10 44 0 * * *", "0 0 * 2 5#5",
]  # fmt: skip
POLICIES = ["strict", "vixie", "civil"]
EPOCHS = st.integers(0, HORIZON_END - 1)


@st.composite
def instants_near_changes(draw: st.DrawFn, zone: str) -> int:
    changes = load_zone(zone).changes(0, HORIZON_END)
    if not changes or draw(st.booleans()):
        return draw(EPOCHS)
    at = draw(st.sampled_from(changes))[0]
    return max(0, at + draw(st.integers(-100_000, 100_000)))


@clause("REC-1", "REC-2", "REC-3")
@given(st.data(), st.sampled_from(ZONES), st.sampled_from(TEXTS), st.sampled_from(POLICIES))
def test_next_latest_and_iterate_agree(
    data: st.DataObject, zone: str, text: str, policy: str
) -> None:
    recurrence = cron(text, zone=zone, dst=policy)
    after = data.draw(instants_near_changes(zone))

    ahead = list(islice(recurrence.iterate_epochs(after), 6))

    previous = after
    for epoch in ahead:
        assert recurrence.next_epoch(previous) == epoch
        assert recurrence.latest_epoch(epoch) == epoch
        assert recurrence.latest_epoch(epoch - 1) in (None, previous) or previous == after
        assert recurrence.next_epoch(epoch - 1) == epoch
        previous = epoch
    latest = recurrence.latest_epoch(after)
    assert latest is None or latest <= after
    if latest is not None and ahead:
        assert recurrence.next_epoch(latest) == ahead[0]


@clause("REC-5", "REC-9")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("policy", POLICIES)
def test_there_is_nothing_outside_the_horizon(zone: str, text: str, policy: str) -> None:
    recurrence = cron(text, zone=zone, dst=policy)
    first = recurrence.next_epoch(-(10**12))
    last = recurrence.latest_epoch(10**12)

    assert first is not None
    assert last is not None
    assert 0 <= first <= last < HORIZON_END
    assert first == recurrence.next_epoch(-1)
    assert recurrence.next_epoch(last) is None
    assert recurrence.next_epoch(HORIZON_END) is None
    assert recurrence.next_epoch(10**12) is None
    assert recurrence.latest_epoch(first - 1) is None
    assert recurrence.latest_epoch(-(10**12)) is None
    assert list(recurrence.iterate_epochs(last)) == []


@clause("REC-5")
@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("* * * * *", "1970-01-01T00:00:00Z", "2200-12-31T23:59:00Z"),
        ("0 0 29 2 *", "1972-02-29T00:00:00Z", "2196-02-29T00:00:00Z"),
        ("0 0 * 2 5#5", "1980-02-29T00:00:00Z", "2188-02-29T00:00:00Z"),
    ],
)
def test_the_first_and_the_last_occurrence(text: str, first: str, last: str) -> None:
    recurrence = cron(text)
    found = (recurrence.next_epoch(-1), recurrence.latest_epoch(HORIZON_END))

    assert [format_instant(epoch) for epoch in found if epoch is not None] == [first, last]


@clause("REC-1")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Riga"])
@pytest.mark.parametrize("text", ["0 12 14 2 *", "0 0 29 2 *", "30 3 * 3 0L"])
def test_a_rare_occurrence_is_the_same_when_asked_for_often(zone: str, text: str) -> None:
    instants = range(0, HORIZON_END, HORIZON_END // 60)
    often = cron(text, zone=zone)

    for at in instants:
        assert often.next_epoch(at) == cron(text, zone=zone).next_epoch(at)


@clause("REC-3")
def test_an_iteration_of_seconds_is_not_computed_far_ahead() -> None:
    every_second = cron("* * * * * *").iterate_epochs(0)

    assert list(islice(every_second, 3)) == [1, 2, 3]
