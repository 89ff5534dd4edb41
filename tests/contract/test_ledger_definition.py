"""Every ledger: definitions are saved, paused, resumed and deleted."""

import pytest

from gnomon.core.engine import Pause
from gnomon.core.ledger.lifecycle import Status
from gnomon.ports import Saved
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock, minutely


@clause("LEDGER-13")
def test_saving_says_when_the_schedule_is_next_nominal(desk: Desk) -> None:
    saved = desk.save(now="00:00:30")

    assert saved == Saved("report", 1, changed=True, next_nominal=at("00:01:00") // 1000)


@clause("LEDGER-13")
def test_saving_an_equal_definition_changes_nothing(desk: Desk) -> None:
    desk.save(now="00:00:30", target={"run": "x"})
    before = desk.get()

    saved = desk.save(now="00:05:00", target={"run": "x"})
    assert (saved.revision, saved.changed) == (1, False)
    assert desk.get() == before


@clause("LEDGER-13")
def test_saving_a_changed_definition_is_a_new_revision(desk: Desk) -> None:
    desk.save(now="00:00:30")

    saved = desk.save(now="00:01:30", cron_expr="*/5 * * * *")
    assert (saved.revision, saved.changed) == (2, True)
    row = desk.get()
    assert row.schedule == minutely(cron_expr="*/5 * * * *")
    assert (clock(row.wake_ms), clock(row.created_ms)) == ("00:05:00", "00:00:30")


@clause("LEDGER-26")
@pytest.mark.parametrize(("now", "first"), [("00:01:00", "00:01:00"), ("00:01:00.001", "00:02:00")])
def test_a_period_at_the_instant_of_saving_is_owed_and_none_before(
    desk: Desk, now: str, first: str
) -> None:
    desk.save(now=now)

    assert desk.wake() == first


@clause("LEDGER-26")
def test_an_edit_withdraws_what_no_worker_had_come_to(desk: Desk) -> None:
    desk.save(now="00:00:30")

    desk.save(now="00:04:30", cron_expr="*/5 * * * *")
    assert desk.words() == ["00:01:00 to 00:04:00 done skipped(withdrawn)"]
    assert (desk.rows()[0].periods, desk.rows()[0].revision) == (4, 1)
    assert clock(desk.get().cursor * 1000) == "00:04:00"


@clause("LEDGER-26")
def test_an_edit_never_moves_the_cursor_back(desk: Desk) -> None:
    desk.save(cron_expr="0 * * * *", window="around,20m", now="00:30:00")
    desk.turn("00:51:00")

    desk.save(now="00:52:00")
    assert clock(desk.get().cursor * 1000) == "01:00:00"


@clause("LEDGER-26")
def test_an_edit_leaves_no_period_of_the_new_definition_without_a_row(desk: Desk) -> None:
    desk.save(cron_expr="0 * * * *", window="around,20m", now="00:30:00")
    desk.turn("00:51:00")

    desk.save(cron_expr="*/3 * * * *", now="00:52:30")
    withdrawn = ["00:54:00 to 00:57:00 done skipped(withdrawn)", "01:00:00 planned -"]
    assert desk.words() == withdrawn
    desk.save(cron_expr="*/6 * * * *", now="00:53:00")
    assert desk.words() == withdrawn
    desk.save(cron_expr="58,59 * * * *", now="00:53:30")
    assert desk.words()[1] == "00:58:00 to 00:59:00 done skipped(withdrawn)"


@clause("LEDGER-26")
def test_what_corrects_a_definition_of_a_clock_that_was_ahead_is_in_force_at_once(
    desk: Desk,
) -> None:
    desk.save(cron_expr="0 0 1 1 *", now="01:00:00")
    desk.save(cron_expr="* * * * *", now="00:00:30")

    assert [clock(claim.fire_ms) for claim in desk.turn("00:01:00")] == ["00:01:00"]
    assert [clock(one.effective_ms) for one in desk.do(desk.ledger.revisions("report"))] == [
        "00:00:30",
        "01:00:00",
    ]


@clause("ENGINE-9")
def test_a_period_of_an_edited_window_does_not_run_before_the_edit(desk: Desk) -> None:
    desk.save(cron_expr="0 * * * *", now="00:30:00")
    desk.save(cron_expr="0 * * * *", window="before,40m", now="00:50:00", salt="x")

    (due,) = desk.load("00:50:00")
    assert clock(due.effective_ms) == "00:50:00"
    desk.turn("00:50:00")
    assert desk.rows()[0].fire_ms >= at("00:50:00")


@clause("LEDGER-26")
def test_what_waits_when_a_schedule_is_edited_is_looked_at_at_once(desk: Desk) -> None:
    desk.save(cron_expr="0 * * * *", window="around,20m", now="00:30:00")
    desk.turn("00:51:00")

    desk.save(cron_expr="0 * * * *", now="00:51:30")
    assert desk.wake() == "00:51:30"
    assert len(desk.load("00:51:30")[0].waiting) == 1


@clause("LEDGER-26")
def test_rows_keep_the_revision_they_were_planned_under(desk: Desk) -> None:
    desk.claim(overlap_policy="allow")
    desk.save(now="00:01:30", overlap_policy="allow", target="new")
    desk.turn("00:02:00")

    assert [row.revision for row in desk.rows()] == [1, 2]


@clause("LEDGER-15")
def test_a_pause_stops_everything_until_its_end(desk: Desk) -> None:
    desk.save()

    assert desk.pause("00:00:40", until="00:05:00")
    row = desk.get()
    assert (row.pause, row.pause_reason) == (Pause(at("00:05:00")), "holidays")
    assert (desk.wake(), desk.loaded("00:04:59")) == ("00:05:00", [])


@clause("LEDGER-15")
def test_a_pause_until_further_notice_is_looked_at_never(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:40")

    assert (desk.wake(), desk.get().pause) == (None, Pause(None))


@clause("LEDGER-15")
def test_when_a_pause_is_over_what_fell_into_it_is_one_range(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:40", until="00:03:30")

    desk.turn("00:03:30")
    assert desk.words() == ["00:01:00 to 00:03:00 done skipped(paused)"]
    assert (desk.get().pause, desk.get().pause_reason) == (None, "")
    assert desk.wake() == "00:04:00"


@clause("LEDGER-15")
def test_resuming_ends_a_pause_now(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:40")

    assert desk.resume("00:02:30")
    assert desk.wake() == "00:02:30"
    desk.turn("00:02:30")
    assert desk.words() == ["00:01:00 to 00:02:00 done skipped(paused)"]
    assert desk.get().pause is None


@clause("LEDGER-15")
def test_resuming_late_does_not_make_a_pause_longer(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:40", until="00:02:30")
    desk.resume("00:05:30")

    assert desk.get().pause == Pause(at("00:02:30"))


@clause("LEDGER-15")
def test_resuming_what_is_not_paused_changes_nothing(desk: Desk) -> None:
    desk.save()
    before = desk.get()

    assert desk.resume("00:00:50")
    assert desk.get() == before


@clause("LEDGER-15")
def test_an_edit_keeps_the_pause(desk: Desk) -> None:
    desk.save()
    desk.pause("00:00:40", until="00:05:00")
    desk.save(now="00:00:50", target="new")

    assert desk.get().pause == Pause(at("00:05:00"))
    assert desk.wake() == "00:05:00"


@clause("LEDGER-15")
def test_a_run_in_flight_may_end_during_a_pause(desk: Desk) -> None:
    claim = desk.claim()
    desk.pause("00:01:10")

    assert desk.ended(claim)


@clause("LEDGER-16")
def test_a_deleted_schedule_is_gone_and_its_history_is_not(desk: Desk) -> None:
    desk.ended(desk.claim())

    assert desk.delete("00:01:30")
    assert desk.do(desk.ledger.get("report")) is None
    assert desk.do(desk.ledger.schedules()) == []
    assert (desk.wake(), desk.loaded("12:00:00")) == (None, [])
    assert desk.words() == ["00:01:00 done executed"]


@clause("LEDGER-16")
def test_deleting_settles_what_waits_and_what_no_worker_had_come_to(desk: Desk) -> None:
    desk.claim(overlap_policy="queue", lease="1h")
    desk.turn("00:02:00")

    desk.delete("00:04:00")
    assert desk.words() == [
        "00:01:00 claimed -",
        "00:02:00 done skipped(deleted)",
        "00:03:00 to 00:04:00 done skipped(deleted)",
    ]
    assert desk.rows()[1].status is Status.SKIPPED


@clause("LEDGER-16")
def test_a_run_of_a_deleted_schedule_ends_as_any_other(desk: Desk) -> None:
    claim = desk.claim()
    desk.delete("00:01:10")

    assert desk.launched(claim, "00:01:11")
    assert desk.ended(claim)
    assert desk.words() == ["00:01:00 done executed"]


@clause("LEDGER-16")
def test_a_launch_of_a_deleted_schedule_is_not_tried_again(desk: Desk) -> None:
    claim = desk.claim()
    desk.delete("00:01:10")

    assert desk.failed(claim)
    assert desk.words() == ["00:01:00 done skipped(deleted)"]


@clause("ENGINE-10")
@pytest.mark.parametrize(
    ("confirmed", "word"), [(True, "skipped(deleted)"), (False, "executed(uncertain)")]
)
def test_a_lost_run_of_a_deleted_schedule_is_settled_by_the_next_look(
    desk: Desk, confirmed: bool, word: str
) -> None:
    desk.save(lease="10s")
    desk.turn("00:01:00", confirmed=confirmed)
    desk.delete("00:01:05")

    held = desk.held(desk.plan("00:02:00"), "00:02:00")

    told = [f"{fact.outcome}({fact.reason})" for change in held.changes for fact in change.facts]
    assert told == [word]
    assert desk.words() == [f"00:01:00 done {word}"]
    assert desk.wake() is None


@clause("ENGINE-10")
@pytest.mark.parametrize("meanwhile", ["saved again", "ended"])
def test_a_lost_run_of_a_deleted_schedule_is_left_when_another_writer_was_faster(
    desk: Desk, meanwhile: str
) -> None:
    desk.save(lease="10s")
    (claim,) = desk.turn("00:01:00")
    desk.delete("00:01:05")
    changes = desk.plan("00:02:00")
    if meanwhile == "ended":
        desk.ended(claim, "00:02:00")
    else:
        desk.save(now="00:02:00", uncertain="restart")

    assert desk.held(changes, "00:02:00").changes == []
    word = "done executed" if meanwhile == "ended" else "claimed -"
    assert desk.words()[0] == f"00:01:00 {word}"


@clause("LEDGER-16")
def test_saving_a_deleted_schedule_again_goes_on_with_its_revisions(desk: Desk) -> None:
    desk.ended(desk.claim())
    desk.delete("00:02:00")

    saved = desk.save(now="00:02:00")
    assert (saved.revision, saved.changed) == (2, True)
    assert clock((saved.next_nominal or 0) * 1000) == "00:03:00"
    assert desk.words() == [
        "00:01:00 done executed",
        "00:02:00 to 00:02:00 done skipped(deleted)",
    ]


@clause("LEDGER-17", "PORT-6")
def test_what_is_not_there_cannot_be_paused_resumed_or_deleted(desk: Desk) -> None:
    desk.save("gone")
    desk.delete("00:00:40", name="gone")

    for name in ("nobody", "gone"):
        assert not desk.pause("00:01:00", name=name)
        assert not desk.resume("00:01:00", name=name)
        assert not desk.delete("00:01:00", name=name)


@clause("LEDGER-26")
def test_a_schedule_with_nothing_left_to_do_sleeps(desk: Desk) -> None:
    saved = desk.save(cron_expr=None, once="2026-02-01T00:00:00Z")

    assert (saved.next_nominal, desk.wake()) == (None, None)


@clause("LEDGER-26")
def test_a_schedule_that_begins_later_is_looked_at_when_it_begins(desk: Desk) -> None:
    desk.save(cron_expr=None, once="2026-03-01T08:00:00Z")

    assert desk.wake() == "08:00:00"
    (claim,) = desk.turn("08:00:00")
    assert clock(claim.nominal * 1000) == "08:00:00"
    assert desk.wake() == "08:01:00.001"
