"""Laws of the engine: what holds for every definition, every history and every moment."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Literal, NamedTuple

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnomon.core.engine import Change, Due, Limits, Pause, plan
from gnomon.core.engine.fast_path import plan_single
from gnomon.core.engine.plan import plan_any
from gnomon.core.ledger.audit import audit
from gnomon.core.ledger.lifecycle import Outcome, State
from gnomon.core.schedule import Catchup, Overlap, PauseRule, Schedule, Uncertain
from gnomon.core.schedule_record import read_schedule
from tests.clauses import clause
from tests.core.engine.model import Model

START = 1_773_136_800  # 2026-03-10T10:00:00Z
HOUR_MS = 3_600_000

RECURRENCES: tuple[dict[str, object], ...] = (
    {"cron_expr": "* * * * *"},
    {"cron_expr": "*/5 * * * *"},
    {"cron_expr": "0 * * * *"},
    {"cron_expr": "0 3 * * *", "timezone": "Europe/Berlin"},
    {"every": "7s"},
    {"every": "90s", "end_at": "2026-03-10T11:00:00Z"},
    {"once": "2026-03-10T10:10:00Z"},
)
WINDOWS: list[dict[str, object]] = [
    {},
    {},
    {"window": "after,3m"},
    {"window": "around,10m"},
    {"window": "before,5m"},
    {"jitter_ms": 30_000},
    {"window": "after,2m", "avoid": "between=10:00-10:05,10:30-11:15"},
    {"avoid": "hours=10-12"},
]


class Event(NamedTuple):
    """What happens after some time has passed."""

    after_ms: int
    kind: Literal["turn", "launched", "ended", "failed", "unsure", "lost", "kill", "pause", "crash"]
    which: int


@st.composite
def schedules(
    draw: st.DrawFn, recurrences: tuple[dict[str, object], ...] = RECURRENCES
) -> Schedule:
    record = draw(st.sampled_from(recurrences)) | draw(st.sampled_from(WINDOWS))
    return read_schedule(
        record
        | {
            "schedule_id": draw(st.sampled_from(["a", "b", "c"])),
            "overlap_policy": draw(st.sampled_from(list(Overlap))).value,
            "catchup_policy": draw(st.sampled_from(list(Catchup))).value,
            "pause_rule": draw(st.sampled_from(list(PauseRule))).value,
            "uncertain": draw(st.sampled_from(list(Uncertain))).value,
            "deadline": draw(st.sampled_from([None, "0s", "10s", "10m"])),
        }
    )


LIMITS = st.builds(
    Limits,
    catchup_max=st.integers(1, 5),
    queue_max=st.integers(0, 3),
    open_max=st.integers(1, 40),
    one_by_one_max=st.integers(0, 4),
    count_max=st.sampled_from([20, 50, 1_000_000]),
    asked_max=st.sampled_from([3, 40, 1_000]),
    line_max=st.integers(1, 12),
    tick_ms=st.sampled_from([10, 1_000, 10_000]),
    lookahead_ms=st.sampled_from([0, 10_000, 60_000]),
    on_time_ms=st.integers(0, 20_000),
    grace_ms=st.integers(0, 120_000),
    starts_max=st.integers(1, 10),
    backfills_max=st.integers(1, 10),
)
WAITS_MS = st.one_of(
    st.just(0), st.integers(1, 5_000), st.integers(0, 120).map(lambda s: s * 1000),
    st.integers(0, HOUR_MS),
)  # fmt: skip
KINDS = st.sampled_from(
    ["turn"] * 3 + ["launched", "ended", "failed", "unsure", "lost", "kill", "pause", "crash"]
)
HISTORIES = st.lists(st.builds(Event, WAITS_MS, KINDS, st.integers(0, 9)), max_size=25)


class Moment(NamedTuple):
    """What the engine was asked, and what it said."""

    due: Due
    change: Change
    now_ms: int


def moments(model: Model, history: list[Event]) -> Iterator[Moment]:
    """Live through a history; every turn of it is a moment."""
    now_ms = START * 1000
    for event in history:
        now_ms += event.after_ms
        if event.kind == "turn":
            due = model.due()
            yield Moment(due, model.turn(now_ms), now_ms)
        else:
            _happen(model, event, now_ms)
        assert audit(*model.audited()) == []


def _happen(model: Model, event: Event, now_ms: int) -> None:
    claimed, flying = model.keys(State.CLAIMED), model.keys(State.CLAIMED, State.RUNNING)
    unheld = [key for key, row in model.rows.items() if row.is_to_be_ended]
    opened = [key for key, row in model.rows.items() if row.fact.state is not State.DONE]
    match event.kind:
        case "launched" if claimed:
            model.launched(claimed[event.which % len(claimed)])
        case "failed" if claimed:
            key = claimed[event.which % len(claimed)]
            if model.rows[key].fact.outcome is None:
                model.failed(key, now_ms)
        case "unsure" if claimed:
            model.failed(claimed[event.which % len(claimed)], now_ms, may_have_run=True)
        case "ended" if flying or unheld:
            key = (flying + unheld)[event.which % len(flying + unheld)]
            model.ended(key, now_ms, success=event.which % 2 == 0)
        case "kill" if opened:
            model.killed(opened[event.which % len(opened)], now_ms)
        case "lost" if flying:
            model.lost.add(flying[event.which % len(flying)])
        case "crash":
            model.lost.update(flying)
            model.confirmed = event.which % 2 == 0
        case "pause" if model.pause is None:
            until_ms = None if event.which == 0 else now_ms + event.which * HOUR_MS // 3
            model.pause, model.wake_ms = Pause(until_ms), until_ms
        case _:
            if model.pause is not None:  # resume
                model.pause, model.wake_ms = Pause(now_ms), now_ms


@clause("ENGINE-1")
@given(schedules(), LIMITS, HISTORIES)
def test_no_period_gets_two_facts_in_one_plan(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    for moment in moments(Model(schedule, START - 1, limits), history):
        assert max(Counter(fact.key for fact in moment.change.facts).values(), default=1) == 1


@clause("ENGINE-2", "ENGINE-13")
@given(schedules(), LIMITS, HISTORIES)
def test_every_period_the_cursor_passes_is_accounted_for_exactly_once(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    for due, change, _ in moments(Model(schedule, START - 1, limits), history):
        passed = schedule.recurrence.between_epochs(due.cursor + 1, change.cursor + 1)
        accounted = [
            nominal
            for fact in change.facts
            if fact.is_new
            for nominal in schedule.recurrence.between_epochs(
                fact.nominal, (fact.last_nominal or fact.nominal) + 1
            )
        ]
        assert change.cursor >= due.cursor
        assert sorted(accounted) == passed
        assert sum(fact.periods for fact in change.facts if fact.is_new) == len(passed)


@clause("ENGINE-4")
@given(schedules(), LIMITS, HISTORIES)
def test_what_is_started_is_claimed_once_and_counts_one_try_more(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    for due, change, _ in moments(Model(schedule, START - 1, limits), history):
        tries = {one.key: one.launches for one in due.waiting}
        tries |= {run.key: run.launches for run, _ in due.lost}
        claimed = {fact.key: fact.launches for fact in change.facts if fact.state == "claimed"}
        assert claimed == {key: tries.get(key, 0) + 1 for key in claimed}
        assert [launch.key for launch in change.launches] == list(claimed)


@clause("ENGINE-6", "POLICY-6")
@given(schedules(), LIMITS, HISTORIES)
def test_at_most_one_period_starts_unless_overlap_is_allowed(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    for due, change, _ in moments(Model(schedule, START - 1, limits), history):
        again = {run.key for run, _ in due.lost}
        started = [launch for launch in change.launches if launch.key not in again]
        # What may be running and is not over with this change, nor tried again by it.
        over = {fact.key for fact in change.facts if fact.state in (State.CLAIMED, State.DONE)}
        flying = [run for run in due.in_flight if run.key not in over]
        flying += [
            run._replace(fence=run.fence + 1)
            for run, _ in due.lost
            if run.kill_ms is not None and run.key not in over
        ]
        unsure = [one for one in due.waiting if one.may_have_run and one.key not in over]
        match schedule.policy.overlap:
            case Overlap.ALLOW:
                assert len(started) <= limits.catchup_max
            case Overlap.REPLACE:
                assert len(started) <= 1
                if due.pause is None:  # a pause does not touch what is in flight
                    in_the_way = {(run.key, run.fence) for run in flying}
                    in_the_way |= {(one.key, one.fence) for one in unsure}
                    ended = {(run.key, run.fence) for run in change.replaced}
                    assert ended == (in_the_way if change.launches else set())
            case _:
                occupied = len(flying) + len(change.launches) - len(started) + len(unsure)
                assert len(started) <= (0 if occupied else 1)
                assert change.replaced == ()


@clause("ASK-10", "ASK-16")
@given(schedules(), LIMITS, HISTORIES)
def test_what_is_to_be_ended_is_not_started_again_and_is_waited_for_ten_leases_at_most(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    model = Model(schedule, START - 1, limits._replace(starts_max=10))
    ten_leases_ms = 10 * (schedule.policy.lease // timedelta(milliseconds=1))
    lost_ms: dict[str, int] = {}
    for due, change, now_ms in moments(model, history):
        lost_ms |= {run.key: now_ms for run, _ in due.lost}
        killed = {key: row.kill_ms for key, row in model.rows.items() if row.kill_ms is not None}
        assert not killed.keys() & {launch.key for launch in change.launches}
        for key in [key for key, row in model.rows.items() if row.is_to_be_ended]:
            since_ms = max(killed[key], lost_ms.get(key, 0))
            assert now_ms <= model.rows[key].fact.fire_ms <= since_ms + ten_leases_ms


@clause("ENGINE-1")
@given(schedules(), LIMITS, HISTORIES)
def test_a_plan_follows_from_its_arguments_alone(
    schedule: Schedule, limits: Limits, history: list[Event]
) -> None:
    for due, change, now_ms in moments(Model(schedule, START - 1, limits), history):
        assert plan([due, due], now_ms=now_ms, limits=limits) == [change, change]


@clause("ENGINE-4")
@given(schedules(), LIMITS, HISTORIES, WAITS_MS, st.integers(0, 10**9))
def test_between_two_looks_there_is_nothing_to_do(
    schedule: Schedule, limits: Limits, history: list[Event], wait_ms: int, later: int
) -> None:
    model = Model(schedule, START - 1, limits)
    spent_ms = sum(event.after_ms for event in history)
    for _ in moments(model, history):
        pass
    now_ms = START * 1000 + spent_ms + wait_ms
    model.turns(now_ms)
    assume(model.wake_ms is None or model.wake_ms > now_ms)
    end_ms = now_ms + 400 * HOUR_MS if model.wake_ms is None else model.wake_ms
    asked_ms = now_ms + later % (end_ms - now_ms)

    (change,) = plan([model.due()], now_ms=asked_ms, limits=limits)

    following = schedule.recurrence.next_epoch(model.cursor)
    assert change == Change(
        schedule, 1, model.cursor, following, model.wake_ms, [], (), resumes=False, revision=1
    )


@clause("ENGINE-4")
@settings(max_examples=50)
@given(schedules(), st.integers(0, 400))
def test_who_looks_when_told_is_never_late(schedule: Schedule, lasts_s: int) -> None:
    model, now_ms = Model(schedule, START - 1, effective_ms=START * 1000), START * 1000
    ends: dict[str, int] = {}
    while now_ms < (START + 2_400) * 1000:
        change = model.turn(now_ms)
        for run in change.replaced:
            model.ended(run.key, now_ms)
            del ends[run.key]
        for launch in change.launches:
            assert launch.fire_ms == now_ms or schedule.policy.overlap is Overlap.QUEUE
            ends[launch.key] = now_ms + lasts_s * 1000
        instants = [*ends.values()] if model.wake_ms is None else [model.wake_ms, *ends.values()]
        now_ms = min(instants, default=(START + 2_400) * 1000)
        for key in [key for key, end_ms in ends.items() if end_ms <= now_ms]:
            model.ended(key, now_ms)
            del ends[key]

    opened = schedule.recurrence.between_epochs(START, START + 2_400)
    assert not opened or model.cursor >= opened[-1]
    assert [fact for fact in model.facts() if fact.outcome is Outcome.MISSED] == []
    assert audit(*model.audited()) == []


@clause("ENGINE-13")
@settings(max_examples=40)
@given(schedules(recurrences=RECURRENCES[1:4]), st.integers(1, 3), st.booleans())
def test_an_outage_of_years_is_bounded_and_accounted_for(
    schedule: Schedule, years: int, paused: bool
) -> None:
    model = Model(schedule, START - 1)
    model.pause = Pause((START + 40 * 86_400) * 1000) if paused else None

    change = model.turn((START + years * 365 * 86_400) * 1000)

    # Three ranges; then 32 and those of a window, or a line of those that are caught up with.
    assert len(change.facts) <= 3 + max(200, 32 + 12)
    assert audit(*model.audited()) == []


@clause("ENGINE-13")
def test_a_year_of_missed_minutes_is_one_range_and_a_few_rows() -> None:
    minutely = read_schedule({"schedule_id": "a", "cron_expr": "* * * * *"})
    model = Model(minutely, START)

    change = model.turn((START + 365 * 86_400) * 1000)

    states = [(fact.outcome, fact.reason, fact.periods) for fact in change.facts]
    assert states[0] == (Outcome.MISSED, "outage", 365 * 1440 - 33)
    assert Counter(states[1:]) == {(Outcome.MISSED, "outage", 1): 32, (None, None, 1): 1}
    assert model.wake_ms == (START + 365 * 86_400 + 60) * 1000


@clause("ENGINE-13")
def test_a_range_that_is_too_large_is_cut_and_the_rest_is_found_at_once() -> None:
    each_second = read_schedule({"schedule_id": "a", "every": "1s", "catchup_policy": "latest"})
    model = Model(each_second, START, Limits(count_max=1_000, one_by_one_max=0))

    changes = model.turns((START + 2_500) * 1000)

    assert [[fact.periods for fact in change.facts] for change in changes] == [
        [1_000], [1_000], [497, 1, 1, 1],
    ]  # fmt: skip
    assert [len(change.launches) for change in changes] == [0, 0, 1]


@clause("ENGINE-7")
def test_a_pause_lasts_until_everything_that_fell_into_it_is_skipped() -> None:
    each_second = read_schedule(
        {"schedule_id": "a", "every": "1s", "catchup_policy": "fire_immediately"}
    )
    model = Model(each_second, START, Limits(count_max=1_000))
    model.pause = Pause((START + 2_500) * 1000)

    changes = model.turns((START + 2_500) * 1000)

    assert [change.resumes for change in changes] == [False, False, True]
    assert [(fact.periods, fact.reason) for change in changes for fact in change.facts] == [
        (1_000, "paused"), (1_000, "paused"), (499, "paused"), (1, None),
    ]  # fmt: skip


@clause("ENGINE-7")
def test_what_is_chosen_after_a_pause_runs_and_what_is_chosen_in_it_does_not() -> None:
    until_ms = (START + 5 * 3600 - 1800) * 1000  # 14:30
    for schedule_id in "abcdefgh":
        record = {"schedule_id": schedule_id, "cron_expr": "0 * * * *", "window": "before,59m"}
        hourly = read_schedule(record)
        model = Model(hourly, START)
        model.pause = Pause(until_ms)

        model.turn(until_ms)

        chosen_ms = hourly.chosen_ms(START + 5 * 3600)
        assert chosen_ms is not None
        (fact,) = [one for one in model.facts() if one.nominal == START + 5 * 3600]
        assert (fact.reason == "paused") == (chosen_ms < until_ms)


@clause("ENGINE-1")
@settings(max_examples=300)
@given(
    schedules(), LIMITS, st.integers(-3, 3), st.integers(-200, 3_000_000), st.sampled_from([0, 900])
)
def test_the_short_way_says_what_the_long_way_says(
    schedule: Schedule, limits: Limits, periods: int, late_ms: int, effective_s: int
) -> None:
    nominal = schedule.recurrence.next_epoch(START + periods * 60) or START
    cursor = schedule.recurrence.latest_epoch(nominal - 1) or START
    now_ms = (schedule.chosen_ms(nominal) or nominal * 1000) + late_ms % 4_000
    due = Due(schedule, 7, cursor, effective_ms=(START + effective_s) * 1000, revision=3)

    short = plan_single(due, now_ms, limits, {})

    assert short in (None, plan_any(due, now_ms, limits))
