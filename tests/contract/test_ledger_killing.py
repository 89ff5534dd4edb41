"""
Every ledger: runs that a user asked to end, and that may be running though no worker holds them.

The schedule has a period every minute, and a lease lasts a minute too.
"""

import pytest

from gnomon.core.ledger.lifecycle import Outcome, Reason, State, Status
from gnomon.ports import By, Claim, Ended, Failed, RunRow, ToEnd
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


def killed(desk: Desk, key: str, now: str) -> RunRow:
    row = desk.do(desk.ledger.kill(key, by=By("anna"), now_ms=at(now)))
    assert row is not None
    return row


def unanswered(desk: Desk, claim: Claim, now: str) -> None:
    unknown = Failed(claim.key, claim.fence, "no answer", False, reason=Reason.UNCERTAIN)
    assert desk.report(unknown, now=now) == [True]


def unsure(desk: Desk, **more: object) -> Claim:
    """The claim of 00:01:00, whose launch had no answer, and which waits for its next try."""
    claim = desk.claim("00:01:00", **more)
    unanswered(desk, claim, "00:01:10")
    return claim


def to_end(desk: Desk, owner: str = "boris") -> list[ToEnd]:
    return desk.do(desk.ledger.to_end(owner=owner))


def ended(desk: Desk, key: str, fence: int, now: str) -> bool:
    end = Ended(key, fence, success=False, detail="killed", reason=Reason.KILLED)
    return desk.report(end, now=now)[0]


@clause("ASK-15", "ASK-10")
@pytest.mark.parametrize("overlap", ["allow", "skip", "queue", "replace"])
def test_any_worker_may_end_a_run_that_waits_and_may_be_running(desk: Desk, overlap: str) -> None:
    claim = unsure(desk, launch_backoff="20s", overlap_policy=overlap)

    row = killed(desk, claim.key, "00:01:15")

    assert (row.state, row.outcome, row.reason) == (State.PLANNED, Outcome.EXECUTED, None)
    assert (row.kill_by, clock(row.kill_ms)) == ("anna", "00:01:15")
    assert to_end(desk, "anna") == to_end(desk, "boris") == [(claim.key, 1, True)]
    assert desk.turn("00:01:16") == []
    assert desk.turn("00:01:30") == []  # when its next try would have been
    assert ended(desk, claim.key, 1, "00:01:40")
    row = desk.row()
    assert (row.outcome, row.reason, row.status) == (
        Outcome.EXECUTED, Reason.KILLED, Status.FAILED,
    )  # fmt: skip
    assert to_end(desk) == []
    assert [one.nominal for one in desk.turn("00:02:00")] == [at("00:02:00") // 1000]


@clause("ASK-15")
def test_any_worker_may_end_a_run_in_the_queue_that_may_be_running(desk: Desk) -> None:
    claim = unsure(desk, launch_backoff="5s", overlap_policy="allow")
    desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:11")))
    [by_hand] = desk.turn("00:01:11")
    desk.save(overlap_policy="queue", now="00:01:12")
    desk.turn("00:01:20")
    assert desk.words()[0] == "00:01:00 queued executed"

    killed(desk, claim.key, "00:01:21")

    assert desk.turn("00:01:22") == []
    desk.ended(by_hand, "00:01:23")
    assert desk.turn("00:01:23") == []  # it is still in the way, and is not started
    assert desk.words()[0] == "00:01:00 planned executed"
    assert to_end(desk) == [(claim.key, 1, True)]
    assert ended(desk, claim.key, 1, "00:01:30")


@clause("ASK-10")
@pytest.mark.parametrize("state", ["waiting", "lost"])
def test_a_plan_from_before_the_request_to_end_does_not_count(desk: Desk, state: str) -> None:
    claim = unsure(desk, launch_backoff="5s", uncertain="relaunch_same_key")
    now = "00:01:15"
    if state == "lost":
        [claim] = desk.turn("00:01:15")
        now = "00:02:15.001"
    changes = desk.plan(now)
    assert claim.key in [launch.key for change in changes for launch in change.launches]
    killed(desk, claim.key, now)

    assert desk.commit(changes, now) == []


@clause("ASK-15", "ASK-10")
@pytest.mark.parametrize("permanent", [False, True])
def test_what_is_to_be_ended_and_is_not_answered_waits_for_its_end(
    desk: Desk, permanent: bool
) -> None:
    claim = desk.claim(launch_backoff="1s")
    killed(desk, claim.key, "00:01:05")
    unknown = Failed(claim.key, claim.fence, "no answer", permanent, reason=Reason.UNCERTAIN)

    assert desk.report(unknown, now="00:01:10") == [True]

    assert desk.turn("00:01:20") == []
    assert desk.words() == ["00:01:00 planned executed"]
    assert to_end(desk) == [(claim.key, 1, True)]


@clause("ASK-15", "ASK-10")
@pytest.mark.parametrize("permanent", [False, True])
def test_what_may_have_run_before_its_launch_failed_waits_for_its_end(
    desk: Desk, permanent: bool
) -> None:
    claim = unsure(desk, launch_backoff="1s")
    [again] = desk.turn("00:01:11")
    killed(desk, claim.key, "00:01:12")

    assert desk.failed(again, "00:01:13", permanent=permanent)

    assert desk.turn("00:01:30") == []
    assert desk.words() == ["00:01:00 planned executed"]
    assert ended(desk, claim.key, 2, "00:01:31")
    assert desk.words() == ["00:01:00 done executed(killed)"]


@clause("ASK-9", "ASK-10")
def test_what_is_to_be_ended_is_lost_and_never_began_is_skipped(desk: Desk) -> None:
    desk.save(uncertain="relaunch_same_key")
    [claim] = desk.turn("00:01:00", confirmed=True)
    killed(desk, claim.key, "00:01:10")

    [next_one] = desk.turn("00:02:00.001")

    assert next_one.nominal == at("00:02:00") // 1000
    assert desk.words()[0] == "00:01:00 done skipped(killed)"


@clause("ASK-15", "ASK-10")
@pytest.mark.parametrize("uncertain", ["restart", "relaunch_same_key", "abandon"])
def test_what_is_to_be_ended_and_is_lost_waits_for_its_end(desk: Desk, uncertain: str) -> None:
    claim = desk.claim(uncertain=uncertain)
    killed(desk, claim.key, "00:01:10")
    assert to_end(desk) == []  # its worker is asked first

    assert desk.turn("00:02:00.001", owner="boris") == []

    assert desk.words() == ["00:01:00 planned executed", "00:02:00 done skipped(overlap)"]
    assert to_end(desk) == [(claim.key, 2, True)]
    assert not desk.ended(claim, "00:02:01")  # its former worker has no say
    assert ended(desk, claim.key, 2, "00:02:02")
    assert desk.words()[0] == "00:01:00 done executed(killed)"


@clause("ASK-15")
def test_who_takes_its_place_ends_what_is_to_be_ended(desk: Desk) -> None:
    claim = unsure(desk, overlap_policy="replace", launch_backoff="5m")
    killed(desk, claim.key, "00:01:20")

    [newer] = desk.turn("00:02:00")

    assert newer.replaces == ((claim.key, 1),)
    assert newer.detached == {claim.key}


@clause("ASK-16")
@pytest.mark.parametrize("paused", [False, True])
def test_what_no_worker_can_end_is_given_up_after_ten_leases(desk: Desk, paused: bool) -> None:
    claim = unsure(desk, launch_backoff="20s", catchup_policy="latest")
    killed(desk, claim.key, "00:01:15")
    if paused:
        desk.pause("00:01:16")
    desk.turn("00:01:20")
    desk.turn("00:11:14.999")
    assert desk.words()[0] == "00:01:00 planned executed"
    assert desk.wake() == "00:11:15"

    desk.turn("00:11:15")

    assert desk.words()[0] == "00:01:00 done executed(uncertain)"
    assert to_end(desk) == []


@clause("ASK-16")
def test_the_queue_goes_on_when_what_no_worker_can_end_is_given_up(desk: Desk) -> None:
    claim = unsure(desk, overlap_policy="queue")
    desk.do(desk.ledger.trigger("report", name="now", now_ms=at("00:01:12")))
    killed(desk, claim.key, "00:01:12")
    assert desk.turn("00:01:13") == []

    started = desk.turn("00:11:12")

    assert [one.key for one in started] == ["manual:report:now"]


@clause("ASK-16")
def test_a_schedule_that_is_deleted_waits_for_nothing(desk: Desk) -> None:
    claim = unsure(desk)
    killed(desk, claim.key, "00:01:12")
    desk.delete("00:01:20")

    assert desk.words() == ["00:01:00 done executed(uncertain)"]
    assert to_end(desk) == []


@clause("ASK-16", "ASK-14")
@pytest.mark.parametrize("deleted_first", [False, True])
def test_a_claim_that_is_dropped_after_its_schedule_was_deleted_is_not_said_to_be_killed(
    desk: Desk, deleted_first: bool
) -> None:
    claim = unsure(desk, launch_backoff="1s")
    [again] = desk.turn("00:01:11")
    if deleted_first:
        desk.delete("00:01:12")
    killed(desk, claim.key, "00:01:13")
    if not deleted_first:
        desk.delete("00:01:14")
    dropped = Failed(again.key, again.fence, "dropped", permanent=True, reason=Reason.KILLED)

    assert desk.report(dropped, now="00:01:15") == [True]

    assert desk.words() == ["00:01:00 done executed(uncertain)"]
    assert to_end(desk) == []


@clause("ASK-14")
def test_a_claim_that_gives_way_is_replaced_where_it_may_have_run_before(desk: Desk) -> None:
    unsure(desk, launch_backoff="1s")
    [again] = desk.turn("00:01:11")
    dropped = Failed(again.key, again.fence, "dropped", permanent=True, reason=Reason.SUPERSEDED)

    assert desk.report(dropped, now="00:01:15") == [True]

    assert desk.words() == ["00:01:00 done executed(replaced)"]


@clause("ASK-8")
def test_asking_twice_notes_the_first_and_changes_nothing_more(desk: Desk) -> None:
    claim = unsure(desk, launch_backoff="20s")
    killed(desk, claim.key, "00:01:15")
    desk.turn("00:01:16")
    before = desk.row()

    assert killed(desk, claim.key, "00:01:25") == before
