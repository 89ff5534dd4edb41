"""
The judge, on small histories written by hand: it complains about what is wrong, and only then.

The schedule is every 30 seconds from 00:00:00 to 00:01:00 on 2026-03-01: three periods.
"""

from dataclasses import replace

import pytest

from gnomon.simulation.ledger.judge import judge
from gnomon.simulation.ledger.record import Effect, Grant, Paused, Record, Row, Seen
from tests.clauses import clause

FIRST, SECOND, THIRD = 1_772_323_200, 1_772_323_230, 1_772_323_260
SCHEDULE: dict[str, object] = {
    "schedule_id": "s1", "every": "30s", "anchor": "2026-03-01T00:00:00Z",
    "end_at": "2026-03-01T00:01:00Z", "overlap_policy": "skip", "catchup_policy": "latest",
    "deadline": "5s", "pause_rule": "skip", "uncertain": "restart", "lease": "10s",
    "launches_max": 3,
}  # fmt: skip


def row(nominal: int, outcome: str | None = "executed", reason: str | None = None) -> Row:
    state = "done" if outcome else "claimed"
    return Row("s1", f"k{nominal}", nominal, 0, 1, state, outcome, reason, 1, 1)


def grant(nominal: int, *, no: int, fence: int = 1, late_ms: int = 0, worker: str = "w1") -> Grant:
    given_ms = nominal * 1000 + late_ms
    return Grant(
        schedule_id="s1", nominal=nominal, key=f"k{nominal}", fence=fence, launches=fence,
        worker=worker, no=no, given_ms=given_ms, shown_ms=given_ms, lease_ms=10_000,
        until_ms=given_ms + 10_000,
    )  # fmt: skip


def effect(nominal: int, *, no: int, fence: int = 1, worker: str = "w1", late_ms: int = 0,
           length_ms: int = 1_000) -> Effect:  # fmt: skip
    began = (nominal - FIRST) * 1000 + late_ms
    return Effect(
        schedule_id="s1", nominal=nominal, key=f"k{nominal}", launches=fence, fence=fence,
        worker=worker, run_id=f"r{no}", no=no, began_at=began, began_ms=FIRST * 1000 + began,
        ended_at=began + length_ms, success=True, how="by itself",
    )  # fmt: skip


def good_history() -> tuple[Record, list[Row]]:
    record = Record(saved_ms={"s1": FIRST * 1000}, is_disturbed=True)
    rows = []
    for number, nominal in enumerate((FIRST, SECOND, THIRD)):
        record.grants.append(grant(nominal, no=10 * number + 1))
        record.effects.append(effect(nominal, no=10 * number + 2))
        rows.append(row(nominal))
    record.grants[-1].is_closed = True
    return record, rows


def codes(record: Record, rows: list[Row], **changed: object) -> list[str]:
    record.unheard |= {row.key for row in rows}  # what workers tell is judged in test_telling
    return [complaint.code for complaint in judge([SCHEDULE | changed], record, rows)]


@clause("SIM-4")
def test_a_history_in_which_everything_ran_once_is_good() -> None:
    assert codes(*good_history()) == []


@clause("SIM-5")
def test_a_period_without_a_row_is_lost() -> None:
    record, rows = good_history()
    record.effects.pop()

    assert codes(record, rows[:-1]) == ["lost"]


@clause("SIM-5")
def test_a_period_without_an_outcome_is_lost() -> None:
    record, rows = good_history()
    rows[-1] = row(THIRD, None)

    assert codes(record, rows) == ["lost"]


@clause("SIM-5")
def test_a_period_with_a_row_of_its_own_and_in_a_range_is_there_twice() -> None:
    record, rows = good_history()
    rows.append(Row("s1", "range", THIRD, THIRD, 1, "done", "missed", "outage", 0, 0))

    assert "twice" in codes(record, rows)


@clause("SIM-5")
def test_a_range_that_counts_one_period_too_many_is_found() -> None:
    record, rows = good_history()
    del record.effects[:2]
    whole = Row("s1", "range", FIRST, SECOND, 3, "done", "missed", "outage", 0, 0)

    assert codes(record, [whole, rows[-1]]) == ["stray"]


@clause("SIM-6")
def test_a_start_again_that_nothing_explains_is_a_duplicate() -> None:
    record, rows = good_history()
    record.grants.append(grant(THIRD, no=31, fence=2, late_ms=2_000))
    record.effects.append(effect(THIRD, no=32, fence=2, late_ms=2_000))

    assert codes(record, rows) == ["duplicated"]


@clause("SIM-6")
def test_a_start_again_after_the_lease_is_allowed_and_counted() -> None:
    record, rows = good_history()
    record.grants.append(grant(THIRD, no=31, fence=2, late_ms=10_001))
    record.effects.append(effect(THIRD, no=32, fence=2, late_ms=10_001))

    assert codes(record, rows) == []
    assert record.counters["started again, as restart allows"] == 1


@clause("SIM-6")
def test_a_second_start_under_abandon_is_a_duplicate_whatever_happened() -> None:
    record, rows = good_history()
    record.grants.append(grant(THIRD, no=31, fence=2, late_ms=10_001))
    record.effects.append(effect(THIRD, no=32, fence=2, late_ms=10_001))

    assert codes(record, rows, uncertain="abandon") == ["duplicated"]


@clause("SIM-7")
def test_two_runs_at_once_break_the_rule_unless_it_allows_them() -> None:
    record, rows = good_history()
    record.effects[1].ended_at = 70_000
    record.grants[1].until_ms = THIRD * 1000 + 5_000

    assert codes(record, rows) == ["overlap"]
    assert codes(record, rows, overlap_policy="allow") == []


@clause("SIM-7")
@pytest.mark.parametrize(("turned_no", "expected"), [(15, ["overlap"]), (22, [])])
def test_where_runs_come_to_replace_each_other_those_in_flight_may_still_overlap(
    turned_no: int, expected: list[str]
) -> None:
    record, rows = good_history()
    record.effects[1].ended_at = 70_000
    record.grants[1].until_ms = THIRD * 1000 + 5_000
    record.turned["s1"] = turned_no  # the last was claimed at 21

    assert codes(record, rows, overlap_policy="allow") == expected


@clause("SIM-7")
def test_a_run_beside_one_whose_lease_was_over_is_no_overlap() -> None:
    record, rows = good_history()
    record.effects[1].ended_at = 70_000

    assert codes(record, rows) == []
    assert record.counters["ran beside a run whose lease was over"] == 1


@clause("SIM-7")
def test_what_began_without_a_claim_is_found() -> None:
    record, rows = good_history()
    record.grants[1] = replace(record.grants[1], no=99)

    assert codes(record, rows) == ["unclaimed"]


@clause("SIM-7")
@pytest.mark.parametrize(
    ("outcome", "reason", "began", "expected"),
    [
        ("skipped", "overlap", True, ["outcome"]),
        ("missed", "deadline", True, ["outcome"]),
        ("executed", None, False, ["outcome"]),
        ("skipped", "overlap", False, []),
        ("missed", "deadline", False, []),
        ("skipped", "queue_full", False, ["reason"]),
        ("skipped", "paused", False, ["reason"]),
        ("unschedulable", "constraints", False, ["reason"]),
        ("missed", "outage", False, ["latest"]),
    ],
)
def test_an_outcome_agrees_with_what_happened_and_with_the_settings(
    outcome: str, reason: str | None, began: bool, expected: list[str]
) -> None:
    record, rows = good_history()
    rows[-1] = row(THIRD, outcome, reason)
    if not began:
        record.effects.pop()

    assert codes(record, rows) == expected


@clause("SIM-7")
def test_a_period_in_a_pause_may_be_skipped() -> None:
    record, rows = good_history()
    record.effects.pop()
    record.pauses.append(Paused("s1", SECOND * 1000, None))
    rows[-1] = row(THIRD, "skipped", "paused")

    assert codes(record, rows) == []


@clause("SIM-6")
def test_a_lost_claim_may_be_called_executed_though_it_never_began() -> None:
    record, rows = good_history()
    record.effects.pop()
    record.grants[-1].lost_no = 40
    rows[-1] = row(THIRD, "executed", "uncertain")

    assert codes(record, rows, uncertain="abandon") == []
    assert record.counters["executed for all that anybody knows, and had never begun"] == 1


@clause("SIM-7")
@pytest.mark.parametrize(("late_ms", "expected"), [(5_999, []), (6_000, ["deadline"])])
def test_what_was_claimed_after_its_deadline_is_found(late_ms: int, expected: list[str]) -> None:
    record, rows = good_history()
    record.grants[2] = grant(THIRD, no=21, late_ms=late_ms)

    assert codes(record, rows) == expected


@clause("SIM-7")
def test_what_was_claimed_before_its_window_is_found() -> None:
    record, rows = good_history()
    record.grants[2] = grant(THIRD, no=21, late_ms=-1)

    assert codes(record, rows) == ["early"]


@clause("SIM-7", "ENGINE-6")
@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ["overlap"]),
        ({"until_ms": 0}, ["overlap"]),  # there is no lease that could be over
        ({"settled_no": 9}, []),
        ({"settled_no": 12}, ["overlap"]),
        ({"launches": 3}, []),
    ],
)
def test_what_was_not_answered_is_in_the_way_until_it_is_given_up(
    changed: dict[str, int], expected: list[str]
) -> None:
    record, rows = good_history()
    record.effects[0] = effect(FIRST, no=2, length_ms=40_000)
    record.grants[0].unanswered_no = 3
    for name, value in changed.items():
        setattr(record.grants[0], name, value)

    assert codes(record, rows) == expected


@clause("SIM-7", "ENGINE-6")
@pytest.mark.parametrize(("given_back", "expected"), [(False, []), (True, ["overlap"])])
def test_what_was_asked_again_is_in_the_way_by_its_new_claim_unless_that_was_refused(
    given_back: bool, expected: list[str]
) -> None:
    record, rows = good_history()
    record.effects[0] = effect(FIRST, no=2, length_ms=40_000)
    record.grants[0].unanswered_no = 3
    again = grant(FIRST, no=4, fence=2)
    record.grants.append(replace(again, lost_no=5, is_given_back=given_back))

    assert codes(record, rows) == expected


@clause("SIM-7")
def test_a_late_write_that_was_accepted_is_found() -> None:
    record, rows = good_history()
    record.grants.append(grant(THIRD, no=31, fence=2, late_ms=10_001))
    record.reports.append(Seen(f"k{THIRD}", 1, "Ended", True, 40))

    assert codes(record, rows) == ["fence"]


@clause("SIM-7")
@pytest.mark.parametrize(
    ("lost_no", "number", "expected"),
    [(35, 2, []), (None, 2, ["fence"]), (45, 2, ["fence"]), (35, 3, ["fence"])],
)
def test_a_run_that_was_taken_from_its_worker_and_waits_has_the_next_number(
    lost_no: int | None, number: int, expected: list[str]
) -> None:
    record, rows = good_history()
    record.grants[-1].lost_no = lost_no
    record.reports.append(Seen(f"k{THIRD}", number, "Ended", True, 40))

    assert codes(record, rows) == expected


@clause("SIM-7")
@pytest.mark.parametrize(("ago_ms", "missed"), [(None, 1), (15_001, 1), (15_000, 0)])
def test_where_nothing_goes_wrong_no_claim_is_lost_and_nothing_missed_without_a_strain(
    ago_ms: int | None, missed: int
) -> None:
    record, rows = good_history()
    record.is_disturbed = False
    record.strained_ms = [] if ago_ms is None else [SECOND * 1000 - ago_ms]
    record.grants[0].lost_no = 5
    record.effects.pop(1)
    rows[1] = row(SECOND, "missed", "outage")

    assert codes(record, rows) == ["calm"] * (1 + missed)


@clause("SIM-7")
def test_an_exception_that_came_out_of_a_worker_is_found() -> None:
    record, rows = good_history()
    record.surprises.append("ValueError()")

    assert codes(record, rows) == ["surprise"]


def killed_history(
    *, over_no: int | None = 25, lost_no: int | None = None, tried_again: bool = False
) -> list[str]:
    """The third period was killed at 23, and its row said so at 26; its run was over at 25."""
    record, rows = good_history()
    if tried_again:
        record.grants.append(grant(THIRD, no=22, fence=2))
    rows[-1] = row(THIRD, reason="killed")
    record.killed[f"k{THIRD}"] = 23
    record.effects[-1].ended_no, record.grants[2].lost_no = over_no, lost_no
    fence = record.grants[-1].fence
    record.reports.append(Seen(f"k{THIRD}", fence, "Ended", accepted=True, no=26))
    return codes(record, rows)


@clause("SIM-7")
def test_a_run_that_was_killed_is_over_when_its_row_says_so() -> None:
    assert killed_history() == []
    assert killed_history(over_no=27) == ["killed"]
    assert killed_history(over_no=None) == ["killed"]


@clause("SIM-7")
def test_a_killed_run_may_go_on_under_a_worker_who_has_lost_it_beside_a_further_try() -> None:
    assert killed_history(over_no=27, lost_no=21, tried_again=True) == []
    assert killed_history(over_no=27, lost_no=24) == ["killed"]


@clause("SIM-7")
@pytest.mark.parametrize(
    ("over_no", "given_back", "anybody_ends", "expected"),
    [(25, True, True, []), (27, True, True, ["killed"]), (None, True, True, ["killed"]),
     (27, False, True, []), (27, True, False, [])],
)  # fmt: skip
def test_a_run_is_over_when_a_worker_that_could_end_it_has_said_that_it_was_replaced(
    over_no: int | None, given_back: bool, anybody_ends: bool, expected: list[str]
) -> None:
    record, rows = good_history()
    rows[-1] = row(THIRD, reason="replaced")
    record.anybody_ends = anybody_ends
    record.effects[-1].ended_no = over_no
    record.grants[-1].is_closed, record.grants[-1].unanswered_no = False, 23
    record.grants.append(grant(THIRD, no=24, fence=2))
    record.grants[-1].is_given_back = given_back
    record.reports.append(Seen(f"k{THIRD}", 2, "Failed", accepted=given_back, no=26))

    assert codes(record, rows, overlap_policy="replace") == expected


@clause("SIM-7")
@pytest.mark.parametrize(("leases", "patience_ms"), [([], 100_000), (["9s"], 90_000)])
@pytest.mark.parametrize(("more_ms", "expected"), [(-1, ["reason"]), (0, [])])
def test_a_killed_run_is_given_up_after_ten_leases_and_not_before(
    more_ms: int, expected: list[str], leases: list[str], patience_ms: int
) -> None:
    killed_for_ms = patience_ms + more_ms
    record, rows = good_history()
    record.leases["s1"] = leases
    record.killed[f"k{THIRD}"] = 23
    rows[-1] = row(THIRD, "executed", "uncertain")._replace(killed_for_ms=killed_for_ms)

    assert codes(record, rows) == expected


@clause("SIM-7")
def test_what_was_killed_is_not_claimed_again() -> None:
    record, rows = good_history()
    record.killed[f"k{THIRD}"] = 23
    record.grants[-1].lost_no = 24
    record.grants.append(grant(THIRD, no=31, fence=2, late_ms=20_000))

    assert codes(record, rows) == ["killed"]


@clause("SIM-7")
def test_who_knows_that_a_run_is_to_be_ended_does_not_launch_it() -> None:
    record, rows = good_history()
    place = "w1", f"k{THIRD}", 1
    record.told[place], record.launched[place] = 24, 23
    assert codes(record, rows) == []
    record.launched[place] = 25

    assert codes(record, rows) == ["killed"]
