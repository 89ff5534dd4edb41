"""Every ledger: what launchers say."""

import pytest

from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.ports import Ended, Failed, Launched
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


@clause("LEDGER-9")
def test_a_launched_run_is_running_and_its_period_executed(desk: Desk) -> None:
    claim = desk.claim()

    assert desk.launched(claim, "00:01:02")
    row = desk.row()
    assert (row.state, row.outcome, row.status) == (
        State.RUNNING, Outcome.EXECUTED, Status.STARTED,
    )  # fmt: skip
    assert (row.run_id, clock(row.started_ms), row.ended_ms) == ("pid 7", "00:01:02", None)


@pytest.mark.parametrize(("success", "status"), [(True, "SUCCESS"), (False, "FAILED")])
@clause("LEDGER-9")
def test_a_run_that_ended_is_done_and_executed_whatever_came_of_it(
    desk: Desk, success: bool, status: str
) -> None:
    claim = desk.claim()
    desk.launched(claim)

    assert desk.ended(claim, "00:01:20", success=success)
    row = desk.row()
    assert (row.state, row.outcome, row.status) == (State.DONE, Outcome.EXECUTED, status)
    assert (row.detail, clock(row.ended_ms), row.lease_ms) == ("exit 0", "00:01:20", None)


@clause("LEDGER-9")
def test_a_run_may_end_without_a_word_of_its_launch(desk: Desk) -> None:
    claim = desk.claim()

    assert desk.ended(claim)
    assert desk.words() == ["00:01:00 done executed"]


@clause("LEDGER-25")
@pytest.mark.parametrize(
    ("started", "said"),
    [("00:01:05", "00:01:05"), ("00:01:40", "00:01:20"), (None, "00:01:20")],
)
def test_a_launch_that_is_told_after_the_end_says_what_the_end_did_not(
    desk: Desk, started: str | None, said: str
) -> None:
    claim = desk.claim()
    desk.ended(claim, "00:01:20")
    late = Launched(claim.key, claim.fence, "run 9", started_ms=at(started) if started else None)

    assert desk.report(late, now="00:01:30") == [True]
    row = desk.row()
    assert (row.state, row.status, row.run_id) == (State.DONE, Status.SUCCESS, "run 9")
    assert (clock(row.started_ms), clock(row.ended_ms)) == (said, "00:01:20")


@clause("LEDGER-25", "LEDGER-1")
def test_a_launch_that_is_told_after_the_end_takes_nothing_back(desk: Desk) -> None:
    claim = desk.claim()
    end = Ended(claim.key, claim.fence, True, "exit 0", None, "run 1", at("00:01:03"))
    desk.report(end, now="00:01:20")

    assert desk.report(Launched(claim.key, claim.fence, "run 9"), now="00:01:30") == [True]
    assert (desk.row().run_id, clock(desk.row().started_ms)) == ("run 1", "00:01:03")


@clause("LEDGER-25", "LEDGER-7")
@pytest.mark.parametrize("why", ["confirmed", "old number", "never ended", "skipped"])
def test_a_launch_after_the_end_is_refused_where_nothing_can_have_begun(
    desk: Desk, why: str
) -> None:
    desk.save(lease="10s")
    [claim] = desk.turn("00:01:00", confirmed=why == "confirmed")
    match why:
        case "never ended":
            desk.delete("00:01:05")
            desk.turn("00:02:00")
        case "skipped":
            killed = Failed(claim.key, claim.fence, "", permanent=True, reason=Reason.KILLED)
            desk.report(killed, now="00:01:20")
        case _:
            desk.ended(claim, "00:01:20")
    fence = claim.fence + (why == "old number")

    assert desk.report(Launched(claim.key, fence, "run 9"), now="00:02:10") == [False]
    assert desk.row().run_id is None


@clause("LEDGER-25")
@pytest.mark.parametrize(("ends", "said"), [(True, "00:01:05"), (False, None)])
def test_a_launch_without_an_answer_says_when_a_run_that_is_over_began(
    desk: Desk, ends: bool, said: str | None
) -> None:
    claim = desk.claim()
    if ends:
        desk.ended(claim, "00:01:20")
    unanswered = Failed(
        claim.key, claim.fence, "no answer", False, Reason.UNCERTAIN, started_ms=at("00:01:05")
    )

    assert desk.report(unanswered, now="00:01:30") == [True]
    row = desk.row()
    assert row.state is (State.DONE if ends else State.PLANNED)
    assert said == (None if row.started_ms is None else clock(row.started_ms))


@clause("LEDGER-9")
def test_a_launch_says_when_it_began(desk: Desk) -> None:
    claim = desk.claim()
    launched = Launched(claim.key, claim.fence, "run 9", started_ms=at("00:01:05"))

    assert desk.report(launched, now="00:01:30") == [True]
    assert clock(desk.row().started_ms) == "00:01:05"


@clause("LEDGER-9")
def test_a_launch_and_an_end_in_one_batch_are_both_written(desk: Desk) -> None:
    claim = desk.claim()
    launched = Launched(claim.key, claim.fence, "pid 9")
    ended = Ended(claim.key, claim.fence, False, "exit 1", Reason.TIMED_OUT)

    assert desk.report(launched, ended) == [True, True]
    row = desk.row()
    assert (row.run_id, row.detail, row.reason) == ("pid 9", "exit 1", Reason.TIMED_OUT)


@clause("LEDGER-1")
def test_a_second_end_is_refused_and_takes_nothing_back(desk: Desk) -> None:
    claim = desk.claim()
    desk.ended(claim, success=True)

    assert not desk.ended(claim, "00:01:40", success=False)
    assert (desk.row().status, clock(desk.row().ended_ms)) == (Status.SUCCESS, "00:01:20")


@clause("LEDGER-7")
def test_a_report_with_an_old_fencing_number_is_refused(desk: Desk) -> None:
    old = desk.claim(uncertain="restart", lease="10s")
    (new,) = desk.turn("00:01:30", owner="boris")

    assert (new.key, new.fence, new.launches) == (old.key, 2, 2)
    assert not desk.ended(old, "00:01:31")
    assert desk.ended(new, "00:01:32")


@clause("LEDGER-7")
def test_a_refused_report_takes_nothing_from_the_others_of_its_batch(desk: Desk) -> None:
    for name in ("a", "b", "c", "d"):
        desk.save(name)
    a, b, c, d = sorted(desk.turn("00:01:00"), key=lambda claim: claim.schedule.schedule_id)

    answers = desk.report(
        Ended(a.key, a.fence, True, "exit 0"), Launched(b.key, b.fence, "pid 8"),
        Ended(c.key, c.fence + 1, True, "exit 0"), Ended(d.key, d.fence, False, "exit 1"),
    )  # fmt: skip

    assert answers == [True, True, False, True]
    assert [desk.row(name).state for name in ("a", "b", "c", "d")] == [
        State.DONE, State.RUNNING, State.CLAIMED, State.DONE,
    ]  # fmt: skip


@clause("LEDGER-9")
def test_launches_and_ends_of_different_runs_are_written_together(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        desk.save(name)
    a, b, c = sorted(desk.turn("00:01:00"), key=lambda claim: claim.schedule.schedule_id)

    answers = desk.report(
        Ended(a.key, a.fence, True, "exit 0"), Launched(b.key, b.fence, "pid 8"),
        Ended(c.key, c.fence, False, "exit 1", Reason.TIMED_OUT),
    )  # fmt: skip

    assert answers == [True, True, True]
    found = [(row.status, row.reason) for row in map(desk.row, ("a", "b", "c"))]
    assert found == [("SUCCESS", None), ("STARTED", None), ("FAILED", Reason.TIMED_OUT)]


@clause("LEDGER-7")
def test_a_report_about_a_key_that_the_ledger_does_not_know_is_refused(desk: Desk) -> None:
    assert desk.report(Ended("nothing", 1, True, "")) == [False]


@clause("LEDGER-9")
def test_a_launch_that_failed_is_tried_again_after_a_pause(desk: Desk) -> None:
    claim = desk.claim(launch_backoff="10s")

    assert desk.failed(claim, "00:01:05")
    row = desk.row()
    assert (row.state, row.outcome, row.status) == (State.PLANNED, None, None)
    assert (clock(row.fire_ms), row.detail, row.owner) == ("00:01:15", "no such file", None)
    assert desk.wake() == "00:01:15"


@clause("LEDGER-9")
def test_the_second_try_is_the_same_period_with_a_new_fencing_number(desk: Desk) -> None:
    first = desk.claim(launch_backoff="10s")
    desk.failed(first, "00:01:05")

    (second,) = desk.turn("00:01:15")
    assert (second.key, second.fence, second.launches) == (first.key, 2, 2)


@clause("LEDGER-9")
def test_a_launch_is_given_up_after_the_last_try(desk: Desk) -> None:
    claim = desk.claim(launches_max=1)

    assert desk.failed(claim)
    assert desk.words() == ["00:01:00 done missed(launch_failed)"]
    assert desk.row().status is Status.FAILED


@clause("LEDGER-9")
def test_a_launch_that_cannot_help_is_given_up_at_once(desk: Desk) -> None:
    claim = desk.claim(launches_max=5)

    assert desk.failed(claim, permanent=True)
    assert desk.words() == ["00:01:00 done missed(launch_failed)"]


@clause("LEDGER-9")
def test_a_run_that_was_launched_cannot_fail_to_launch(desk: Desk) -> None:
    claim = desk.claim()
    desk.launched(claim)

    assert not desk.failed(claim)
    assert desk.words() == ["00:01:00 running executed"]


@clause("LEDGER-1")
def test_a_period_that_was_executed_stays_executed_when_it_cannot_be_started_again(
    desk: Desk,
) -> None:
    desk.launched(desk.claim(uncertain="restart", lease="10s", launches_max=3), "00:01:05")
    (again,) = desk.turn("00:01:30")
    assert desk.words() == ["00:01:00 claimed executed"]

    assert desk.failed(again, "00:01:31")
    assert desk.words() == ["00:01:00 planned executed"]
    (last,) = desk.turn("00:01:40")
    assert desk.failed(last, "00:01:41")
    assert desk.words() == ["00:01:00 done executed(launch_failed)"]


@clause("LEDGER-1")
def test_a_period_that_is_to_be_started_again_keeps_its_outcome(desk: Desk) -> None:
    desk.launched(desk.claim(uncertain="restart", lease="10s"), "00:01:05")
    desk.turn("00:01:30", owner="boris", confirmed=True)
    desk.pause("00:01:40")

    desk.turn("00:01:50", owner="carla")
    assert desk.words() == ["00:01:00 planned executed"]
    desk.delete("00:01:51")
    assert desk.words() == ["00:01:00 done executed(uncertain)"]


@clause("LEDGER-1")
def test_a_lost_claim_is_tried_again_until_it_has_been_started(desk: Desk) -> None:
    desk.claim(uncertain="restart", lease="10s", launches_max=5)
    (second,) = desk.turn("00:01:30")
    assert desk.failed(second, "00:01:31")

    (third,) = desk.turn("00:01:40")
    desk.launched(third, "00:01:41")
    desk.ended(third, "00:01:42")
    assert desk.words() == ["00:01:00 done executed"]


@clause("LEDGER-9")
def test_the_end_of_a_run_wakes_the_queue(desk: Desk) -> None:
    first = desk.claim(overlap_policy="queue", cron_expr="1,2 * * * *", lease="1h")
    assert desk.turn("00:02:00") == []
    assert desk.words() == ["00:01:00 claimed -", "00:02:00 queued -"]

    desk.ended(first, "00:02:30")
    assert desk.wake() == "00:02:30"
    (second,) = desk.turn("00:02:30")
    assert clock(second.nominal * 1000) == "00:02:00"


@clause("LEDGER-9")
def test_a_launch_that_is_tried_again_keeps_its_place_before_the_queue(desk: Desk) -> None:
    first = desk.claim(
        overlap_policy="queue", cron_expr="1,2 * * * *", lease="1h", launch_backoff="10s"
    )
    desk.turn("00:02:00")

    assert desk.failed(first, "00:02:30")
    assert desk.wake() == "00:02:40"
    (again,) = desk.turn("00:02:40")
    assert clock(again.nominal * 1000) == "00:01:00"


@clause("LEDGER-9")
def test_the_end_of_a_run_does_not_wake_its_schedule_when_nothing_waits(desk: Desk) -> None:
    desk.ended(desk.claim(), "00:01:20")

    assert desk.wake() == "00:02:00"


@clause("LEDGER-9")
def test_a_run_that_was_over_before_its_launch_was_written_says_when_it_began(desk: Desk) -> None:
    claim = desk.claim()
    end = Ended(claim.key, claim.fence, True, "returned", None, "function:1", at("00:01:02"))

    assert desk.report(end, now="00:01:10") == [True]
    row = desk.row()
    assert (row.run_id, clock(row.started_ms), clock(row.ended_ms)) == (
        "function:1", "00:01:02", "00:01:10",
    )  # fmt: skip


@clause("LEDGER-9")
def test_what_a_former_try_left_behind_is_not_told_of_the_next(desk: Desk) -> None:
    first = desk.claim(uncertain="restart", lease="10s")
    desk.launched(first, "00:01:05")
    (second,) = desk.turn("00:01:30")
    desk.report(
        Ended(second.key, second.fence, True, "returned", None, "function:2", at("00:01:31"),
              at("00:01:33")), now="00:01:40",
    )  # fmt: skip

    row = desk.row()
    assert (row.run_id, clock(row.started_ms), clock(row.ended_ms)) == (
        "function:2", "00:01:31", "00:01:33",
    )  # fmt: skip


@clause("LEDGER-9")
def test_why_a_launch_failed_is_forgotten_when_it_is_tried_again(desk: Desk) -> None:
    desk.failed(desk.claim(), "00:01:01")
    assert desk.row().detail == "no such file"

    desk.turn("00:01:02")
    assert desk.row().detail is None


@clause("LEDGER-9")
def test_what_the_launch_said_is_not_overwritten_by_the_end(desk: Desk) -> None:
    claim = desk.claim()
    desk.launched(claim, "00:01:05")
    desk.report(Ended(claim.key, claim.fence, True, "exit 0", None, "other", at("00:01:07")))

    assert (desk.row().run_id, clock(desk.row().started_ms)) == ("pid 7", "00:01:05")
