"""The task plan, alone: laws about what is decided, without a clock, a store or a loop."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from gnomon.apps.declarative.journal_time import JournalTime
from gnomon.apps.declarative.registration import (
    Fate,
    Registration,
    classify,
    read_registrations,
    resume,
)
from gnomon.apps.declarative.task import TaskRecord, TaskState, read_record, write_record
from gnomon.apps.declarative.task_plan import End, Step, TaskPlan
from gnomon.ports import Looked
from tests.clauses import clause

START_MS = 1_772_323_200_000
CRONS = ["* * * * *", "0,5,10,20 * * * *", "3 0 * * *", "7 1 * * *"]


def at(t_ms: int) -> JournalTime:
    now_ms = START_MS + t_ms
    return JournalTime(now_ms, now_ms, t_ms, Looked(fresh_ms=now_ms - now_ms % 60_000))


def registrations(delays: list[int]) -> list[Registration]:
    return read_registrations(
        [
            (name, cron, print, timedelta(seconds=delay))
            for name, cron, delay in zip("abcd", CRONS, delays, strict=False)
        ],
        zone="UTC",
    )


def begun(
    registered: list[Registration], records: dict[str, TaskRecord], now: JournalTime
) -> TaskPlan:
    after = resume(registered, records, now=now, identifier="x", running=[])
    return TaskPlan().prepare(registered, after, now)


def taken(plan: TaskPlan, ends: list[End], now: JournalTime) -> Step:
    step = plan.next_step(ends, now=now, starting=True)
    plan.apply(step, now=now)
    return step


class Player:
    """Plays a history: time passes, runs end well or badly, and sometimes all is begun anew."""

    def __init__(self, delays: list[int]) -> None:
        self.registered = registrations(delays)
        self.t_ms = 0
        self.plan = begun(self.registered, {}, at(0))
        self.starts: list[tuple[int, str, int, int, str]] = []

    def turn(self, ends: list[End]) -> None:
        step = taken(self.plan, ends, at(self.t_ms))
        self.starts += [(self.t_ms, *start.context) for start in step.starts]

    def restart(self) -> None:
        texts = {name: write_record(record) for name, record in self.plan.records().items()}
        records = {name: read_record(name, text) for name, text in texts.items()}
        self.plan = begun(self.registered, records, at(self.t_ms))

    def play(self, moves: list[tuple[int, bool]], *, restarting: bool) -> None:
        self.turn([])
        for seconds, fails in moves:
            self.t_ms += seconds * 1000
            error = ValueError("no") if fails else None
            self.turn([End(name, error) for name in sorted(self.plan.running)])
            while self.plan.running:
                self.turn([End(name, None) for name in sorted(self.plan.running)])
            if restarting:
                self.restart()
                self.turn([])


delays_drawn = st.lists(st.integers(0, 200), min_size=1, max_size=4)
moves_drawn = st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=25)


@clause("TASK-7", "INIT-3", "OVERRIDE-2")
@given(delays=delays_drawn, moves=moves_drawn)
def test_stopping_and_starting_in_between_changes_nothing_about_what_is_run(
    delays: list[int], moves: list[tuple[int, bool]]
) -> None:
    straight, restarted = Player(delays), Player(delays)
    straight.play(moves, restarting=False)
    restarted.play(moves, restarting=True)

    assert restarted.starts == straight.starts


@clause("TASK-7")
@given(delays=delays_drawn, moves=moves_drawn)
def test_asking_twice_gives_the_same_decision(
    delays: list[int], moves: list[tuple[int, bool]]
) -> None:
    player = Player(delays)
    player.play(moves, restarting=False)
    now = at(player.t_ms + 61_000)

    assert player.plan.next_step([], now=now, starting=True) == player.plan.next_step(
        [], now=now, starting=True
    )


@clause("TASK-3", "TASK-7")
@given(delays=delays_drawn, moves=moves_drawn)
def test_no_occurrence_is_run_twice_with_success_and_none_from_before_a_task_was_known(
    delays: list[int], moves: list[tuple[int, bool]]
) -> None:
    player = Player(delays)
    player.play(moves, restarting=True)

    firsts = [(name, nominal) for _, name, nominal, attempt, _ in player.starts if attempt == 1]
    assert len(firsts) == len(set(firsts))
    assert all(nominal * 1000 >= START_MS for _, nominal in firsts)
    assert all(nominal * 1000 <= START_MS + t_ms for t_ms, _, nominal, _, _ in player.starts)


@clause("POLL-2")
@given(delays=delays_drawn, moves=moves_drawn.filter(bool))
def test_when_the_rest_is_over_there_is_something_to_start_and_not_before(
    delays: list[int], moves: list[tuple[int, bool]]
) -> None:
    player = Player(delays)
    player.play(moves, restarting=False)
    rest_ms = player.plan.rest_ms(at(player.t_ms))

    assert rest_ms is not None
    before, then = at(player.t_ms + rest_ms - 1), at(player.t_ms + rest_ms)
    assert rest_ms > 0
    assert player.plan.next_step([], now=before, starting=True).starts == []
    assert player.plan.next_step([], now=then, starting=True).starts != []


@clause("OVERRIDE-1", "INIT-4")
@given(
    former=st.lists(st.integers(0, 9), min_size=4, max_size=4),
    later=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    states=st.lists(st.sampled_from(list(TaskState)), min_size=4, max_size=4),
)
def test_whatever_is_found_each_task_has_one_fate_and_what_was_cut_off_is_owed(
    former: list[int], later: list[int], states: list[TaskState]
) -> None:
    now = at(30_000)
    known = resume(registrations(former), {}, now=at(0), identifier="old", running=[])
    for (name, record), state in zip(list(known.items()), states, strict=True):
        known[name] = replace(
            record, state=state, retry_until_ms=START_MS if state == "AwaitingRetry" else None,
            retry_t_ms=10**12 if state == "AwaitingRetry" else None,
        )  # fmt: skip
    registered = registrations(later)
    fates = classify(registered, known)
    after = resume(registered, known, now=now, identifier="new", running=[])

    assert set(fates) == set(known)
    for name, fate in fates.items():
        assert (fate is Fate.REMOVED) == (name not in after)
        if fate is not Fate.REMOVED:
            assert after[name].identifier == "new"
            assert after[name].interrupted == (known[name].state is TaskState.RUNNING)
            assert after[name].state is not TaskState.RUNNING
        if fate is Fate.PRESERVED and known[name].state is not TaskState.RUNNING:
            assert after[name] == replace(known[name], identifier="new")
