"""Schedules and policies as values: what they hold, what they refuse, when a period is to run."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon import cron
from gnomon.core.decision import Decider, WindowRule, parse_constraint
from gnomon.core.schedule import Catchup, Overlap, PauseRule, Policy, Schedule, Uncertain
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import DefinitionError
from tests.clauses import clause

TEN = 1_773_136_800  # 2026-03-10T10:00:00Z
ORDINARY = Schedule(
    schedule_id="report", recurrence=cron("0 * * * *"), decider=Decider(identity="report")
)


@clause("SCHED-1")
def test_a_schedule_is_a_value() -> None:
    again = Schedule(
        schedule_id="report", recurrence=cron("0 * * * *"), decider=Decider(identity="report")
    )

    assert again == ORDINARY
    assert hash(again) == hash(ORDINARY)
    assert replace(again, policy=Policy(overlap=Overlap.QUEUE)) != ORDINARY


@clause("SCHED-1")
@pytest.mark.parametrize("name", ["a", "7", "billing.nightly", "A_b-C.9", "x" * 200])
def test_an_id_is_letters_digits_dots_underscores_and_hyphens(name: str) -> None:
    assert replace(ORDINARY, schedule_id=name).schedule_id == name


@clause("SCHED-1")
@pytest.mark.parametrize("name", ["", ".a", "-a", "_a", "a b", "a:1", "a/b", "ä", "a\n", "x" * 201])
def test_any_other_id_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError, match="schedule_id: must be 1 to 200 letters"):
        replace(ORDINARY, schedule_id=name)


@clause("SCHED-2")
def test_the_defaults_are_the_careful_ones() -> None:
    assert Policy() == Policy(
        overlap=Overlap.SKIP,
        catchup=Catchup.NONE,
        deadline=None,
        pause=PauseRule.SKIP,
        uncertain=Uncertain.ABANDON,
        launches_max=3,
        launch_backoff=timedelta(seconds=1),
        lease=timedelta(minutes=1),
    )


@clause("SCHED-2")
@pytest.mark.parametrize(
    "policy",
    [
        lambda: Policy(deadline=timedelta(0)),
        lambda: Policy(deadline=timedelta(days=366)),
        lambda: Policy(launch_backoff=timedelta(0)),
        lambda: Policy(lease=timedelta(milliseconds=1)),
        lambda: Policy(launches_max=1),
        lambda: Policy(launches_max=1_000_000),
    ],
)
def test_the_limits_of_a_policy_are_allowed(policy: type[Policy]) -> None:
    assert policy() == policy()


@clause("SCHED-2")
@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            lambda: Policy(deadline=timedelta(seconds=-1)),
            "deadline: must lie between 0s and 366 days, got '-1s'",
        ),
        (lambda: Policy(deadline=timedelta(days=367)), "deadline: must lie between 0s and 366"),
        (lambda: Policy(launch_backoff=-timedelta(1)), "launch_backoff: must lie between 0s and"),
        (lambda: Policy(lease=timedelta(0)), "lease: must lie between 1ms and 366 days"),
        (lambda: Policy(launches_max=0), "launches_max: must lie between 1 and 100"),
        (lambda: Policy(launches_max=1_000_001), "launches_max: must lie between 1 and 1000000"),
    ],
)
def test_what_lies_beyond_is_refused(policy: type[Policy], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        policy()


@clause("SCHED-3")
@pytest.mark.parametrize("jitter_ms", [-1, 86_400_001])
def test_a_jitter_is_at_most_a_day(jitter_ms: int) -> None:
    with pytest.raises(DefinitionError, match="jitter_ms: must lie between 0 and a day"):
        replace(ORDINARY, jitter_ms=jitter_ms)


@clause("SCHED-3")
def test_a_jitter_cannot_be_combined_with_a_window() -> None:
    window = Decider(identity="report", window=WindowRule(length=timedelta(minutes=5)))

    with pytest.raises(DefinitionError, match="jitter_ms: cannot be combined with a window"):
        replace(ORDINARY, jitter_ms=1, decider=window)


@clause("SCHED-3")
def test_the_jitter_of_a_period_is_drawn_from_its_key() -> None:
    jittery = replace(ORDINARY, jitter_ms=5_000)

    assert jittery.chosen_ms(TEN) == TEN * 1000 - 4_263
    assert jittery.chosen_ms(TEN) == jittery.chosen_ms(TEN)


@clause("SCHED-4")
def test_nothing_runs_before_the_first_instant() -> None:
    jittery = replace(ORDINARY, jitter_ms=5_000, starts_ms=TEN * 1000)

    assert jittery.chosen_ms(TEN) == TEN * 1000


@clause("SCHED-5")
@pytest.mark.parametrize(
    ("record", "lead_ms", "tail_ms"),
    [
        ({}, 0, 0),
        ({"window": "after,30m"}, 0, 1_800_000),
        ({"window": "before,30m"}, 1_800_000, 0),
        ({"window": "around,30m"}, 900_000, 900_000),
        ({"window": "around,3s"}, 2_000, 1_000),
        ({"jitter_ms": 1_500}, 1_500, 1_500),
    ],
)
def test_how_early_a_period_opens_and_how_late_it_may_be_chosen(
    record: dict[str, object], lead_ms: int, tail_ms: int
) -> None:
    schedule = read_schedule({"schedule_id": "a", "cron_expr": "0 * * * *"} | record)

    assert (schedule.lead_ms, schedule.tail_ms) == (lead_ms, tail_ms)


@clause("SCHED-5")
@given(
    st.sampled_from(["after,30m", "before,45s", "around,7s", "around,10m", "after,0s"]),
    st.integers(1_000_000, 5_000_000_000),
)
def test_a_period_is_chosen_between_its_opening_and_its_latest(window: str, nominal: int) -> None:
    schedule = read_schedule({"schedule_id": "a", "cron_expr": "0 * * * *", "window": window})

    chosen_ms = schedule.chosen_ms(nominal)

    assert chosen_ms is not None
    assert -schedule.lead_ms <= chosen_ms - nominal * 1000 <= schedule.tail_ms


@clause("SCHED-5")
def test_a_period_that_may_never_run_has_no_chosen_instant() -> None:
    avoid = parse_constraint("hours=10")

    avoiding = replace(ORDINARY, decider=Decider(identity="report", avoid=avoid))

    assert avoiding.chosen_ms(TEN) is None
    assert avoiding.chosen_ms(TEN + 3600) == (TEN + 3600) * 1000
