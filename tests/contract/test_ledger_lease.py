"""Every ledger: leases, and workers that are gone."""

import pytest

from gnomon.core.ledger.lifecycle import State
from gnomon.ports import Held, Renewal
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


@clause("LEDGER-8")
def test_a_lease_is_extended_for_its_holder(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="30s")

    assert desk.renew(claim, "00:01:20") is Renewal.HELD
    assert clock(desk.row().lease_ms) == "00:01:50"


@clause("LEDGER-8", "RUN-6")
def test_a_lease_is_extended_by_what_its_holder_reckons_with(desk: Desk) -> None:
    """Who holds it does not know that the definition has another length by now."""
    claim = desk.claim("00:01:00", lease="10m")
    desk.save(now="00:01:10", lease="1m")

    assert desk.renew(claim, "00:04:20") is Renewal.HELD
    assert clock(desk.row().lease_ms) == "00:14:20"


@clause("LEDGER-8")
def test_a_lease_is_not_extended_for_another_owner_or_fence(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="30s")

    assert desk.renew(claim, "00:01:20", owner="boris") is Renewal.TAKEN
    assert desk.renew(claim._replace(fence=7), "00:01:20") is Renewal.TAKEN
    assert clock(desk.row().lease_ms) == "00:01:30"


@clause("LEDGER-8", "LEDGER-38")
def test_a_lease_of_a_run_that_ended_is_not_extended_and_not_taken(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="10s")
    desk.ended(claim, "00:01:05")
    row = desk.row()

    assert desk.renew(claim, "00:01:30") is Renewal.OVER
    assert desk.renew(claim, "00:01:30", owner="boris") is Renewal.TAKEN
    assert desk.renew(claim._replace(fence=7), "00:01:30") is Renewal.TAKEN
    assert desk.row() == row


@clause("LEDGER-38")
@pytest.mark.parametrize("uncertain", ["abandon", "relaunch_same_key"])
def test_a_lease_is_taken_by_the_worker_that_judges_its_run(desk: Desk, uncertain: str) -> None:
    """Whether it settles the run or starts it again; the run's end does not count after that."""
    claim = desk.claim("00:01:00", lease="10s", uncertain=uncertain)
    desk.turn("00:01:30", owner="boris")

    assert desk.renew(claim, "00:01:31") is Renewal.TAKEN
    assert not desk.ended(claim, "00:01:32")
    assert desk.renew(claim, "00:01:33") is Renewal.TAKEN


@clause("LEDGER-38")
def test_a_lease_is_taken_when_the_launch_is_to_be_tried_again(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="30s")
    desk.failed(claim, "00:01:05")

    assert desk.renew(claim, "00:01:06") is Renewal.TAKEN


@clause("LEDGER-38")
def test_each_lease_of_a_batch_is_answered_in_its_order(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.save(name, lease="30s")
    claims = sorted(desk.turn("00:01:00"), key=lambda claim: claim.schedule.schedule_id)
    one, three, two = claims
    desk.ended(three, "00:01:05")
    runs = [Held(one.key, 7), Held(three.key, three.fence), Held(two.key, two.fence)]

    answers = desk.do(desk.ledger.renew(runs, owner="anna", now_ms=at("00:01:10")))
    assert answers == [Renewal.TAKEN, Renewal.OVER, Renewal.HELD]


@pytest.mark.parametrize(("confirmed", "never_started"), [(True, True), (False, False)])
@clause("LEDGER-8")
def test_a_run_whose_lease_is_over_is_lost(
    desk: Desk, confirmed: bool, never_started: bool
) -> None:
    desk.save(lease="10s")
    desk.turn("00:01:00", confirmed=confirmed)

    (due,) = desk.load("00:01:10.001")
    assert [lost.never_started for lost in due.lost] == [never_started]
    assert due.in_flight == []


@clause("LEDGER-8")
def test_a_run_that_was_launched_certainly_started(desk: Desk) -> None:
    desk.save(lease="10s")
    (claim,) = desk.turn("00:01:00", confirmed=True)
    desk.launched(claim, "00:01:05")

    (due,) = desk.load("00:01:30")
    assert [(lost.run.state, lost.never_started) for lost in due.lost] == [(State.RUNNING, False)]


@clause("LEDGER-8")
def test_lost_runs_are_loaded_before_anything_else(desk: Desk) -> None:
    desk.save("early", cron_expr="1 * * * *")
    desk.claim("00:00:50", lease="10s", cron_expr="50 * * * * *")

    assert desk.loaded("00:01:30", limit=1) == ["report"]


@clause("LEDGER-8")
def test_a_worker_heard_of_in_time_keeps_its_run(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="10s")
    takeover = desk.plan("00:01:15")
    assert desk.renew(claim, "00:01:15") is Renewal.HELD

    assert desk.commit(takeover, "00:01:15", owner="boris") == []
    assert desk.ended(claim, "00:01:20")


@clause("LEDGER-8")
def test_a_claim_that_a_late_worker_starts_after_all_is_not_started_again(desk: Desk) -> None:
    desk.save(lease="10s")
    (claim,) = desk.turn("00:01:00", confirmed=True)
    takeover = desk.plan("00:01:15")  # it never began, so that it is to be planned again
    assert desk.launched(claim, "00:01:16")

    assert desk.commit(takeover, "00:01:30", owner="boris") == []
    assert desk.words() == ["00:01:00 running executed"]


@clause("LEDGER-8")
def test_orphans_are_the_runs_in_flight_of_others(desk: Desk) -> None:
    claim = desk.claim()

    assert desk.do(desk.ledger.orphans(owner="anna")) == []
    assert [row.key for row in desk.do(desk.ledger.orphans(owner="boris"))] == [claim.key]


@clause("LEDGER-8")
def test_recovery_loses_the_runs_of_others_at_once(desk: Desk) -> None:
    desk.claim(lease="1h")

    assert desk.recover("00:01:01") == []
    assert desk.loaded("00:01:01") == ["report"]
    desk.turn("00:01:01", owner="boris")
    assert desk.words() == ["00:01:00 done executed(uncertain)"]


@clause("LEDGER-8")
def test_recovery_leaves_the_worker_s_own_runs_alone(desk: Desk) -> None:
    claim = desk.claim(lease="1h")

    desk.recover("00:01:01", owner="anna")
    assert desk.ended(claim)


@clause("LEDGER-8")
def test_an_adopted_run_goes_on_under_a_new_fencing_number(desk: Desk) -> None:
    claim = desk.claim(lease="1h")
    desk.launched(claim)

    assert desk.recover("00:05:00", claim.key) == [(claim.key, 2)]
    row = desk.row()
    assert (row.owner, clock(row.lease_ms), row.state) == ("boris", "01:05:00", State.RUNNING)
    assert not desk.ended(claim, "00:05:01")
    assert desk.ended(claim._replace(fence=2), "00:05:02")


@clause("LEDGER-8")
def test_a_plan_from_before_a_recovery_loses(desk: Desk) -> None:
    desk.claim(lease="1h", overlap_policy="allow")
    changes = desk.plan("00:02:00")
    desk.recover("00:02:00")

    assert desk.commit(changes, "00:02:00", owner="boris") == []
