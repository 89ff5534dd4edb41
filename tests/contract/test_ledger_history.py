"""Every ledger: lists in pages, retention, and what is there after closing and opening again."""

import pytest

from gnomon.core.engine import plan
from gnomon.core.ledger.lifecycle import State
from gnomon.ports import Ended, RunRow
from gnomon.ports.ledger_rows import RunsOnly, RunsPlace
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


def _told(desk: Desk, only: RunsOnly, size: int) -> list[RunRow]:
    """The runs that are found, in pages of this size."""
    found: list[RunRow] = []
    after = None
    while page := desk.do(desk.ledger.find_runs(only, after=after, limit=size)):
        found += page
        last, is_open = page[-1], page[-1].ended_ms is None
        at_place = last.nominal if is_open else last.ended_ms
        assert at_place is not None
        after = RunsPlace(is_open, at_place, last.key)
    return found


def _many_runs(desk: Desk) -> None:
    """Runs of three users: over at various times, waiting and in flight."""
    for number, user in enumerate(("anna", "bert", "carl", "anna")):
        target = {"workflow_id": f"w{number % 2}", "version": 1, "user_id": user}
        desk.save(f"s{number}", overlap_policy="allow", lease="1h", target=target)
    for minute in range(1, 5):
        claims = desk.turn(f"00:0{minute}:00")
        for number, claim in enumerate(claims[: minute + 1]):
            seconds = f"00:0{minute}:{10 * number + 5:02d}"
            desk.ended(claim, seconds, success=number % 2 == 0)
    desk.do(desk.ledger.delete("s3", now_ms=at("00:05:00")))
    desk.do(desk.ledger.trigger("s1", name="now", now_ms=at("00:05:00")))


FILTERS: list[dict[str, object]] = [
    {}, {"user_id": "anna"}, {"workflow_id": "w1"}, {"user_id": "anna", "workflow_id": "w1"},
    {"status": "FAILED"}, {"status": "STARTED"}, {"state": "planned"}, {"state": "done"},
    {"outcome": "executed"}, {"reason": "failed"}, {"user_id": "nobody"},
    {"since_ms": at("00:03:00")}, {"until_ms": at("00:03:00")},
    {"since_ms": at("00:02:05"), "until_ms": at("00:03:15")},
    {"user_id": "bert", "status": "FAILED"},
]  # fmt: skip


@clause("LEDGER-40")
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_runs_of_all_schedules_are_found_as_a_look_at_every_row_finds_them(
    desk: Desk, size: int
) -> None:
    _many_runs(desk)
    users = ("anna", "bert", "carl", "anna")
    owners = {f"s{number}": (user, f"w{number % 2}") for number, user in enumerate(users)}
    rows = [row for name in owners for row in desk.do(desk.ledger.runs(name, limit=1000))]
    assert len(rows) > 12
    for given in FILTERS:
        only = RunsOnly(**({"since_ms": 0} | given))  # type: ignore[arg-type]
        wanted = [
            row for row in rows
            if only.user_id in (None, owners[row.schedule_id][0])
            and only.workflow_id in (None, owners[row.schedule_id][1])
            and only.state in (None, row.state) and only.status in (None, row.status)
            and only.outcome in (None, row.outcome) and only.reason in (None, row.reason)
            and (row.ended_ms is not None or only.until_ms is None)
            and (row.ended_ms is None or row.ended_ms >= only.since_ms)
            and (row.ended_ms is None or only.until_ms is None or row.ended_ms < only.until_ms)
        ]  # fmt: skip
        ended = sorted((row for row in wanted if row.ended_ms is not None),
                       key=lambda row: (row.ended_ms, row.key), reverse=True)  # fmt: skip
        waiting = sorted((row for row in wanted if row.ended_ms is None),
                         key=lambda row: (row.nominal, row.key), reverse=True)  # fmt: skip

        keys = [row.key for row in _told(desk, only, size)]
        assert keys == [row.key for row in waiting + ended], given


@clause("LEDGER-40", "HTTP-40")
def test_what_ends_between_two_pages_takes_no_other_run_out_of_them(desk: Desk) -> None:
    _many_runs(desk)
    only = RunsOnly(since_ms=0)
    before = _told(desk, only, 100)
    page = desk.do(desk.ledger.find_runs(only, limit=1))
    place = RunsPlace(True, page[0].nominal, page[0].key)
    for row in before:
        if row.state is State.CLAIMED:
            desk.report(Ended(row.key, row.fence, True, "late"), now="00:06:00")
    rest = desk.do(desk.ledger.find_runs(only, after=place, limit=100))

    over = [row.key for row in before if row.ended_ms is not None]
    assert [row.key for row in rest if row.key in over] == over
    assert {row.key for row in before} <= {row.key for row in [*page, *rest]}


@clause("PORT-6")
def test_a_schedule_that_the_ledger_does_not_know_has_no_rows(desk: Desk) -> None:
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
