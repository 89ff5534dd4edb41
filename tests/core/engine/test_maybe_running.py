"""
The engine and the runs that a user asked to end.

It is 10:00 on 2026-03-10, and the schedule has a period every hour; a lease lasts a minute.
"""

import pytest

from gnomon.core.engine import Change, Due, Lost, Pause, plan
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import InFlight, Waiting, backfill_key, manual_key, period_key
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause

T = 1_773_136_800  # 2026-03-10T10:00:00Z
NOW_MS = T * 1000
HOUR = 3600
MINUTE_MS = 60_000


def due(overlap: str = "skip", **more: object) -> Due:
    record = {"schedule_id": "report", "cron_expr": "0 * * * *", "overlap_policy": overlap}
    return Due(read_schedule(record), 1, T - HOUR)._replace(**more)  # type: ignore[arg-type] # fields


def unheld(
    *, asked_ms: int = NOW_MS - 1, until_ms: int = NOW_MS, nominal: int = T - HOUR
) -> InFlight:
    """The run of 09:00: one launch had no answer, and a user has asked for its end."""
    key = period_key("report", nominal)
    return InFlight(
        key, nominal, until_ms, State.PLANNED, 4, 2, detached=True, kill_ms=asked_ms
    )  # fmt: skip


def planned(one: Due, now_ms: int = NOW_MS - 1) -> Change:
    (change,) = plan([one], now_ms=now_ms)
    return change


def told(change: Change) -> list[str]:
    """The facts, in the order of their periods."""
    facts = sorted(change.facts, key=lambda fact: fact.nominal)
    return [f"{(fact.nominal - T) // HOUR:+} {fact.state} {fact.outcome}" for fact in facts]


@clause("ASK-9", "ASK-10")
def test_a_lost_run_that_is_to_be_ended_and_never_began_is_skipped() -> None:
    run = unheld()._replace(state=State.CLAIMED, detached=False)
    change = planned(due(lost=[Lost(run, never_started=True)]))

    [fact] = change.facts
    assert (fact.state, fact.outcome, fact.reason) == (
        State.DONE, Outcome.SKIPPED, Reason.KILLED,
    )  # fmt: skip


@clause("ASK-10", "ASK-15")
@pytest.mark.parametrize("state", [State.CLAIMED, State.RUNNING])
@pytest.mark.parametrize("detached", [False, True])
def test_a_lost_run_that_is_to_be_ended_waits_for_its_end(state: State, detached: bool) -> None:
    run = unheld()._replace(state=state, detached=detached)
    change = planned(due(cursor=T, lost=[Lost(run, never_started=False)]))

    assert told(change) == ["-1 planned executed"]
    assert change.facts[0].fire_ms == change.wake_ms == NOW_MS - 1 + 10 * MINUTE_MS
    assert change.launches == []


@clause("ASK-10")
def test_of_two_lost_runs_only_the_one_that_is_to_be_ended_waits_for_that() -> None:
    run = unheld()._replace(state=State.RUNNING, detached=False)
    other = run._replace(key=period_key("report", T - 2 * HOUR), nominal=T - 2 * HOUR, kill_ms=None)
    lost = [Lost(other, never_started=False), Lost(run, never_started=False)]

    assert told(planned(due(cursor=T, lost=lost))) == ["-2 done executed", "-1 planned executed"]


@clause("ASK-10", "ASK-15")
@pytest.mark.parametrize(
    ("overlap", "found"),
    [("allow", ["+0 claimed None"]), ("skip", ["+0 done skipped"]), ("queue", ["+0 queued None"]),
     ("replace", ["+0 claimed None"])],
)  # fmt: skip
def test_what_is_to_be_ended_is_in_flight_and_is_not_started_again(
    overlap: str, found: list[str]
) -> None:
    run = unheld(until_ms=NOW_MS + 1)
    change = planned(due(overlap, in_flight=[run]), NOW_MS)

    assert told(change) == found
    assert [one.nominal for one in change.launches if one.key == run.key] == []
    assert change.replaced == ((run,) if overlap == "replace" else ())


@clause("ASK-15")
def test_who_takes_the_place_of_a_lost_run_that_is_to_be_ended_ends_it_under_its_next_number() -> (
    None
):
    run = unheld()._replace(state=State.RUNNING, detached=False)
    change = planned(due("replace", lost=[Lost(run, never_started=False)]), NOW_MS)

    assert told(change) == ["-1 planned executed", "+0 claimed None"]
    assert [(one.key, one.fence, one.detached) for one in change.replaced] == [(run.key, 5, True)]


@clause("ASK-5", "ASK-15")
def test_what_is_to_be_ended_has_its_place_in_a_backfill() -> None:
    key = backfill_key("report", "b", T - 9 * HOUR)
    later = Waiting(backfill_key("report", "b", T - 8 * HOUR), T - 8 * HOUR, NOW_MS - 1, False, 0)
    run = unheld(until_ms=NOW_MS)._replace(key=key, nominal=T - 9 * HOUR)

    assert planned(due(in_flight=[run], waiting=[later])).launches == []
    assert [one.key for one in planned(due(waiting=[later])).launches] == [later.key]


@clause("ASK-16")
@pytest.mark.parametrize("pause", [None, Pause()])
def test_it_is_waited_for_until_ten_leases_after_the_request(pause: Pause | None) -> None:
    run = unheld(asked_ms=NOW_MS - 2, until_ms=NOW_MS - 2)
    change = planned(due(cursor=T, in_flight=[run], pause=pause))

    assert told(change) == ["-1 planned None"]  # the outcome that is there stays
    assert change.facts[0].fire_ms == NOW_MS - 2 + 10 * MINUTE_MS
    assert change.wake_ms == NOW_MS - 2 + 10 * MINUTE_MS


@clause("ASK-16")
@pytest.mark.parametrize("overlap", ["allow", "skip", "queue", "replace"])
def test_after_ten_leases_it_blocks_no_run(overlap: str) -> None:
    run = unheld(asked_ms=NOW_MS - 10 * MINUTE_MS, until_ms=NOW_MS)
    change = planned(due(overlap, in_flight=[run]), NOW_MS)

    assert told(change) == ["-1 done executed", "+0 claimed None"]
    [given_up] = [fact for fact in change.facts if fact.key == run.key]
    assert given_up.reason is Reason.UNCERTAIN
    assert change.replaced == ()


@clause("ASK-16")
def test_one_that_was_lost_long_after_the_request_is_waited_for_as_well() -> None:
    run = unheld(asked_ms=NOW_MS - HOUR * 1000)._replace(state=State.RUNNING, detached=False)
    first = planned(due(lost=[Lost(run, never_started=False)]))
    waits = run._replace(state=State.PLANNED, fire_ms=first.facts[0].fire_ms, detached=True)

    assert planned(due(in_flight=[waits]), waits.fire_ms - 1).facts[0].key != run.key
    assert told(planned(due(in_flight=[waits], pause=Pause()), waits.fire_ms)) == [
        "-1 done executed"
    ]


@clause("ASK-15")
def test_a_run_by_hand_waits_behind_what_is_to_be_ended() -> None:
    asked = Waiting(manual_key("report", "now"), T - 1, NOW_MS - 1000, False, 0)
    change = planned(due("queue", in_flight=[unheld()], waiting=[asked]))

    assert [fact.state for fact in change.facts] == [State.QUEUED]
    assert change.wake_ms == NOW_MS


@clause("ENGINE-10")
@pytest.mark.parametrize(
    ("never_started", "outcome", "reason"),
    [
        (True, Outcome.SKIPPED, Reason.DELETED),
        (False, Outcome.EXECUTED, Reason.UNCERTAIN),
    ],
)
def test_what_is_lost_of_a_deleted_schedule_is_settled(
    never_started: bool, outcome: Outcome, reason: Reason
) -> None:
    run = unheld()._replace(state=State.CLAIMED, detached=False)
    change = planned(due(deleted=True, lost=[Lost(run, never_started)]))

    [fact] = change.facts
    assert (fact.state, fact.outcome, fact.reason) == (State.DONE, outcome, reason)
