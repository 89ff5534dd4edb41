"""Every ledger: runs that are ended on request, and runs that no worker holds."""

import pytest

from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.ports import By, Claim, Ended, Failed, Launched, Renewal, RunRow
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


def killed(desk: Desk, key: str, now: str = "00:01:30") -> RunRow:
    row = desk.do(desk.ledger.kill(key, by=By("anna"), now_ms=at(now)))
    assert row is not None
    return row


def unsure(desk: Desk, **more: object) -> Claim:
    """The claim of 00:01:00, whose launch had no answer, and which waits for its next try."""
    claim = desk.claim("00:01:00", **more)
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    assert desk.report(unknown, now="00:01:10") == [True]
    return claim


@clause("ASK-8")
def test_a_run_that_waits_is_ended_at_once(desk: Desk) -> None:
    desk.save(now="00:10:30")
    nominals = [at("00:01:00") // 1000]
    desk.do(desk.ledger.backfill("report", name="again", nominals=nominals, now_ms=at("00:10:40")))

    row = killed(desk, f"backfill:report:again:{at('00:01:00') // 1000}", "00:10:41")

    assert (row.state, row.outcome, row.reason) == (State.DONE, Outcome.SKIPPED, Reason.KILLED)
    assert (row.status, row.kill_by, clock(row.kill_ms)) == (Status.SKIPPED, "anna", "00:10:41")
    assert desk.turn("00:10:42") == []


@clause("ASK-8")
def test_a_run_that_is_over_stays_as_it_is(desk: Desk) -> None:
    claim = desk.claim()
    desk.ended(claim)

    row = killed(desk, claim.key)

    assert (row.outcome, row.reason, row.kill_ms) == (Outcome.EXECUTED, None, None)


@clause("ASK-9")
def test_who_holds_a_run_is_told_to_end_it(desk: Desk) -> None:
    claim = desk.claim()
    desk.launched(claim)
    killed(desk, claim.key)
    killed(desk, claim.key, "00:01:40")

    told = desk.do(desk.ledger.to_end(owner="anna"))
    assert [tuple(one) for one in told] == [(claim.key, 1, False)]
    assert desk.do(desk.ledger.to_end(owner="boris")) == []
    end = Ended(claim.key, 1, success=False, detail="killed", reason=Reason.KILLED)
    assert desk.report(end, now="00:01:50") == [True]
    row = desk.row()
    assert (row.outcome, row.reason, row.status) == (
        Outcome.EXECUTED, Reason.KILLED, Status.FAILED,
    )  # fmt: skip
    assert (row.kill_by, clock(row.kill_ms)) == ("anna", "00:01:30")
    assert desk.do(desk.ledger.to_end(owner="anna")) == []


@clause("ASK-9")
def test_what_is_to_be_ended_is_not_launched_again_after_a_failure(desk: Desk) -> None:
    claim = desk.claim(launch_backoff="1s")
    killed(desk, claim.key, "00:01:05")

    assert desk.failed(claim, "00:01:10")

    row = desk.row()
    assert (row.state, row.outcome, row.reason) == (State.DONE, Outcome.SKIPPED, Reason.KILLED)
    assert (row.status, row.detail, clock(row.ended_ms)) == (
        Status.SKIPPED, "no such file", "00:01:10",
    )  # fmt: skip
    assert (row.kill_by, clock(row.kill_ms)) == ("anna", "00:01:05")
    assert desk.turn("00:01:30") == []
    assert desk.do(desk.ledger.to_end(owner="anna")) == []


@clause("ASK-9")
def test_what_waits_behind_a_run_that_is_to_be_ended_goes_on_when_its_launch_fails(
    desk: Desk,
) -> None:
    claim = desk.claim(overlap_policy="queue")
    desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:02")))
    assert desk.turn("00:01:03") == []
    killed(desk, claim.key, "00:01:05")

    assert desk.failed(claim, "00:01:10")

    assert [one.key for one in desk.turn("00:01:10")] == ["manual:report:now"]


@clause("ASK-11")
def test_a_run_without_a_worker_has_a_lease_of_its_own(desk: Desk) -> None:
    claim = desk.claim(uncertain="relaunch_same_key")
    desk.report(Launched(claim.key, claim.fence, "r-1", detached_ms=3_600_000), now="00:01:10")

    row = desk.row()
    assert (row.state, row.owner, row.is_detached) == (State.RUNNING, None, True)
    assert clock(row.lease_ms) == "01:01:10"
    assert desk.renew(claim, "00:01:20") is Renewal.TAKEN
    assert desk.recover("00:01:30") == []
    assert desk.do(desk.ledger.orphans(owner="boris")) == []
    assert desk.row() == row
    assert desk.ended(claim, "00:01:40")
    assert desk.row().status is Status.SUCCESS


@clause("ASK-11")
def test_a_run_without_a_worker_that_is_not_heard_of_is_over(desk: Desk) -> None:
    claim = desk.claim(uncertain="relaunch_same_key")
    desk.report(Launched(claim.key, claim.fence, "r-1", detached_ms=30_000), now="00:01:10")

    assert [due.schedule.schedule_id for due in desk.load("00:01:40.001")] == ["report"]
    assert desk.turn("00:01:40.001") == []

    row = desk.row()
    assert (row.outcome, row.reason, row.status) == (
        Outcome.EXECUTED, Reason.UNCERTAIN, Status.FAILED,
    )  # fmt: skip
    assert not desk.ended(claim, "00:01:50")


@clause("ASK-11", "ASK-9")
def test_any_worker_may_end_a_run_that_no_worker_holds(desk: Desk) -> None:
    claim = desk.claim()
    desk.report(Launched(claim.key, claim.fence, "r-1", detached_ms=30_000), now="00:01:10")
    killed(desk, claim.key, "00:01:20")

    for owner in ("anna", "boris"):
        told = desk.do(desk.ledger.to_end(owner=owner))
        assert [tuple(one) for one in told] == [(claim.key, 1, True)]


@clause("ASK-11")
def test_the_worker_that_replaces_a_run_is_told_that_no_worker_holds_it(desk: Desk) -> None:
    claim = desk.claim(overlap_policy="replace")
    desk.report(Launched(claim.key, claim.fence, "r-1", detached_ms=300_000), now="00:01:10")

    [newer] = desk.turn("00:02:00")

    assert newer.replaces == ((claim.key, 1),)
    assert newer.detached == {claim.key}


@clause("LEDGER-9")
def test_a_launcher_that_asks_to_be_left_alone_is(desk: Desk) -> None:
    claim = desk.claim(launch_backoff="1s")
    failed = Failed(claim.key, claim.fence, "busy", permanent=False, wait_ms=20_000)
    desk.report(failed, now="00:01:10")

    assert desk.wake() == "00:01:30"
    [again] = desk.turn("00:01:30")
    impatient = Failed(again.key, again.fence, "busy", permanent=False, wait_ms=0)
    desk.report(impatient, now="00:01:31")
    assert desk.wake() == "00:01:33"


@clause("LEDGER-9")
def test_a_launch_without_an_answer_may_have_run(desk: Desk) -> None:
    claim = desk.claim(launches_max=1)
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    desk.report(unknown, now="00:01:10")

    row = desk.row()
    assert (row.outcome, row.reason, row.status) == (
        Outcome.EXECUTED, Reason.UNCERTAIN, Status.FAILED,
    )  # fmt: skip


@clause("LEDGER-7")
def test_an_end_counts_while_the_launch_is_to_be_tried_again(desk: Desk) -> None:
    claim = desk.claim(launch_backoff="30s")
    desk.failed(claim, "00:01:10")

    assert desk.ended(claim, "00:01:15")
    assert desk.turn("00:01:40") == []
    assert desk.words() == ["00:01:00 done executed"]


@clause("LEDGER-24")
def test_a_commit_says_which_changes_it_has_written(desk: Desk) -> None:
    desk.save("one")
    desk.save("two")
    changes = desk.plan("00:01:00")
    desk.save("one", "00:01:00", deadline="5s")

    held = desk.held(changes, "00:01:00")

    assert [change.schedule.schedule_id for change in held.changes] == ["two"]
    assert [claim.schedule.schedule_id for claim in held.claims] == ["two"]


@clause("LEDGER-24", "ASK-14")
def test_what_may_have_run_is_not_told_as_missed(desk: Desk) -> None:
    desk.save(deadline="10s")
    [claim] = desk.turn("00:01:00")
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    desk.report(unknown, now="00:01:01")

    held = desk.held(desk.plan("00:01:30"), "00:01:30")

    [fact] = [fact for change in held.changes for fact in change.facts if fact.key == claim.key]
    assert (fact.outcome, fact.reason) == (Outcome.EXECUTED, Reason.UNCERTAIN)


@clause("ASK-14")
@pytest.mark.parametrize("how", ["overlap", "deadline", "deletion"])
def test_what_may_have_run_is_not_said_to_have_been_skipped(desk: Desk, how: str) -> None:
    desk.save(overlap_policy="allow", deadline="10s")
    [claim] = desk.turn("00:01:00")
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    assert desk.report(unknown, now="00:01:01") == [True]
    match how:
        case "overlap":
            desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:01.100")))
            assert len(desk.turn("00:01:01.200")) == 1
            desk.save(overlap_policy="skip", deadline="10s", now="00:01:01.300")
            desk.turn("00:01:03")
        case "deadline":
            desk.turn("00:01:30")
        case _:
            desk.delete("00:01:01.500")

    row = next(one for one in desk.rows() if one.key == claim.key)
    assert (row.state, row.outcome, row.reason) == (
        State.DONE, Outcome.EXECUTED, Reason.UNCERTAIN,
    )  # fmt: skip


@clause("ENGINE-6")
def test_what_may_have_run_is_in_the_way_where_runs_are_skipped(desk: Desk) -> None:
    desk.save(overlap_policy="skip")
    [claim] = desk.turn("00:01:00")
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    desk.report(unknown, now="00:01:01")
    desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:01.100")))

    assert desk.turn("00:01:01.200") == []
    assert [again.key for again in desk.turn("00:01:03")] == [claim.key]
    assert desk.ended(claim._replace(fence=2))
    assert [(row.outcome, row.reason) for row in desk.rows()] == [
        (Outcome.EXECUTED, None), (Outcome.SKIPPED, Reason.OVERLAP),
    ]  # fmt: skip


@clause("ENGINE-6", "ASK-14")
def test_what_may_have_run_is_ended_by_who_takes_its_place(desk: Desk) -> None:
    claim = unsure(desk, overlap_policy="replace", launch_backoff="5m")

    [newer] = desk.turn("00:02:00", owner="boris")

    assert newer.replaces == ((claim.key, 1),)
    assert newer.detached == {claim.key}
    assert desk.words() == ["00:01:00 planned executed", "00:02:00 claimed -"]
    end = Ended(claim.key, 1, success=False, detail="replaced", reason=Reason.REPLACED)
    assert desk.report(end, now="00:02:01") == [True]
    assert desk.words() == ["00:01:00 done executed(replaced)", "00:02:00 claimed -"]


@clause("ENGINE-6")
def test_what_may_have_run_and_cannot_be_ended_is_ended_by_the_next_try(desk: Desk) -> None:
    claim = unsure(desk, overlap_policy="replace", launch_backoff="5s")
    [newer] = desk.turn("00:02:00")
    assert desk.turn("00:02:30") == []  # the newer one is under way, and comes to end it
    assert desk.words() == ["00:01:00 planned executed", "00:02:00 claimed -"]
    desk.failed(newer, "00:02:35")

    [again] = desk.turn("00:02:40")

    assert (again.key, again.replaces) == (newer.key, ((claim.key, 1),))


@clause("ENGINE-6", "ENGINE-8")
def test_what_may_have_run_is_not_forgotten_when_a_further_try_certainly_did_not(
    desk: Desk,
) -> None:
    claim = unsure(
        desk, overlap_policy="replace", uncertain="relaunch_same_key", launch_backoff="5s"
    )
    [again] = desk.turn("00:01:20", confirmed=True)
    assert again.key == claim.key

    claims = desk.turn("00:03:00", owner="boris")  # its worker has died before it launched it

    assert [one.key for one in claims] == [claim.key]
    assert desk.words()[0] == "00:01:00 claimed executed"


@clause("ENGINE-6", "ASK-4")
@pytest.mark.parametrize(
    ("overlap", "found"),
    [("allow", "claimed -"), ("skip", "done skipped(overlap)"), ("queue", "queued -"),
     ("replace", "claimed -")],
)  # fmt: skip
def test_in_a_pause_what_may_have_run_is_in_the_way(desk: Desk, overlap: str, found: str) -> None:
    claim = unsure(desk, overlap_policy=overlap)
    desk.pause("00:01:10.500")
    desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:30")))

    claims = desk.turn("00:01:31")

    assert desk.words() == ["00:01:00 planned executed", f"00:01:30 {found}"]
    ended = [one.replaces for one in claims if one.replaces]
    assert ended == ([((claim.key, 1),)] if overlap == "replace" else [])


@clause("ENGINE-6", "ASK-4")
def test_in_a_pause_the_end_of_what_may_have_run_lets_the_queue_go_on(desk: Desk) -> None:
    claim = unsure(desk, overlap_policy="queue")
    desk.pause("00:01:10.500")
    desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:30")))
    desk.turn("00:01:31")
    assert desk.wake() is None

    assert desk.ended(claim, "00:01:40")

    assert [one.key for one in desk.turn("00:01:40")] == ["manual:report:now"]


@clause("ENGINE-6", "ASK-5")
def test_what_may_have_run_has_its_place_in_a_backfill(desk: Desk) -> None:
    desk.save(now="00:10:30", launch_backoff="40s")
    nominals = [at("00:01:00") // 1000, at("00:02:00") // 1000]
    desk.do(desk.ledger.backfill("report", name="b", nominals=nominals, now_ms=at("00:10:31")))
    [claim] = desk.turn("00:10:32")
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    desk.report(unknown, now="00:10:33")

    assert [one.nominal for one in desk.turn("00:11:00")] == [at("00:11:00") // 1000]
    assert [again.key for again in desk.turn("00:11:13")] == [claim.key]


@clause("ASK-14")
def test_what_may_have_run_is_tried_again_and_can_end_well(desk: Desk) -> None:
    desk.save()
    [claim] = desk.turn("00:01:00")
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    desk.report(unknown, now="00:01:01")
    [again] = desk.turn("00:01:02")

    assert (again.key, again.launches) == (claim.key, 2)
    assert desk.ended(again)
    row = desk.row()
    assert (row.outcome, row.reason, row.status) == (Outcome.EXECUTED, None, Status.SUCCESS)


@clause("LEDGER-7")
def test_a_worker_from_whom_a_claim_was_taken_has_no_say(desk: Desk) -> None:
    desk.save(uncertain="restart")
    [claim] = desk.turn("00:01:00", confirmed=True)
    desk.turn("00:02:00.001", confirmed=True)
    assert desk.rows()[0].state is State.PLANNED
    late = Ended(claim.key, claim.fence, success=False, detail="late", reason=Reason.UNCERTAIN)

    assert desk.report(late, Launched(claim.key, claim.fence, "late"), now="00:02:01") == [
        False, False,
    ]  # fmt: skip
