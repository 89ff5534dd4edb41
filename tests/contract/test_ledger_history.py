"""Every ledger: lists in pages, retention, and what is there after closing and opening again."""

import pytest

from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import State
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


@clause("LEDGER-18")
def test_schedules_come_in_the_order_of_their_ids_in_pages(desk: Desk) -> None:
    for name in ("c", "a", "e", "b", "d"):
        desk.save(name)

    first = desk.do(desk.ledger.schedules(limit=2))
    second = desk.do(desk.ledger.schedules(after=first[-1].schedule.schedule_id, limit=2))
    names = [row.schedule.schedule_id for row in first + second]
    assert names == ["a", "b", "c", "d"]


@clause("LEDGER-18")
def test_a_schedule_says_how_many_of_its_runs_are_in_flight(desk: Desk) -> None:
    desk.claim(overlap_policy="allow", lease="1h")
    desk.turn("00:02:00")

    assert desk.get().in_flight == 2
    assert desk.do(desk.ledger.schedules())[0].in_flight == 2


@clause("LEDGER-18")
def test_every_write_to_a_schedule_raises_its_version(desk: Desk) -> None:
    desk.save()
    before = desk.get()
    desk.turn("00:01:00")

    after = desk.get()
    assert after.version > before.version
    assert (clock(after.updated_ms), clock(after.cursor * 1000)) == ("00:01:00", "00:01:00")


@clause("LEDGER-18")
def test_rows_come_newest_first_in_pages(desk: Desk) -> None:
    desk.save(overlap_policy="allow", lease="1h")
    for now in ("00:01:00", "00:02:00", "00:03:00"):
        desk.turn(now)

    first = desk.do(desk.ledger.runs("report", limit=2))
    second = desk.do(desk.ledger.runs("report", before=first[-1].nominal, limit=2))
    times = [clock(row.nominal * 1000) for row in first + second]
    assert times == ["00:03:00", "00:02:00", "00:01:00"]


@clause("PORT-6")
def test_a_schedule_that_nobody_knows_has_no_rows(desk: Desk) -> None:
    assert desk.do(desk.ledger.runs("nobody")) == []
    assert desk.do(desk.ledger.get("nobody")) is None


@clause("LEDGER-19")
def test_retention_removes_what_ended_before_an_instant(desk: Desk) -> None:
    desk.ended(desk.claim("00:01:00"), "00:01:20")
    (second,) = desk.turn("00:02:00")
    desk.ended(second, "00:02:20")

    assert desk.do(desk.ledger.retain(before_ms=at("00:02:20"), limit=10)) == 1
    assert desk.words() == ["00:02:00 done executed"]


@clause("LEDGER-19")
def test_retention_removes_no_more_than_asked_for_oldest_end_first(desk: Desk) -> None:
    desk.ended(desk.claim("00:01:00"), "00:01:20")
    (second,) = desk.turn("00:02:00")
    desk.ended(second, "00:02:20")

    assert desk.do(desk.ledger.retain(before_ms=at("12:00:00"), limit=1)) == 1
    assert desk.words() == ["00:02:00 done executed"]


@clause("LEDGER-19")
def test_retention_leaves_what_has_not_ended(desk: Desk) -> None:
    desk.claim("00:01:00")

    assert desk.do(desk.ledger.retain(before_ms=at("12:00:00"), limit=10)) == 0
    assert desk.row().state is State.CLAIMED


@clause("LEDGER-19")
def test_retention_leaves_a_period_that_lies_ahead(desk: Desk) -> None:
    """It has run early in its window; who changed the schedule now would find it run already."""
    noon = {"cron_expr": "0 12 * * *", "window": "before,12h", "catchup_policy": "latest"}
    desk.save("report", "00:00:30", **noon)
    (claim,) = desk.turn("11:59:59")
    desk.ended(claim, "11:59:59.500")

    assert desk.do(desk.ledger.retain(before_ms=at("12:00:00"), limit=10)) == 0
    assert desk.do(desk.ledger.retain(before_ms=at("12:00:01"), limit=10)) == 1


@clause("LEDGER-19")
def test_what_retention_removed_is_not_owed_again(desk: Desk) -> None:
    desk.ended(desk.claim("00:01:00"), "00:01:20")
    desk.do(desk.ledger.retain(before_ms=at("12:00:00"), limit=10))

    assert desk.loaded("00:01:59") == []
    assert clock(desk.get().cursor * 1000) == "00:01:00"


@clause("LEDGER-19")
def test_a_deleted_schedule_goes_with_the_last_of_its_rows(desk: Desk) -> None:
    desk.ended(desk.claim("00:01:00"), "00:01:20")
    desk.delete("00:01:30")
    desk.do(desk.ledger.retain(before_ms=at("12:00:00"), limit=10))

    assert desk.words() == []
    desk.save(now="13:00:00")
    assert len(desk.do(desk.ledger.revisions("report"))) == 1


@clause("LEDGER-19", "LEDGER-13")
def test_what_is_saved_under_the_name_of_a_forgotten_schedule_is_never_taken_for_it(
    desk: Desk,
) -> None:
    desk.save(target="old")
    (old,) = desk.load("00:01:00")
    late = plan([old], now_ms=at("00:01:00"))
    desk.delete("00:00:50")
    desk.do(desk.ledger.retain(before_ms=at("12:00:00"), limit=10))
    desk.save(now="13:00:30", target="new")

    (new,) = desk.load("13:01:00")
    assert new.schedule.target == '"new"'
    assert new.revision > old.revision
    assert desk.commit(late, "13:01:00") == []


@clause("LEDGER-20")
@pytest.mark.parametrize("store", ["sqlite-file", "postgres"])
def test_everything_is_there_after_closing_and_opening_again(desk: Desk) -> None:
    claim = desk.claim(lease="1h", target={"run": ["sh", "-c", "true"]})
    desk.launched(claim)
    desk.pause("00:01:30", until="00:09:00")
    schedules, rows = desk.do(desk.ledger.schedules()), desk.rows()

    desk.reopen()
    assert (desk.do(desk.ledger.schedules()), desk.rows()) == (schedules, rows)
    assert desk.wake() == "00:09:00"
    assert desk.ended(claim, "00:10:00")
