"""The engine by example: several schedules, versions, edits, and a run's whole life."""

from dataclasses import replace

import pytest

from gnomon.core.engine import USUAL, Due, Limits, plan
from gnomon.core.ledger.audit import audit
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Waiting, period_key
from gnomon.core.schedule import Overlap, Schedule
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause
from tests.core.engine.model import Model

TEN = 1_773_136_800  # 2026-03-10T10:00:00Z
NOON = TEN + 7_200


def hourly(**changes: object) -> Schedule:
    return read_schedule({"schedule_id": "report", "cron_expr": "0 * * * *"} | changes)


@clause("ENGINE-1")
def test_each_schedule_gets_its_own_change_with_the_version_it_was_made_from() -> None:
    dues = [
        Due(hourly(), 7, TEN - 3600),
        Due(hourly(schedule_id="other"), 1, TEN),
    ]

    changes = plan(dues, now_ms=TEN * 1000)

    assert [(one.schedule.schedule_id, one.version, one.cursor) for one in changes] == [
        ("report", 7, TEN), ("other", 1, TEN),
    ]  # fmt: skip
    assert [len(one.launches) for one in changes] == [1, 0]
    assert plan([], now_ms=TEN * 1000) == []


@clause("ENGINE-13")
def test_the_usual_limits() -> None:
    assert Limits(
        catchup_max=100, tick_ms=1_000, line_max=200, queue_max=100, open_max=5_000,
        one_by_one_max=32, count_max=1_000_000, starts_max=10, on_time_ms=2_000,
        grace_ms=61_000, lookahead_ms=60_000,
    ) == USUAL  # fmt: skip


@clause("ENGINE-8")
@pytest.mark.parametrize(("launches_max", "starts"), [(3, 10), (15, 15)])
def test_a_run_that_may_be_what_kills_its_workers_is_not_started_for_ever(
    launches_max: int, starts: int
) -> None:
    model = Model(hourly(uncertain="restart", launches_max=launches_max), TEN - 3600)
    now_ms = TEN * 1000
    (key,) = [launch.key for launch in model.turn(now_ms).launches]
    begun = 1
    for _ in range(30):
        model.lost.add(key)
        begun += len(model.turn(now_ms).launches)

    assert begun == starts
    assert model.rows[key].fact.reason is Reason.UNCERTAIN


@clause("ENGINE-9", "ENGINE-12")
def test_what_a_window_had_chosen_before_the_definition_was_saved_is_withdrawn() -> None:
    # The window of noon is 11:00 to 12:00 and 11:07:30 is chosen; saved at 11:07:30 and at 11:50.
    early = hourly(window="before,1h", catchup_policy="latest")
    chosen_ms = early.chosen_ms(NOON)
    assert chosen_ms is not None
    dues = [
        Due(early, 1, NOON - 3600, effective_ms=saved_ms)
        for saved_ms in (chosen_ms, chosen_ms + 1, (NOON - 600) * 1000)
    ]

    found = [plan([due], now_ms=due.effective_ms)[0].facts[0] for due in dues]

    assert [(fact.nominal, fact.state, fact.reason) for fact in found] == [
        (NOON, "claimed", None), (NOON, "done", "withdrawn"), (NOON, "done", "withdrawn"),
    ]  # fmt: skip


@clause("ENGINE-9", "ENGINE-12")
def test_what_a_jitter_had_drawn_before_the_definition_was_saved_runs_at_once() -> None:
    early = hourly(jitter_ms=600_000, catchup_policy="latest")
    drawn_ms = early.chosen_ms(NOON)
    assert drawn_ms is not None
    saved_ms = drawn_ms + 1_000

    for wait_ms in (0, 10_000):
        due = Due(early, 1, NOON - 3600, effective_ms=saved_ms)
        (change,) = plan([due], now_ms=saved_ms + wait_ms)
        assert [(one.nominal, one.fire_ms) for one in change.launches] == [(NOON, saved_ms)]


@clause("ENGINE-9")
def test_an_edit_owes_nothing_from_before() -> None:
    # Saved at 10:30, so that the cursor stands at 10:00; asked at 10:30 and at 11:00.
    due = Due(hourly(catchup_policy="fire_immediately"), 2, TEN, effective_ms=(TEN + 1800) * 1000)

    (at_once,) = plan([due], now_ms=(TEN + 1800) * 1000)
    (later,) = plan([due], now_ms=(TEN + 3600) * 1000)

    assert (at_once.facts, at_once.launches) == ([], [])
    assert [launch.nominal for launch in later.launches] == [TEN + 3600]


@clause("ENGINE-9", "ENGINE-3")
def test_what_was_opened_before_an_edit_keeps_its_instant_and_gets_the_new_policies() -> None:
    key = period_key("report", TEN)
    opened = [Waiting(key, TEN, (TEN + 1200) * 1000, queued=False, launches=0)]
    edited = hourly(window="after,5m", deadline="10m")

    before, after = (
        plan([Due(edited, 2, TEN, waiting=opened)], now_ms=(TEN + seconds) * 1000)[0]
        for seconds in (1199, 1801)
    )

    assert (before.facts, before.wake_ms) == ([], (TEN + 1200) * 1000)
    assert [(fact.key, fact.fire_ms, fact.reason) for fact in after.facts] == [
        (key, (TEN + 1200) * 1000, Reason.DEADLINE)
    ]


@clause("ENGINE-4", "LIFE-2")
def test_a_period_is_planned_claimed_started_and_done() -> None:
    model = Model(hourly(window="after,30m"), TEN - 3600)
    key = period_key("report", TEN)

    model.turn(TEN * 1000)
    states = [model.rows[key].fact.state]
    assert model.wake_ms is not None
    model.turn(model.wake_ms)
    states.append(model.rows[key].fact.state)
    model.launched(key)
    states.append(model.rows[key].fact.state)
    model.ended(key, (TEN + 3000) * 1000)
    states.append(model.rows[key].fact.state)

    assert states == [State.PLANNED, State.CLAIMED, State.RUNNING, State.DONE]
    assert model.rows[key].fact.outcome is Outcome.EXECUTED
    assert audit(*model.audited()) == []


@clause("POLICY-10", "ENGINE-4")
def test_a_launch_that_fails_is_tried_again_and_then_given_up() -> None:
    model = Model(hourly(launch_backoff="10s"), TEN - 3600)
    key, now_ms = period_key("report", TEN), TEN * 1000
    tried_s = []

    for _ in range(3):
        assert model.wake_ms is not None
        now_ms = max(now_ms, model.wake_ms)
        model.turn(now_ms)
        tried_s.append(now_ms // 1000 - TEN)
        model.failed(key, now_ms)

    assert tried_s == [0, 10, 30]
    assert (model.rows[key].fact.outcome, model.rows[key].fact.reason) == (
        Outcome.MISSED, Reason.LAUNCH_FAILED,
    )  # fmt: skip


@clause("ENGINE-8", "LIFE-2")
def test_a_run_that_is_started_again_stays_executed() -> None:
    model = Model(hourly(uncertain="restart"), TEN - 3600)
    key = period_key("report", TEN)
    model.turn(TEN * 1000)
    model.launched(key)
    model.lost.add(key)

    change = model.turn((TEN + 60) * 1000)

    assert [(launch.key, launch.launches) for launch in change.launches] == [(key, 2)]
    fact = model.rows[key].fact
    assert (fact.state, fact.outcome, fact.launches) == (State.CLAIMED, Outcome.EXECUTED, 2)
    assert model.rows[key].fence == 2


@clause("ENGINE-8", "POLICY-9")
def test_a_run_that_is_started_again_is_replaced_in_the_next_look() -> None:
    model = Model(hourly(uncertain="restart", overlap_policy="replace"), TEN - 3600)
    model.turn(TEN * 1000)
    model.lost.add(period_key("report", TEN))

    changes = model.turns((TEN + 3600) * 1000)

    assert [[launch.nominal for launch in change.launches] for change in changes] == [
        [TEN], [TEN + 3600],
    ]  # fmt: skip
    assert [[run.nominal for run in change.replaced] for change in changes] == [[], [TEN]]


@clause("ENGINE-6", "POLICY-8")
def test_a_queue_is_worked_off_in_order_across_a_crash() -> None:
    model = Model(hourly(overlap_policy="queue"), TEN - 3600)
    model.confirmed = True
    model.turn(TEN * 1000)
    model.turn((TEN + 3600) * 1000)
    model.lost.add(period_key("report", TEN))  # claimed, and never started
    now_ms, order = (TEN + 3660) * 1000, []

    for _ in range(2):
        model.turns(now_ms)
        (flying,) = model.keys(State.CLAIMED)
        order.append(model.rows[flying].fact.nominal)
        now_ms += 1_000
        model.ended(flying, now_ms)

    assert order == [TEN, TEN + 3600]


@clause("ENGINE-6")
def test_an_edit_of_the_overlap_policy_counts_at_once() -> None:
    queueing = hourly(overlap_policy="queue")
    model = Model(queueing, TEN - 3600)
    model.turn(TEN * 1000)
    model.turn((TEN + 3600) * 1000)
    model.schedule = replace(queueing, policy=replace(queueing.policy, overlap=Overlap.ALLOW))

    change = model.turn((TEN + 3700) * 1000)

    assert [launch.nominal for launch in change.launches] == [TEN + 3600]
