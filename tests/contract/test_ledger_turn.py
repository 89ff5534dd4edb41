"""Every ledger: what is due, who wins, and what a claim carries."""

from hashlib import sha256

import pytest

from gnomon.core.ledger.lifecycle import State, Status
from tests.clauses import clause
from tests.contract.ledger_desk import Desk, at, clock


@clause("PORT-1")
def test_nothing_is_due_in_an_empty_ledger(desk: Desk) -> None:
    assert desk.load("12:00:00") == []
    assert desk.wake() is None


@clause("LEDGER-5")
def test_a_schedule_is_due_from_its_first_opening(desk: Desk) -> None:
    desk.save(now="00:00:30")

    assert (desk.wake(), desk.loaded("00:00:59.999")) == ("00:01:00", [])
    assert desk.loaded("00:01:00") == ["report"]


@clause("LEDGER-5")
def test_the_oldest_wake_is_loaded_first(desk: Desk) -> None:
    desk.save("late", cron_expr="3 * * * *")
    desk.save("early", cron_expr="1 * * * *")
    desk.save("middle", cron_expr="2 * * * *")

    assert desk.loaded("00:10:00") == ["early", "middle", "late"]


@clause("LEDGER-5")
def test_no_more_schedules_are_loaded_than_asked_for(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        desk.save(name)

    assert len(desk.load("00:01:00", limit=2)) == 2


@clause("LEDGER-5")
def test_what_was_planned_is_not_due_again_before_its_next_wake(desk: Desk) -> None:
    desk.claim("00:01:00")

    assert desk.loaded("00:01:59") == []
    assert desk.loaded("00:02:00") == ["report"]


@clause("LEDGER-2")
def test_the_key_of_a_period_is_the_hash_of_schedule_and_epoch(desk: Desk) -> None:
    claim = desk.claim("00:01:00")

    assert claim.key == sha256(b"report:1772323260").hexdigest()
    assert desk.row().key == claim.key


@clause("LEDGER-7")
def test_a_claim_says_what_to_start_and_carries_a_fencing_number(desk: Desk) -> None:
    claim = desk.claim("00:01:00.250")

    found = (clock(claim.nominal * 1000), clock(claim.fire_ms), claim.launches, claim.fence)
    assert found == ("00:01:00", "00:01:00", 1, 1)
    assert claim.replaces == ()


@clause("LEDGER-7")
def test_a_claimed_row_has_an_owner_and_a_lease(desk: Desk) -> None:
    desk.claim("00:01:00", lease="5m")

    row = desk.row()
    assert (row.state, row.status, row.outcome) == (State.CLAIMED, Status.ENQUEUED, None)
    assert (row.owner, clock(row.lease_ms), row.fence) == ("anna", "00:06:00", 1)


@clause("LEDGER-4")
def test_of_two_commits_from_one_look_the_first_wins_and_the_second_writes_nothing(
    desk: Desk,
) -> None:
    desk.save()
    first, second = desk.plan("00:01:00"), desk.plan("00:01:00")

    assert len(desk.commit(first, "00:01:00", owner="anna")) == 1
    assert desk.commit(second, "00:01:00", owner="boris") == []
    assert desk.row().owner == "anna"


@clause("LEDGER-4")
def test_a_change_wins_or_loses_without_the_others_of_its_batch(desk: Desk) -> None:
    desk.save("a")
    desk.save("b")
    changes = desk.plan("00:01:00")
    desk.pause("00:01:00", name="a")

    assert [claim.schedule.schedule_id for claim in desk.commit(changes, "00:01:00")] == ["b"]
    assert (desk.words("a"), desk.words("b")) == ([], ["00:01:00 claimed -"])


@clause("LEDGER-4")
def test_a_change_that_is_there_twice_in_a_batch_is_written_once(desk: Desk) -> None:
    desk.save()
    changes = desk.plan("00:01:00")

    assert len(desk.commit([*changes, *changes], "00:01:00")) == 1


@pytest.mark.parametrize("event", ["pause", "resume", "save", "delete", "report"])
@clause("LEDGER-4")
def test_whatever_could_change_a_plan_makes_older_plans_lose(desk: Desk, event: str) -> None:
    claim = desk.claim("00:01:00", overlap_policy="queue" if event == "report" else "allow")
    if event == "resume":
        desk.pause("00:01:30", until="00:01:40")
    changes = desk.plan("00:02:00")
    match event:
        case "pause":
            desk.pause("00:02:00")
        case "resume":
            desk.resume("00:02:00")
        case "save":
            desk.save(now="00:02:00", overlap_policy="queue")
        case "delete":
            desk.delete("00:02:00")
        case _:
            desk.ended(claim, "00:02:00")

    assert desk.commit(changes, "00:02:00") == []


@clause("LEDGER-6")
def test_a_change_with_a_key_that_exists_loses_as_a_whole(desk: Desk) -> None:
    desk.claim("00:01:00", overlap_policy="allow")
    (change,) = desk.plan("00:02:00")
    forged = change._replace(
        facts=[*change.facts, change.facts[0]._replace(key=desk.row().key, nominal=5)]
    )

    assert desk.commit([forged], "00:02:00") == []
    assert desk.words() == ["00:01:00 claimed -"]
    assert clock(desk.get().cursor * 1000) == "00:01:00"


@clause("LEDGER-6")
def test_a_key_that_exists_does_not_harm_the_rest_of_the_batch(desk: Desk) -> None:
    key = desk.claim("00:01:00").key
    desk.save("other", now="00:01:30")
    changes = desk.plan("00:02:00")
    forged = [
        change._replace(facts=[fact._replace(key=key) for fact in change.facts])
        if change.schedule.schedule_id == "report"
        else change
        for change in changes
    ]

    assert [one.schedule.schedule_id for one in desk.commit(forged, "00:02:00")] == ["other"]


@clause("LEDGER-1")
def test_a_row_that_is_done_cannot_be_claimed_again(desk: Desk) -> None:
    claim = desk.claim("00:01:00")
    desk.ended(claim)
    (change,) = desk.plan("00:02:00")
    again = change.facts[0]._replace(key=claim.key, is_new=False)

    assert desk.commit([change._replace(facts=[again])], "00:02:00") == []
    assert desk.words() == ["00:01:00 done executed"]


@clause("PORT-1")
def test_a_commit_of_nothing_is_nothing(desk: Desk) -> None:
    assert desk.commit([], "00:01:00") == []
    assert desk.report() == []


@clause("PORT-2")
def test_a_period_that_waits_for_its_instant_is_loaded_when_that_has_come(desk: Desk) -> None:
    desk.save(cron_expr="0 * * * *", window="around,10m", now="00:30:00")
    assert desk.turn("00:55:00") == []
    fire_ms = desk.row().fire_ms
    assert desk.wake() == clock(fire_ms)

    (due,) = desk.do(desk.ledger.load(now_ms=fire_ms, limit=10))
    assert [(wait.nominal * 1000, wait.fire_ms) for wait in due.waiting] == [
        (at("01:00:00"), fire_ms)
    ]


@clause("PORT-2")
def test_a_period_in_flight_is_loaded_with_its_fencing_number(desk: Desk) -> None:
    claim = desk.claim("00:01:00", lease="1h")

    (due,) = desk.load("00:02:00")
    assert [(run.key, run.state, run.fence) for run in due.in_flight] == [
        (claim.key, State.CLAIMED, 1)
    ]
    assert (due.waiting, due.lost) == ([], [])


@clause("LEDGER-7")
def test_a_run_that_is_replaced_is_named_in_the_claim_and_left_as_it_is(desk: Desk) -> None:
    first = desk.claim("00:01:00", overlap_policy="replace", lease="1h")
    desk.launched(first)

    (second,) = desk.turn("00:02:00")
    assert second.replaces == ((first.key, first.fence),)
    assert desk.words() == ["00:01:00 running executed", "00:02:00 claimed -"]


@clause("LEDGER-21")
def test_a_long_outage_is_one_row_with_a_count(desk: Desk) -> None:
    desk.save(catchup_policy="latest")
    desk.turn("12:00:00")

    first = desk.rows()[0]
    assert first.periods + len(desk.rows()) - 1 == 720
    assert (clock(first.nominal * 1000), first.state, first.reason) == (
        "00:01:00", State.DONE, "outage",
    )  # fmt: skip


@clause("LEDGER-5")
def test_the_next_wake_is_that_of_the_earliest_schedule_or_the_end_of_a_lease(desk: Desk) -> None:
    desk.claim("00:01:00", lease="10s")

    assert desk.wake() == "00:01:10.001"
    assert desk.loaded("00:01:10.001") == ["report"]


@clause("PORT-3")
def test_a_call_made_again_after_its_answer_was_lost_does_nothing_twice(desk: Desk) -> None:
    desk.save()
    changes = desk.plan("00:01:00")
    (claim,) = desk.commit(changes, "00:01:00")
    assert desk.commit(changes, "00:01:00") == []

    assert desk.ended(claim)
    assert not desk.ended(claim)
    assert not desk.save().changed
    assert desk.words() == ["00:01:00 done executed"]


@clause("PORT-5")
def test_what_is_due_follows_from_the_instant_that_is_given(desk: Desk) -> None:
    desk.save()

    assert [desk.loaded(now) for now in ("00:05:00", "00:00:40", "00:05:00")] == [
        ["report"], [], ["report"],
    ]  # fmt: skip
