"""What goes into a table and what comes out: order, markers, types, and how it refuses."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
import pytest

from gnomon import cron, every, once
from gnomon.batch import NONE, Table, next_epochs
from gnomon.core.civil.instant import format_instant
from gnomon.core.recurrence import Recurrence
from gnomon.errors import DefinitionError
from tests.clauses import clause

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
NAIVE = NEW_YEAR.replace(tzinfo=None)


class Leapers(Recurrence):
    """A recurrence that the batch has never heard of: the seconds of a given list."""

    def __init__(self, *epochs: int) -> None:
        self._epochs = epochs

    @property
    def next_epoch(self) -> Callable[[int], int | None]:
        return lambda after: next(self.iterate_epochs(after), None)

    def latest_epoch(self, at: int) -> int | None:
        return max((epoch for epoch in self._epochs if epoch <= at), default=None)

    def iterate_epochs(self, after: int) -> Iterator[int]:
        return (epoch for epoch in self._epochs if epoch > after)

    def describe(self) -> str:
        return "At given seconds"


def texts(recurrences: list[Recurrence], now: str) -> list[str]:
    found = next_epochs(recurrences, datetime.fromisoformat(now)).tolist()
    return ["none" if epoch == NONE else format_instant(epoch) for epoch in found]


@clause("BATCH-4")
def test_answers_stand_in_the_order_of_the_recurrences() -> None:
    recurrences = [
        cron("0 9 * * mon", zone="America/New_York"),
        every("90m"),
        cron("0 0 29 2 *"),
        once("2026-06-01T12:00:00Z"),
        cron("*/15 * * * *", zone="Asia/Kathmandu"),
        cron("0 0 L * *", zone="Europe/Berlin"),
        every("90m").bounded(start_at=datetime(2027, 1, 1, tzinfo=UTC)),
        cron("30 6 * * *").bounded(start_at=datetime(2026, 5, 1, 7, tzinfo=UTC)),
        cron("30 0 0 1 1 *"),
    ]

    assert texts(recurrences, "2026-01-01T00:00:00Z") == [
        "2026-01-05T14:00:00Z",
        "2026-01-01T01:30:00Z",
        "2028-02-29T00:00:00Z",
        "2026-06-01T12:00:00Z",
        "2026-01-01T00:15:00Z",
        "2026-01-30T23:00:00Z",
        "2027-01-01T00:00:00Z",
        "2026-05-02T06:30:00Z",
        "2026-01-01T00:00:30Z",
    ]


@clause("BATCH-4")
def test_equal_recurrences_are_answered_each_in_its_place() -> None:
    daily, hourly = cron("0 0 * * *"), cron("0 * * * *")

    assert texts([daily, hourly, daily, hourly, hourly], "2026-01-01T10:30:00Z") == [
        "2026-01-02T00:00:00Z",
        "2026-01-01T11:00:00Z",
        "2026-01-02T00:00:00Z",
        "2026-01-01T11:00:00Z",
        "2026-01-01T11:00:00Z",
    ]


@clause("BATCH-4")
def test_answers_are_a_new_array_of_64_bit_integers() -> None:
    table = Table([cron("0 0 * * *")])

    one, other = table.next_epochs(NEW_YEAR), table.next_epochs(NEW_YEAR)
    one[0] = 0

    assert one.dtype == np.int64
    assert other.tolist() == [1_767_312_000]


@clause("BATCH-4")
@pytest.mark.parametrize("now", [NEW_YEAR, -1, 10**10])
def test_no_recurrences_give_no_answers(now: int | datetime) -> None:
    table = Table([])

    assert len(table) == 0
    assert table.next_epochs(now).tolist() == []


@clause("BATCH-4")
def test_recurrences_may_come_from_an_iterator() -> None:
    table = Table(cron(f"{minute} * * * *") for minute in range(60))

    assert len(table) == 60
    assert table.next_epochs(0).tolist() == [3_600, *range(60, 3_600, 60)]


@clause("BATCH-2")
@pytest.mark.parametrize(
    ("dst", "text", "expected"),
    [
        # 02:00 to 03:00 does not exist in New York on 2026-03-08.
        ("strict", "30 2 * * *", "2026-03-09T06:30:00Z"),
        ("civil", "30 2 * * *", "2026-03-09T06:30:00Z"),
        ("vixie", "30 2 * * *", "2026-03-08T07:00:00Z"),
        ("vixie", "*/30 2 * * *", "2026-03-09T06:00:00Z"),
    ],
)
def test_a_time_in_a_gap_follows_the_policy(dst: str, text: str, expected: str) -> None:
    found = texts([cron(text, zone="America/New_York", dst=dst)], "2026-03-08T06:00:00Z")

    assert found == [expected]


@clause("BATCH-2")
@pytest.mark.parametrize(
    ("dst", "text", "expected"),
    [
        # 01:00 to 02:00 comes twice in New York on 2026-11-01; it is 01:45, the first time.
        ("strict", "30 1 * * *", "2026-11-02T06:30:00Z"),
        ("vixie", "30 1 * * *", "2026-11-02T06:30:00Z"),
        ("civil", "30 1 * * *", "2026-11-01T06:30:00Z"),
        ("vixie", "*/30 1 * * *", "2026-11-01T06:00:00Z"),
    ],
)
def test_a_repeated_time_follows_the_policy(dst: str, text: str, expected: str) -> None:
    found = texts([cron(text, zone="America/New_York", dst=dst)], "2026-11-01T05:45:00Z")

    assert found == [expected]


@clause("BATCH-2")
def test_the_very_start_of_a_repeated_hour_comes_again() -> None:
    twice = cron("0 1 * * *", zone="America/New_York", dst="civil")

    assert texts([twice], "2026-11-01T04:59:59Z") == ["2026-11-01T05:00:00Z"]
    assert texts([twice], "2026-11-01T05:00:00Z") == ["2026-11-01T06:00:00Z"]
    assert texts([twice], "2026-11-01T06:00:00Z") == ["2026-11-02T06:00:00Z"]


@clause("BATCH-5")
def test_where_there_is_no_occurrence_the_answer_is_none() -> None:
    over = [
        once("2025-12-31T23:59:59Z"),
        once("2026-01-01T00:00:00Z"),
        cron("0 0 * * *").bounded(end_at=NEW_YEAR),
        every("1h").bounded(start_at=NEW_YEAR, end_at=NEW_YEAR),
    ]

    assert next_epochs(over, NEW_YEAR).tolist() == [NONE] * 4
    assert NONE == -1


@clause("BATCH-5")
def test_the_last_occurrence_lies_in_2200() -> None:
    recurrences: list[Recurrence] = [cron("* * * * *"), cron("0 0 1 1 *"), every("1h")]

    assert texts(recurrences, "2200-12-31T23:30:00Z") == ["2200-12-31T23:31:00Z", "none", "none"]
    assert texts(recurrences, "2200-12-31T23:59:00Z") == ["none", "none", "none"]
    assert texts(recurrences, "2345-01-01T00:00:00Z") == ["none", "none", "none"]


@clause("BATCH-5")
def test_before_1970_the_first_occurrences_are_those_of_1970() -> None:
    recurrences: list[Recurrence] = [cron("0 0 * * *"), every("1h"), once("1970-01-01T00:00:00Z")]

    assert texts(recurrences, "1950-06-01T00:00:00Z") == ["1970-01-01T00:00:00Z"] * 3


@clause("BATCH-5")
@pytest.mark.parametrize("now", [np.int64(1_767_225_600), 1_767_225_600, NEW_YEAR])
def test_now_is_whole_seconds_or_an_aware_datetime(now: int | datetime) -> None:
    assert next_epochs([cron("0 0 * * *")], now).tolist() == [1_767_312_000]


@clause("BATCH-5")
@pytest.mark.parametrize("now", [1.5, "2026-01-01T00:00:00Z", None, NAIVE])
def test_any_other_now_is_refused(now: object) -> None:
    with pytest.raises(DefinitionError, match=r"^now: must be .*, got .*; "):
        next_epochs([], now)  # type: ignore[arg-type]


@clause("BATCH-5")
@pytest.mark.parametrize("wrong", ["0 0 * * *", None, 60])
def test_anything_but_a_recurrence_is_refused(wrong: object) -> None:
    with pytest.raises(DefinitionError, match=r"^recurrences: must hold recurrences only, got"):
        Table([cron("0 0 * * *"), wrong])  # type: ignore[list-item]


@clause("BATCH-3")
def test_a_recurrence_of_another_kind_is_asked_itself() -> None:
    leapers = Leapers(10, 20)
    later = leapers.bounded(start_at=datetime(1970, 1, 1, 0, 0, 15, tzinfo=UTC))
    table = Table([leapers, cron("* * * * *"), later, leapers])

    assert table.next_epochs(0).tolist() == [10, 60, 20, 10]
    assert table.next_epochs(10).tolist() == [20, 60, 20, 20]
    assert table.next_epochs(20).tolist() == [NONE, 60, NONE, NONE]


@clause("BATCH-6")
def test_an_answer_does_not_depend_on_earlier_questions() -> None:
    crowd = [cron(f"{minute} {minute % 24} */3 * *") for minute in range(60)]
    questions = [1_767_225_600 + hours * 3_600 for hours in range(0, 24 * 40, 7)]
    table = Table(crowd)

    forth = [table.next_epochs(now).tolist() for now in questions]
    back = [table.next_epochs(now).tolist() for now in reversed(questions)]

    assert forth == back[::-1]
    assert forth == [Table(crowd).next_epochs(now).tolist() for now in questions]


@clause("BATCH-7")
def test_without_numpy_the_import_says_which_extra_to_install() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import gnomon\n"
        "from gnomon.errors import MissingExtraError\n"
        "try:\n"
        "    import gnomon.batch\n"
        "except MissingExtraError as error:\n"
        "    print(error.extra, error)\n"
    )

    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    expected = 'fast gnomon.batch needs an extra; install it with: pip install "gnomon[fast]"\n'
    assert ran.stdout == expected


@clause("BATCH-1")
def test_a_bound_that_is_an_occurrence_is_included() -> None:
    hourly = cron("0 * * * *").bounded(end_at=datetime(2026, 1, 1, 4, tzinfo=UTC))

    found = next_epochs([hourly, hourly], datetime(2026, 1, 1, 3, tzinfo=UTC)).tolist()

    assert found == [hourly.next_epoch(1_767_236_400)] * 2 == [1_767_240_000] * 2


@clause("ERR-3")
def test_what_is_no_collection_is_refused() -> None:
    with pytest.raises(DefinitionError, match="recurrences: must be recurrences"):
        Table(None)  # type: ignore[arg-type]
