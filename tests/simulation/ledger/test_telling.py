"""The judge of what workers tell, on small histories written by hand."""

from dataclasses import replace

import pytest

from gnomon.simulation.ledger.case import Case
from gnomon.simulation.ledger.record import Deleted, Grant, Record, Row, Seen, Settled, ToldLost
from gnomon.simulation.ledger.telling import broken_tellings
from tests.clauses import clause

AT = 1_772_323_200


def row(outcome: str, reason: str | None, *, periods: int = 1) -> Row:
    return Row("s1", "k1", AT, 0, periods, "done", outcome, reason, 0, 0)


def told(outcome: str, reason: str | None, *, periods: int = 1) -> Settled:
    return Settled("s1", "k1", AT, periods, outcome, reason, "w1")


def grant() -> Grant:
    return Grant(
        schedule_id="s1", nominal=AT, key="k1", fence=1, launches=1, worker="w1", no=1, given_ms=0,
        shown_ms=0, lease_ms=1, until_ms=1,
    )  # fmt: skip


def complaints(record: Record, *rows: Row, grants: list[Grant] | None = None) -> int:
    case = Case({"schedule_id": "s1"}, record, list(rows), [], [], grants or [])
    return len(list(broken_tellings(case)))


@clause("SIM-19")
def test_what_was_told_once_and_stands_in_the_ledger_is_right() -> None:
    record = Record(settled=[told("missed", "deadline")])

    assert complaints(record, row("missed", "deadline")) == 0


@clause("SIM-19")
@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("missed", "outage")],
        [row("executed", "deadline")],
        [row("missed", "deadline", periods=2)],
    ],
)
def test_what_was_told_and_does_not_stand_in_the_ledger_is_found(rows: list[Row]) -> None:
    record = Record(settled=[told("missed", "deadline")], unheard={"k1"})

    assert complaints(record, *rows) == 1


@clause("SIM-19")
def test_what_was_told_twice_is_found() -> None:
    record = Record(settled=[told("missed", "deadline"), told("missed", "deadline")])

    assert complaints(record, row("missed", "deadline")) == 2


@clause("SIM-19")
@pytest.mark.parametrize(("unheard", "expected"), [(set[str](), 1), ({"k1"}, 0)])
def test_what_was_decided_and_not_told_is_found_unless_the_answer_was_lost(
    unheard: set[str], expected: int
) -> None:
    assert complaints(Record(unheard=unheard), row("skipped", "overlap")) == expected


@clause("SIM-19")
@pytest.mark.parametrize(
    ("is_deleted", "ended", "waits", "expected"),
    [
        (True, False, False, 1),
        (True, True, False, 0),
        (True, False, True, 0),
        (False, False, False, 0),
    ],
)
def test_a_lost_run_of_a_deleted_schedule_is_told_of_unless_it_waited(
    is_deleted: bool, ended: bool, waits: bool, expected: int
) -> None:
    record = Record(grants=[replace(grant(), waits=waits)])
    if is_deleted:
        record.deleted["s1"] = Deleted(AT * 1000, 2)
    if ended:
        record.reports.append(Seen("k1", 1, "Ended", accepted=True, no=3))

    assert complaints(record, row("executed", "uncertain")) == expected


@clause("SIM-23")
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], 1),
        ([{"lost_no": 4}], 0),
        ([{"lost_no": 6}], 1),
        ([{}, {"fence": 2, "worker": "w2", "no": 3}], 0),
        ([{}, {"fence": 2, "worker": "w2", "no": 6}], 1),
        ([{}, {"key": "k2", "fence": 2, "worker": "w2", "no": 3}], 1),
    ],
)
def test_a_loss_that_was_told_needs_a_taker_or_a_judgement_before(
    changes: list[dict[str, object]], expected: int
) -> None:
    record = Record(lost=[ToldLost("w1", "k1", 1, no=5)])
    grants = [replace(grant(), **one) for one in changes or [{}]]  # type: ignore[arg-type]

    assert complaints(record, grants=grants) == expected


@clause("SIM-23")
def test_a_loss_is_judged_with_the_claims_of_its_schedule() -> None:
    record = Record(lost=[ToldLost("w1", "k1", 1, no=5)])

    assert complaints(record, grants=[replace(grant(), key="k2")]) == 0
