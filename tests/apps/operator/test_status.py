"""The status as JSON: sealed, bounded, and read back as it was."""

import json
from dataclasses import replace

import pytest

from gnomon.apps.operator.status import (
    Active,
    Condition,
    Entry,
    Lapsed,
    Opened,
    Range,
    Record,
    Result,
    Status,
    add_entries,
    end_runs,
)
from gnomon.apps.operator.status_text import Unsealed, read_status, write_status
from gnomon.core.ledger.lifecycle import Outcome
from tests.apps.operator.lone_operator import epoch
from tests.clauses import clause

AT = epoch("2026-03-01T00:00:00Z")


def a_status(size: int = 3) -> Status:
    status = Status(
        generation=2, revision=7, since=AT, cursor=AT,
        timing={"schedule": "* * * * *", "timezone": "UTC"},
        opened=[Opened(AT - 60 * n, AT if n % 2 else None, "ab") for n in range(size)],
        lapsed=Lapsed(AT - 600, AT - 60, 5),
        ahead=[AT + 60 * n for n in range(size)],
        active=[Active(f"report-{n}", f"uid-{n}", AT + n, n % 2 == 1) for n in range(size)],
        conditions=[Condition("Ready", "Scheduling", "fine", AT)],
    )  # fmt: skip
    entries: list[Entry] = [
        Record(AT, Outcome.EXECUTED, AT, "", AT, "cd", "report-0", "uid-0", "Starting"),
        Range(AT - 600, AT - 60, 4, Outcome.MISSED, AT, "deadline"),
        Record(AT, Outcome.SKIPPED, AT, "overlap", AT, "cd"),
        Record(AT, Outcome.UNSCHEDULABLE, AT, "constraints"),
    ]
    return add_entries(status, entries, records_max=20)


def plain(status: Status) -> Status:
    """With tuples for lists, as it is read."""
    return replace(
        status, opened=tuple(status.opened), ahead=tuple(status.ahead),
        active=tuple(status.active), conditions=tuple(status.conditions),
    )  # fmt: skip


@clause("OPERATOR-4")
def test_a_status_is_read_back_as_it_was_written() -> None:
    written = json.loads(json.dumps(write_status(a_status(), "u", following=(AT, AT))))

    assert read_status(written, "u") == plain(replace(a_status(), totals={
        "executed": 1, "skipped": 1, "missed": 4, "unschedulable": 1,
    }))  # fmt: skip


@clause("OPERATOR-6")
@pytest.mark.parametrize("where", ["cursor", "recent", "active", "totals", "next", "conditions"])
def test_an_edit_anywhere_breaks_the_seal(where: str) -> None:
    written = write_status(a_status(), "u", following=(AT, AT))

    assert isinstance(read_status({**written, where: []}, "u"), Unsealed)
    assert isinstance(read_status({**written, "more": 1}, "u"), Unsealed)
    without = {name: value for name, value in written.items() if name != where}
    assert isinstance(read_status(without, "u"), Unsealed)


@clause("OPERATOR-6")
def test_the_seal_is_that_of_one_object() -> None:
    assert isinstance(read_status(write_status(a_status(), "u"), "v"), Unsealed)


@clause("OPERATOR-6")
@pytest.mark.parametrize("status", ["text", 5, [], {"seal": 3}, {"seal": "1:ab", "cursor": None}])
def test_what_is_no_status_is_not_taken_for_one(status: object) -> None:
    assert isinstance(read_status(status, "u"), Unsealed)


@clause("OPERATOR-6")
def test_a_status_that_is_sealed_and_nonsense_is_not_taken_for_one() -> None:
    from gnomon.ports.kubernetes_object import digest

    nonsense = {"cursor": "soon"}
    assert isinstance(
        read_status({**nonsense, "seal": f"1:{digest(nonsense, 'u')}"}, "u"), Unsealed
    )


@clause("OPERATOR-4")
def test_there_is_no_status_before_the_first() -> None:
    assert read_status(None, "u") is None
    assert read_status({}, "u") is None


@clause("OPERATOR-4")
def test_the_largest_status_fits_well_into_what_a_server_takes() -> None:
    status = replace(
        a_status(), opened=[Opened(AT - n, AT, "a" * 64) for n in range(1000)],
        ahead=[AT + n for n in range(500)],
        active=[Active("n" * 57, "u" * 36, AT + n) for n in range(100)],
        recent=[
            Record(AT, Outcome.EXECUTED, AT, "r" * 60, AT, "a" * 64, "n" * 57, "u" * 36,
                   "Completed", "Succeeded", AT)
        ] * 100,
    )  # fmt: skip

    assert len(json.dumps(write_status(status, "u"))) < 400_000


@clause("OPERATOR-5")
def test_an_end_is_recorded_once() -> None:
    once = end_runs(a_status(), {"uid-0": (Result.SUCCEEDED, "", AT + 5)})
    again = end_runs(once, {"uid-0": (Result.DELETED, "", AT + 9)})

    assert once.kept.executed == again.kept.executed
    assert isinstance(again.kept.executed, Record)
    assert (again.kept.executed.phase, again.kept.executed.result) == ("Completed", "Succeeded")


@clause("OPERATOR-4")
def test_ranges_that_follow_each_other_become_one() -> None:
    status = replace(a_status(), recent=())
    ranges: list[Entry] = [
        Range(AT, AT + 60, 2, Outcome.MISSED, AT, "deadline"),
        Range(AT + 120, AT + 600, 9, Outcome.MISSED, AT, "deadline"),
        Range(AT + 660, AT + 720, 2, Outcome.SKIPPED, AT, "catchup_limit"),
    ]

    recent = add_entries(status, ranges, records_max=20).recent

    assert [(one.first, one.last, one.size) for one in recent if isinstance(one, Range)] == [
        (AT + 660, AT + 720, 2), (AT, AT + 600, 11),
    ]  # fmt: skip
