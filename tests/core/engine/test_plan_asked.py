"""Runs that a user asked for, in the engine: which go first, and which rules are not for them."""

import pytest

from gnomon.core.engine import Change, Due, Limits, Lost, Pause, plan
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import (
    InFlight,
    Kind,
    Waiting,
    backfill_key,
    kind_of,
    manual_key,
    period_key,
    range_key,
)
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause

T = 1_773_136_800  # 2026-03-10T10:00:00Z
NOW_MS = T * 1000
HOUR = 3600


def due(overlap: str = "skip", **more: object) -> Due:
    schedule = read_schedule(
        {"schedule_id": "report", "cron_expr": "0 * * * *", "overlap_policy": overlap,
         "uncertain": "relaunch_same_key"}
    )  # fmt: skip
    return Due(schedule, 1, T - HOUR)._replace(**more)  # type: ignore[arg-type] # names of fields


def by_hand(name: str = "one", at: int = T, *, queued: bool = False, launches: int = 0) -> Waiting:
    return Waiting(manual_key("report", name), at, at * 1000, queued, launches)


def made_up(nominal: int, *, at: int = T, launches: int = 0, may_have_run: bool = False) -> Waiting:
    key = backfill_key("report", "b", nominal)
    return Waiting(key, nominal, at * 1000, False, launches, may_have_run, launches)


def tried(nominal: int, *, at: int = T, may_have_run: bool = True) -> Waiting:
    """A period that waits for its next try, after one that was not answered, or was refused."""
    return Waiting(period_key("report", nominal), nominal, at * 1000, False, 1, may_have_run, 4)


def flying(key: str, nominal: int, **more: object) -> InFlight:
    run = InFlight(key, nominal, nominal * 1000, State.RUNNING, 1, 1)
    return run._replace(**more)  # type: ignore[arg-type] # names of fields


def planned(one: Due, now_ms: int = NOW_MS, limits: Limits | None = None) -> Change:
    (change,) = plan([one], now_ms=now_ms, limits=limits or Limits())
    return change


def started(change: Change) -> list[str]:
    return [one.key.partition(":")[0][:8] for one in change.launches]


def fates(change: Change) -> list[str]:
    return [
        f"{kind_of(fact.key)} {fact.outcome}({fact.reason})" if fact.outcome
        else f"{kind_of(fact.key)} {fact.state}"
        for fact in change.facts
    ]  # fmt: skip


@clause("ASK-1")
def test_a_key_says_what_its_row_stands_for() -> None:
    assert kind_of(period_key("report", T)) is Kind.PERIOD
    assert kind_of(range_key("report", T)) is Kind.RANGE
    assert kind_of(manual_key("report", "one")) is Kind.MANUAL
    assert kind_of(backfill_key("report", "b", T)) is Kind.BACKFILL


@clause("ASK-3")
@pytest.mark.parametrize(
    ("overlap", "found"),
    [
        ("allow", ["period claimed", "manual claimed"]),
        ("skip", ["period claimed", "manual skipped(overlap)"]),
        ("queue", ["period claimed", "manual queued"]),
        ("replace", ["manual skipped(superseded)", "period claimed"]),
    ],
)
def test_a_period_goes_before_a_run_by_hand(overlap: str, found: list[str]) -> None:
    assert fates(planned(due(overlap, waiting=[by_hand(at=T - 5)]))) == found


@clause("ASK-3")
@pytest.mark.parametrize(
    ("overlap", "found"),
    [
        ("allow", ["manual claimed"]), ("skip", ["manual skipped(overlap)"]),
        ("queue", ["manual queued"]), ("replace", ["manual claimed"]),
    ],
)  # fmt: skip
def test_a_run_by_hand_obeys_the_overlap_policy(overlap: str, found: list[str]) -> None:
    run = flying(period_key("report", T - HOUR), T - HOUR)
    change = planned(due(overlap, waiting=[by_hand()], in_flight=[run]), NOW_MS - 1000)

    assert fates(change) == []
    change = planned(
        due(overlap, cursor=T, waiting=[by_hand(at=T + 5)], in_flight=[run]), NOW_MS + 5000
    )
    assert fates(change) == found
    assert change.replaced == ((run,) if overlap == "replace" else ())


@clause("ASK-3")
def test_first_come_is_first_served_in_a_queue() -> None:
    waiting = [by_hand(at=T + 60, queued=True), Waiting("p", T + 120, (T + 120) * 1000, True, 0)]
    change = planned(due("queue", cursor=T + 120, waiting=waiting), NOW_MS + 600_000)

    assert [one.key for one in change.launches] == ["manual:report:one"]


@clause("ASK-4")
def test_a_run_by_hand_starts_in_a_pause_and_a_period_does_not() -> None:
    change = planned(due(waiting=[by_hand()], pause=Pause()))

    assert fates(change) == ["manual claimed"]
    assert (change.cursor, change.wake_ms, change.resumes) == (T - HOUR, None, False)


@clause("ASK-4", "ENGINE-6")
@pytest.mark.parametrize(
    ("overlap", "found"),
    [
        ("allow", ["manual claimed"]), ("skip", ["manual skipped(overlap)"]),
        ("queue", ["manual queued"]), ("replace", ["manual claimed"]),
    ],
)  # fmt: skip
def test_in_a_pause_a_run_by_hand_does_not_start_beside_what_may_be_running(
    overlap: str, found: list[str]
) -> None:
    unsure = tried(T - HOUR, at=T - 60)
    change = planned(due(overlap, waiting=[unsure, by_hand()], pause=Pause()))

    assert (fates(change), change.wake_ms) == (found, None)
    ended = [(run.key, run.fence, run.detached) for run in change.replaced]
    assert ended == ([(unsure.key, 4, True)] if overlap == "replace" else [])


@clause("ASK-4")
@pytest.mark.parametrize("overlap", ["allow", "skip", "queue", "replace"])
def test_in_a_pause_what_was_certainly_refused_does_not_block_a_run_by_hand(overlap: str) -> None:
    refused = tried(T - HOUR, at=T - 60, may_have_run=False)
    change = planned(due(overlap, waiting=[refused, by_hand()], pause=Pause()))

    assert (fates(change), change.replaced) == (["manual claimed"], ())


@clause("ENGINE-6", "ENGINE-8")
@pytest.mark.parametrize(
    ("overlap", "found", "wake_ms"),
    [
        ("skip", ["period executed(None)", "manual skipped(overlap)"], None),
        ("queue", ["period executed(None)", "manual queued"], None),
        ("replace", ["period executed(None)"], NOW_MS),  # its new number is known by then
    ],
)
def test_in_a_pause_a_lost_run_is_in_the_way_at_once(
    overlap: str, found: list[str], wake_ms: int | None
) -> None:
    lost = Lost(flying(period_key("report", T - HOUR), T - HOUR), never_started=False)
    change = planned(due(overlap, lost=[lost], waiting=[by_hand()], pause=Pause()))

    assert (fates(change), change.replaced, change.wake_ms) == (found, (), wake_ms)


@clause("ASK-4", "ENGINE-8")
@pytest.mark.parametrize("overlap", ["allow", "skip", "queue", "replace"])
def test_in_a_pause_a_lost_run_that_did_not_begin_does_not_block_a_run_by_hand(
    overlap: str,
) -> None:
    lost = Lost(flying(period_key("report", T - HOUR), T - HOUR), never_started=True)
    lost = lost._replace(run=lost.run._replace(state=State.CLAIMED))
    change = planned(due(overlap, lost=[lost], waiting=[by_hand()], pause=Pause()))

    assert (fates(change), change.wake_ms) == (["period planned", "manual claimed"], None)


@clause("ASK-3", "ENGINE-6")
def test_a_run_by_hand_that_may_be_running_is_ended_by_the_next_period() -> None:
    unsure = by_hand(at=T - 60, launches=1)._replace(may_have_run=True, fence=1)
    change = planned(due("replace", waiting=[unsure]))

    assert sorted(fates(change)) == ["manual planned", "period claimed"]
    assert [(run.key, run.fence) for run in change.replaced] == [(unsure.key, 1)]


@clause("ASK-4")
def test_in_a_pause_a_further_try_by_hand_has_its_instant() -> None:
    waiting = [by_hand(at=T + 30, launches=1)]
    change = planned(due(waiting=waiting, pause=Pause(NOW_MS + 600_000)))

    assert (fates(change), change.wake_ms) == ([], NOW_MS + 30_000)


@clause("ASK-4")
def test_a_pause_that_is_over_swallows_nothing_that_was_asked_for() -> None:
    waiting = [by_hand(at=T - 300), made_up(T - 9 * HOUR, at=T - 300)]
    change = planned(due(waiting=waiting, pause=Pause(NOW_MS - 1000)), NOW_MS - 500)

    assert sorted(fates(change)) == ["backfill claimed", "manual claimed"]


@clause("ASK-4")
def test_no_deadline_and_no_catch_up_is_held_against_a_run_by_hand() -> None:
    schedule = read_schedule(
        {"schedule_id": "report", "cron_expr": "0 * * * *", "deadline": "0s", "overlap_policy":
         "allow"}
    )  # fmt: skip
    waiting = [by_hand("a", T - 900), by_hand("b", T - 600)]
    change = planned(Due(schedule, 1, T - HOUR, waiting=waiting), NOW_MS - 1)

    assert fates(change) == ["manual claimed", "manual claimed"]


@clause("ASK-4", "ASK-10")
def test_a_lost_run_by_hand_is_started_again_in_a_pause() -> None:
    lost = Lost(flying(manual_key("report", "one"), T - 60), never_started=False)
    change = planned(due(lost=[lost], pause=Pause()))

    assert fates(change) == ["manual executed(None)"]
    assert change.facts[0].state is State.PLANNED
    assert change.wake_ms == NOW_MS


@clause("ASK-5")
@pytest.mark.parametrize(
    ("overlap", "count"), [("allow", 3), ("skip", 1), ("queue", 1), ("replace", 1)]
)
def test_a_backfill_has_a_lane_of_its_own(overlap: str, count: int) -> None:
    waiting = [made_up(T - hours * HOUR, at=T - 60) for hours in (7, 9, 8, 6)]
    run = flying(period_key("report", T - HOUR), T - HOUR)
    change = planned(
        due(overlap, waiting=waiting, in_flight=[run]), NOW_MS - 1, Limits(backfills_max=3)
    )

    assert [one.nominal for one in change.launches] == [T - h * HOUR for h in (9, 8, 7)][:count]
    assert change.replaced == ()
    assert change.wake_ms == NOW_MS


@clause("ASK-5")
def test_a_backfill_in_flight_is_not_in_the_way_of_a_period() -> None:
    run = flying(backfill_key("report", "b", T - 9 * HOUR), T - 9 * HOUR)

    for overlap in ("skip", "queue", "replace"):
        change = planned(due(overlap, in_flight=[run], waiting=[made_up(T - 8 * HOUR)]))
        assert fates(change) == ["period claimed"]
        assert change.replaced == ()


@clause("ASK-5", "ASK-10")
def test_under_replace_every_lost_run_of_a_backfill_is_started_again() -> None:
    lost = [
        Lost(flying(backfill_key("report", "b", T - h * HOUR), T - h * HOUR), never_started=False)
        for h in (9, 8)
    ]
    change = planned(due("replace", lost=lost), NOW_MS - 1)

    assert len(change.launches) == 2


@clause("ASK-5")
def test_a_further_try_of_a_backfill_has_its_instant() -> None:
    waiting = [made_up(T - 9 * HOUR, at=T + 30, launches=1)]
    change = planned(due(cursor=T, waiting=waiting), NOW_MS + 1)

    assert (fates(change), change.wake_ms) == ([], NOW_MS + 30_000)


@clause("ASK-5", "ENGINE-6")
@pytest.mark.parametrize(("overlap", "count"), [("allow", 2), ("skip", 0), ("replace", 0)])
def test_what_may_be_running_has_its_place_among_the_runs_of_a_backfill(
    overlap: str, count: int
) -> None:
    unsure = made_up(T - 9 * HOUR, at=T + 30, launches=1, may_have_run=True)
    waiting = [unsure, *(made_up(T - hours * HOUR, at=T - 60) for hours in (8, 7, 6))]
    change = planned(due(overlap, cursor=T, waiting=waiting), NOW_MS + 1, Limits(backfills_max=3))

    assert len(change.launches) == count
    assert change.wake_ms == NOW_MS + 30_000


@clause("ASK-5", "ENGINE-6")
def test_what_may_be_running_is_the_first_of_a_backfill_to_be_tried_again() -> None:
    unsure = made_up(T - 8 * HOUR, launches=1, may_have_run=True)
    waiting = [made_up(T - 9 * HOUR, launches=1), unsure]
    change = planned(due(cursor=T, waiting=waiting), NOW_MS + 1)

    assert [one.key for one in change.launches] == [unsure.key]


@clause("ASK-6")
def test_a_backfill_is_held_back_in_a_pause() -> None:
    change = planned(due(waiting=[made_up(T - 9 * HOUR)], pause=Pause()))

    assert (fates(change), change.wake_ms) == ([], None)


@clause("ASK-7")
def test_a_period_that_is_left_out_is_skipped_when_it_opens() -> None:
    change = planned(due(skips=(T, T + HOUR)))

    assert [(fact.outcome, fact.reason) for fact in change.facts] == [
        (Outcome.SKIPPED, Reason.REQUESTED)
    ]
    assert (change.cursor, change.launches, change.wake_ms) == (T, [], NOW_MS + HOUR * 1000)


@clause("ASK-11")
def test_a_run_without_a_worker_is_not_started_again() -> None:
    run = flying(period_key("report", T - HOUR), T - HOUR, detached=True)
    change = planned(due(lost=[Lost(run, never_started=False)]), NOW_MS - 1)

    assert (fates(change), change.launches) == (["period executed(uncertain)"], [])
