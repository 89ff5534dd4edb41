"""Every ledger: runs by hand, backfills, periods left out, and runs that are ended on request."""

import pytest

from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.core.ledger.period import Kind, period_key
from gnomon.ports import By, RunRow
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


def asked(desk: Desk, now: str, name: str = "one", schedule: str = "report") -> RunRow:
    row = desk.do(desk.ledger.trigger(schedule, name=name, now_ms=at(now)))
    assert row is not None
    return row


def backfilled(desk: Desk, now: str, *times: str, name: str = "again") -> int | None:
    nominals = [at(time) // 1000 for time in times]
    return desk.do(desk.ledger.backfill("report", name=name, nominals=nominals, now_ms=at(now)))


def skipped(desk: Desk, now: str) -> str | None:
    nominal = desk.do(desk.ledger.skip_next("report", now_ms=at(now)))
    return None if nominal is None else clock(nominal * 1000)


@clause("ASK-1")
def test_a_run_by_hand_starts_and_moves_no_period(desk: Desk) -> None:
    desk.save()
    before = desk.get().cursor
    row = asked(desk, "00:00:40.500")

    [claim] = desk.turn("00:00:40.600")

    assert (row.key, row.kind, clock(row.fire_ms)) == (
        "manual:report:one", Kind.MANUAL, "00:00:40.500",
    )  # fmt: skip
    assert (claim.key, clock(claim.nominal * 1000)) == ("manual:report:one", "00:00:40")
    assert desk.get().cursor == before
    assert desk.wake() == "00:01:00"
    desk.ended(claim, "00:00:50")
    assert [one.key for one in desk.turn("00:01:00")] == [
        period_key("report", at("00:01:00") // 1000)
    ]
    assert desk.words() == ["00:00:40 done executed", "00:01:00 claimed -"]


@clause("ASK-2")
def test_asking_again_under_a_name_asks_for_nothing_new(desk: Desk) -> None:
    desk.save()
    desk.save("other")
    asked(desk, "00:00:40")
    [claim] = desk.turn("00:00:40")
    desk.ended(claim, "00:00:45")

    again = asked(desk, "00:00:50")

    assert (again.state, again.status, clock(again.fire_ms)) == (
        State.DONE, Status.SUCCESS, "00:00:40",
    )  # fmt: skip
    assert desk.turn("00:00:50") == []
    assert asked(desk, "00:00:50", name="two").state is State.PLANNED
    assert asked(desk, "00:00:50", schedule="other").state is State.PLANNED


@clause("ASK-1", "ASK-2")
def test_nothing_can_be_asked_of_what_is_not_there(desk: Desk) -> None:
    desk.save()
    desk.delete("00:00:40")
    for name in ("report", "nobody"):
        ledger = desk.ledger
        assert desk.do(ledger.trigger(name, name="one", now_ms=at("00:01:00"))) is None
        assert desk.do(ledger.backfill(name, name="b", nominals=[1], now_ms=at("00:01:00"))) is None
        assert desk.do(ledger.skip_next(name, now_ms=at("00:01:00"))) is None
    assert desk.do(desk.ledger.kill("nothing", by=By("anna"), now_ms=at("00:01:00"))) is None
    assert desk.do(desk.ledger.run("nothing")) is None


@clause("ASK-3")
def test_a_run_by_hand_counts_as_in_flight(desk: Desk) -> None:
    desk.save()
    asked(desk, "00:00:40")
    [claim] = desk.turn("00:00:40")
    desk.launched(claim, "00:00:41")

    assert desk.turn("00:01:00") == []
    assert desk.get().in_flight == 1
    assert desk.words() == ["00:00:40 running executed", "00:01:00 done skipped(overlap)"]


@clause("ASK-4")
def test_a_run_by_hand_starts_in_a_pause(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:35")
    asked(desk, "00:00:40")

    assert desk.wake() == "00:00:40"
    [claim] = desk.turn("00:00:40")
    assert claim.key == "manual:report:one"
    desk.ended(claim, "00:00:50")
    assert desk.wake() is None
    assert desk.turn("00:02:00") == []


@clause("ASK-4")
@pytest.mark.parametrize("until", [None, "00:10:00"])
def test_a_pause_after_the_request_does_not_hold_it_back(desk: Desk, until: str | None) -> None:
    desk.save()
    asked(desk, "00:00:40")
    desk.pause("00:00:41", until=until)

    assert desk.wake() == "00:00:41"
    assert [claim.key for claim in desk.turn("00:00:41")] == ["manual:report:one"]
    assert desk.wake() == "00:01:41.001"  # when the lease is over


@clause("ASK-4")
def test_saving_a_paused_schedule_does_not_hold_back_what_was_asked_for(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:35")
    asked(desk, "00:00:40")
    desk.save("report", "00:00:45", deadline="5m")

    assert [claim.key for claim in desk.turn("00:00:45")] == ["manual:report:one"]


@clause("ASK-4")
def test_a_launch_by_hand_that_failed_is_tried_again(desk: Desk) -> None:
    desk.save(launch_backoff="5s", deadline="0s")
    asked(desk, "00:00:40")
    [claim] = desk.turn("00:00:40")
    desk.failed(claim, "00:00:41")

    assert desk.wake() == "00:00:46"
    [again] = desk.turn("00:00:46")
    assert (again.key, again.launches, again.fence) == (claim.key, 2, 2)


@clause("ASK-5")
def test_a_backfill_runs_oldest_first_one_after_the_other(desk: Desk) -> None:
    desk.save(now="00:10:30")
    assert backfilled(desk, "00:10:40", "00:03:00", "00:01:00", "00:02:00", "00:02:00") == 3

    order = []
    for now in ("00:10:40", "00:10:41", "00:10:42"):
        [claim] = desk.turn(now)
        assert desk.turn(now) == []
        desk.ended(claim, now)
        order.append(clock(claim.nominal * 1000))

    assert order == ["00:01:00", "00:02:00", "00:03:00"]
    assert desk.turn("00:10:43") == []
    assert desk.wake() == "00:11:00"


@clause("ASK-5")
def test_while_a_launch_of_a_backfill_waits_for_its_next_try_another_one_of_it_begins(
    desk: Desk,
) -> None:
    desk.save("report", "00:10:30", launch_backoff="30s")
    backfilled(desk, "00:10:40", "00:03:00", "00:04:00")
    [first] = desk.turn("00:10:40")
    desk.failed(first, "00:10:41")

    assert desk.wake() == "00:10:41"
    [second] = desk.turn("00:10:41")
    assert second.key == f"backfill:report:again:{at('00:04:00') // 1000}"


@clause("ASK-5")
def test_a_backfill_and_periods_do_not_keep_each_other_from_running(desk: Desk) -> None:
    desk.save(now="00:10:30")
    backfilled(desk, "00:10:40", "00:03:00", "00:04:00")
    [first] = desk.turn("00:10:40")

    [period] = desk.turn("00:11:00")

    assert clock(period.nominal * 1000) == "00:11:00"
    desk.ended(first, "00:11:10")
    [second] = desk.turn("00:11:10")
    assert second.key == f"backfill:report:again:{at('00:04:00') // 1000}"


@clause("ASK-5")
def test_ten_of_a_backfill_run_at_a_time_where_overlap_is_allowed(desk: Desk) -> None:
    desk.save(now="00:30:30", overlap_policy="allow")
    backfilled(desk, "00:30:40", *(f"00:{minute:02d}:00" for minute in range(1, 15)))

    claims = desk.turn("00:30:40")
    assert len(claims) == 10
    desk.ended(claims[3], "00:30:45")
    [more] = desk.turn("00:30:45")
    assert clock(more.nominal * 1000) == "00:11:00"


@clause("ASK-2")
def test_a_backfill_of_the_same_name_adds_only_what_is_new(desk: Desk) -> None:
    desk.save(now="00:10:30")

    assert backfilled(desk, "00:10:40", "00:01:00", "00:02:00") == 2
    assert backfilled(desk, "00:10:41", "00:02:00", "00:03:00") == 1
    assert backfilled(desk, "00:10:42", "00:02:00", name="other") == 1


@clause("ASK-6")
def test_a_pause_holds_a_backfill_back(desk: Desk) -> None:
    desk.save(now="00:10:30")
    backfilled(desk, "00:10:40", "00:01:00")
    desk.pause("00:10:40")

    assert desk.turn("00:10:41") == []
    desk.resume("00:10:50")
    [claim] = desk.turn("00:10:50")
    assert claim.key.startswith("backfill:")


@clause("ASK-6")
def test_deleting_skips_what_was_asked_for(desk: Desk) -> None:
    desk.save(now="00:10:30")
    backfilled(desk, "00:10:40", "00:01:00")
    asked(desk, "00:10:40")
    desk.delete("00:10:41")

    asked_for = [row for row in desk.rows() if row.kind in (Kind.MANUAL, Kind.BACKFILL)]
    assert [(row.outcome, row.reason) for row in asked_for] == [
        (Outcome.SKIPPED, Reason.DELETED), (Outcome.SKIPPED, Reason.DELETED),
    ]  # fmt: skip


@clause("ASK-6")
def test_the_end_of_a_backfill_wakes_no_schedule_that_is_gone(desk: Desk) -> None:
    desk.save(now="00:10:30")
    backfilled(desk, "00:10:40", "00:01:00", "00:02:00")
    [claim] = desk.turn("00:10:40")
    desk.delete("00:10:41")

    assert desk.ended(claim, "00:10:42")
    assert desk.wake() is None
    assert desk.loaded("00:20:00") == []


@clause("ASK-7")
def test_the_next_period_is_left_out_and_no_other(desk: Desk) -> None:
    desk.save()

    assert skipped(desk, "00:00:40") == "00:01:00"
    assert desk.get().skips == (at("00:01:00") // 1000,)
    assert desk.turn("00:01:00") == []
    [claim] = desk.turn("00:02:00")
    assert clock(claim.nominal * 1000) == "00:02:00"
    assert desk.words() == ["00:01:00 done skipped(requested)", "00:02:00 claimed -"]
    assert desk.get().skips == ()


@clause("ASK-7")
def test_asking_twice_leaves_out_two(desk: Desk) -> None:
    desk.save()

    assert [skipped(desk, "00:00:40"), skipped(desk, "00:00:41")] == ["00:01:00", "00:02:00"]
    assert desk.turn("00:01:00") == []
    assert desk.turn("00:02:00") == []
    assert len(desk.turn("00:03:00")) == 1


@clause("ASK-7")
def test_a_period_that_is_open_and_lies_ahead_is_left_out_at_once(desk: Desk) -> None:
    desk.save(now="00:55:00", cron_expr="0 * * * *", window="after,50m")
    desk.turn("01:00:00")
    assert desk.words() == ["01:00:00 planned -"]

    assert skipped(desk, "01:00:01") == "01:00:00"
    assert desk.words() == ["01:00:00 done skipped(requested)"]
    assert desk.turn("01:59:59") == []


@clause("ASK-7")
def test_an_edit_does_not_bring_back_what_was_left_out(desk: Desk) -> None:
    desk.save(cron_expr="*/5 * * * *")
    assert skipped(desk, "00:00:40") == "00:05:00"
    desk.save("report", "00:01:30", cron_expr="* * * * *")

    for minute in (2, 3, 4, 5, 6):
        for claim in desk.turn(f"00:0{minute}:00"):
            desk.ended(claim, f"00:0{minute}:01")

    assert [line.split()[2] for line in desk.words()] == [
        "executed", "executed", "executed", "skipped(requested)", "executed",
    ]  # fmt: skip


@clause("ASK-7")
def test_a_schedule_that_never_comes_again_has_nothing_to_leave_out(desk: Desk) -> None:
    desk.save(cron_expr=None, once="2026-03-01T00:01:00Z")

    assert skipped(desk, "00:00:40") == "00:01:00"
    assert skipped(desk, "00:00:41") is None


@clause("LEDGER-18")
def test_a_page_may_end_among_rows_of_one_instant(desk: Desk) -> None:
    desk.save(now="00:10:30")
    for name in ("a", "b", "c"):
        backfilled(desk, "00:10:40", "00:01:00", "00:02:00", name=name)

    seen: list[str] = []
    before, key = None, ""
    while page := desk.do(desk.ledger.runs("report", before=before, before_key=key, limit=2)):
        seen += [row.key for row in page]
        before, key = page[-1].nominal, page[-1].key

    assert len(seen) == len(set(seen)) == 6
    assert seen == [row.key for row in desk.rows()][::-1]


@clause("ASK-31")
def test_what_a_run_by_hand_is_given_is_kept_and_given_once(desk: Desk) -> None:
    desk.save()
    text = '{"day":"\u00e9"}'
    ask = desk.ledger.trigger
    first = desk.do(ask("report", name="one", now_ms=at("00:00:40"), params=text))
    again = desk.do(ask("report", name="one", now_ms=at("00:00:41"), params='{"other":1}'))
    plain = desk.do(ask("report", name="two", now_ms=at("00:00:42")))
    late = desk.do(ask("report", name="two", now_ms=at("00:00:43"), params=text))
    desk.turn("00:00:45")

    runs = [run for run in (first, again, plain, late) if run is not None]
    assert [run.params for run in runs] == [text, text, None, None]
    kept = desk.do(desk.ledger.run(runs[0].key))
    assert kept is not None
    assert (kept.state, kept.params) == ("claimed", text)
