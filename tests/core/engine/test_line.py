"""The line of overdue periods: how many go in a tick, how far apart, and in which order."""

from collections.abc import Iterator
from itertools import cycle, pairwise
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.engine import Limits
from gnomon.core.ledger.audit import audit
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.schedule import Catchup, Overlap, Schedule
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause
from tests.core.engine.model import Model
from tests.core.engine.test_plan_laws import HISTORIES, LIMITS, START, Event, moments, schedules

RUNS_ALL = (Catchup.FIRE_IMMEDIATELY, Catchup.SPREAD)
NOT_QUEUED = (Overlap.ALLOW, Overlap.SKIP, Overlap.REPLACE)
"""A queue takes in so many in a tick, and starts them one after the other when it can."""
NOW_MS = START * 1000


class Start(NamedTuple):
    """When a period was started, and which."""

    at_ms: int
    nominal: int


def with_limits(**changes: int) -> Limits:
    """What is late is looked for no sooner than two ticks after it, as in the service."""
    limits = Limits()._replace(**changes)
    return limits._replace(on_time_ms=max(limits.on_time_ms, 2 * limits.tick_ms))


def starts_of(
    record: dict[str, object], missed: int, limits: Limits, *, lasts_ms: int = 0, late_ms: int = 0,
    wait_ms: int = 0,
) -> tuple[Model, list[Start]]:  # fmt: skip
    """An outage of so many periods, and what starts from then on; looks come late if told so."""
    schedule = read_schedule({"schedule_id": "a"} | record)
    period_s = schedule.recurrence.next_epoch(START)
    assert period_s is not None
    model = Model(schedule, START - (period_s - START) * missed, limits)
    found = list[Start]()
    ends: dict[str, int] = {}
    now_ms = NOW_MS + wait_ms
    while len(found) < missed + 20 and now_ms < NOW_MS + 3_000_000:
        for key in [key for key, end_ms in ends.items() if end_ms <= now_ms]:
            model.ended(key, now_ms)
            del ends[key]
        while model.wake_ms is not None and model.wake_ms <= now_ms:
            change = model.turn(now_ms)
            for run in change.replaced:
                model.ended(run.key, now_ms)
                del ends[run.key]
            for one in change.launches:
                found.append(Start(now_ms, one.nominal))
                ends[one.key] = now_ms + lasts_ms
        if missed < 60:
            assert audit(*model.audited()) == []
        assert model.wake_ms is not None
        now_ms = min([*ends.values(), model.wake_ms + late_ms])
    return model, found


def lost(model: Model) -> list[Reason | None]:
    facts = [fact for fact in model.facts() if fact.state is State.DONE]
    return [fact.reason for fact in facts if fact.outcome is not Outcome.EXECUTED]


@clause("POLICY-14")
def test_forty_nine_missed_periods_start_five_in_each_tick_oldest_first() -> None:
    limits = with_limits(catchup_max=5, tick_ms=10_000)
    record: dict[str, object] = {
        "every": "1h", "overlap_policy": "allow", "catchup_policy": "fire_immediately",
    }  # fmt: skip

    _, starts = starts_of(record, 49, limits, wait_ms=60_000)

    late = starts[:49]
    assert [one.at_ms - NOW_MS - 60_000 for one in late] == [n // 5 * 10_000 for n in range(49)]
    assert [one.nominal for one in starts] == sorted(one.nominal for one in starts)


@clause("POLICY-13")
@pytest.mark.parametrize("overlap", ["allow", "skip", "queue", "replace"])
def test_hundreds_of_missed_periods_are_spread_evenly_and_none_is_lost(overlap: str) -> None:
    record: dict[str, object] = {
        "every": "1h", "overlap_policy": overlap, "catchup_policy": "spread",
    }  # fmt: skip

    model, starts = starts_of(record, 400, Limits(), wait_ms=60_000, lasts_ms=100)

    late = starts[:400]
    assert [one.at_ms - NOW_MS - 60_000 for one in late] == [n * 150 for n in range(400)]
    assert [one.nominal for one in late] == [START - 3600 * n for n in reversed(range(400))]
    assert lost(model) == []


@clause("POLICY-14")
def test_a_schedule_that_recurs_faster_than_its_line_moves_is_on_time_all_the_same() -> None:
    # 49 are missed, and one comes each second, of which five in ten seconds would be too few.
    limits = with_limits(catchup_max=5, tick_ms=10_000)
    record: dict[str, object] = {
        "every": "1s", "overlap_policy": "allow", "catchup_policy": "fire_immediately",
    }  # fmt: skip

    _, starts = starts_of(record, 49, limits)

    overdue, on_time = START - 21, [one for one in starts if one.nominal > START]
    late = [one for one in starts if one.nominal < overdue]
    assert [one.at_ms - one.nominal * 1000 for one in on_time] == [0] * len(on_time)
    assert [one.at_ms - NOW_MS for one in late] == [n // 5 * 10_000 for n in range(len(late))]
    assert len(late) > 10


@clause("POLICY-8")
def test_in_a_queue_everything_goes_in_its_order_though_the_line_waits() -> None:
    limits = with_limits(catchup_max=3, tick_ms=1_000, line_max=5)
    for catchup in RUNS_ALL:
        record: dict[str, object] = {
            "every": "2s", "overlap_policy": "queue", "catchup_policy": catchup.value,
        }  # fmt: skip

        model, starts = starts_of(record, 30, limits, lasts_ms=50)

        assert [one.nominal for one in starts] == [START + 2 * (n - 29) for n in range(50)]
        assert lost(model) == []


@clause("POLICY-13")
@settings(max_examples=60)
@given(
    st.integers(1, 60), st.sampled_from(list(Overlap)), st.integers(1, 9), st.integers(4, 30),
    st.sampled_from([0, 5_000, 60_000]),
)  # fmt: skip
def test_an_outage_is_spread_evenly_however_long_the_line_is(
    missed: int, overlap: Overlap, tick_max: int, line_max: int, lookahead_ms: int
) -> None:
    limits = with_limits(catchup_max=tick_max, line_max=line_max, lookahead_ms=lookahead_ms)
    record: dict[str, object] = {
        "every": "1h", "overlap_policy": overlap.value, "catchup_policy": "spread",
    }  # fmt: skip

    model, starts = starts_of(record, missed, limits, wait_ms=60_000)

    step_ms = max(lookahead_ms // missed, -(-1_000 // tick_max))
    late = [one.at_ms - NOW_MS - 60_000 for one in starts[:missed]]
    assert late == [n * step_ms for n in range(missed)]
    assert [one.nominal for one in starts] == sorted(one.nominal for one in starts)
    assert lost(model) == []


@clause("POLICY-13")
def test_a_start_that_comes_late_moves_what_goes_a_tick_after_it_and_nothing_else() -> None:
    limits = with_limits(catchup_max=2, lookahead_ms=0)

    for overlap in NOT_QUEUED:
        model = _started_late(overlap, 7, limits, [31] + [0] * 20)

        assert _instants_ms(model) == [0, 500, 1_000, 1_531, 2_000, 2_531, 3_000]


@clause("POLICY-13")
@settings(max_examples=60)
@given(
    st.integers(2, 30), st.sampled_from(NOT_QUEUED), st.integers(1, 9), st.integers(4, 30),
    st.lists(st.integers(0, 1_500), min_size=1, max_size=8),
)  # fmt: skip
def test_however_late_looks_come_the_instants_of_a_line_keep_their_order_and_ticks(
    missed: int, overlap: Overlap, tick_max: int, line_max: int, lates_ms: list[int]
) -> None:
    limits = with_limits(catchup_max=tick_max, line_max=line_max, lookahead_ms=0)

    found = _instants_ms(_started_late(overlap, missed, limits, lates_ms))

    step_ms = -(-1_000 // tick_max)
    nearest_ms = 0 if overlap is Overlap.ALLOW else step_ms // 2
    assert len(found) == missed
    assert all(two - one >= nearest_ms for one, two in pairwise(found))
    ticks = zip(found, found[tick_max:], strict=False)
    assert all(two - one >= limits.tick_ms for one, two in ticks)


def _started_late(overlap: Overlap, missed: int, limits: Limits, lates_ms: list[int]) -> Model:
    """An outage of so many hours that is spread, where looks come late by turns."""
    record: dict[str, object] = {
        "schedule_id": "a", "every": "1h", "overlap_policy": overlap.value,
        "catchup_policy": "spread",
    }  # fmt: skip
    model = Model(read_schedule(record), START - 3_600 * missed, limits)
    lates, now_ms = cycle(lates_ms), NOW_MS + 60_000
    while now_ms < NOW_MS + 3_000_000:
        while model.wake_ms is not None and model.wake_ms <= now_ms:
            for one in model.turn(now_ms).launches:
                model.ended(one.key, now_ms)
        assert model.wake_ms is not None
        now_ms = model.wake_ms + next(lates)
    return model


def _instants_ms(model: Model) -> list[int]:
    """When the periods of an outage were to run, oldest first, from the end of the outage on."""
    fires_ms = {one.nominal: one.fire_ms for one in model.facts() if one.nominal <= START}
    return [fires_ms[nominal] - NOW_MS - 60_000 for nominal in sorted(fires_ms)]


@clause("POLICY-14")
@settings(max_examples=60)
@given(
    st.integers(1, 60), st.sampled_from(RUNS_ALL), st.sampled_from(NOT_QUEUED),
    st.integers(1, 9), st.integers(1, 30), st.sampled_from([100, 1_000, 10_000]),
    st.integers(0, 1_500), st.sampled_from(["1s", "7s", "1h"]),
)  # fmt: skip
def test_however_late_looks_come_no_tick_has_too_many_overdue_starts(
    missed: int, catchup: Catchup, overlap: Overlap, tick_max: int, line_max: int, tick_ms: int,
    late_ms: int, every: str,
) -> None:  # fmt: skip
    limits = with_limits(catchup_max=tick_max, line_max=line_max, tick_ms=tick_ms)
    record: dict[str, object] = {
        "every": every, "overlap_policy": overlap.value, "catchup_policy": catchup.value,
    }  # fmt: skip

    _, starts = starts_of(record, missed, limits, late_ms=late_ms)

    assert crowded(starts, limits) == []


def crowded(starts: list[Start], limits: Limits) -> list[Start]:
    """Overdue periods that started less than a tick after as many as may."""
    late = [one for one in starts if one.at_ms - one.nominal * 1000 > limits.on_time_ms]
    pairs = zip(late, late[limits.catchup_max :], strict=False)
    return [two for one, two in pairs if two.at_ms - one.at_ms < limits.tick_ms]


@clause("POLICY-14")
@given(schedules(), LIMITS, HISTORIES)
def test_no_history_has_too_many_overdue_starts_in_a_tick(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    if schedule.policy.catchup not in RUNS_ALL or schedule.policy.overlap is not Overlap.ALLOW:
        return
    limits = with_limits(**limits._asdict())
    starts = list(_first_starts(Model(schedule, START - 1, limits), history))
    assert crowded(starts, limits) == []


def _first_starts(model: Model, history: list[Event]) -> Iterator[Start]:
    """The first start of each period, whose nominal instant is taken for the chosen one."""
    for _, change, now_ms in moments(model, history):
        for one in change.launches:
            own_ms = model.schedule.chosen_ms(one.nominal)
            assert own_ms is not None
            if one.launches == 1:
                yield Start(now_ms, -(-own_ms // 1000))
