"""The life of a period: every step from every state, allowed or not."""

import pytest

from gnomon.core.ledger.lifecycle import (
    ENDS,
    IN_FLIGHT,
    REASONS,
    STEPS,
    WAITING,
    Outcome,
    Reason,
    State,
    Status,
    Step,
    follow,
    status_of,
)
from tests.clauses import clause

# Which state a step leads to; a dot where it cannot be taken.
TABLE = """
            planned  queued   claimed  running  done
queue       queued   .        .        .        .
claim       claimed  claimed  claimed  claimed  .
start       .        .        running  .        .
finish      done     done     done     done     .
retry       .        .        planned  .        .
put_back    .        planned  planned  planned  .
skip        done     done     done     .        .
miss        done     done     .        .        .
refuse      done     .        .        .        .
give_up     .        .        done     .        .
abandon     .        .        done     done     .
"""


def cases() -> list[tuple[str, str, str]]:
    heading, *lines = (line.split() for line in TABLE.strip().splitlines())
    return [
        (state, step, after)
        for step, *afters in lines
        for state, after in zip(heading, afters, strict=True)
    ]


@clause("LIFE-1")
@pytest.mark.parametrize(("state", "step", "after"), cases())
def test_every_step_from_every_state(state: str, step: str, after: str) -> None:
    assert (follow(State(state), Step(step)) or ".") == after


@clause("LIFE-1")
def test_the_table_above_has_every_state_and_every_step() -> None:
    assert {(state, step) for state, step, _ in cases()} == {
        (state.value, step.value) for state in State for step in Step
    }


@clause("LIFE-1")
def test_every_state_can_be_reached_and_only_done_is_the_end() -> None:
    reached, open_states = {State.PLANNED}, [State.PLANNED]
    while open_states:
        state = open_states.pop()
        after = {to for (before, _), to in STEPS.items() if before is state} - reached
        reached |= after
        open_states += after

    assert reached == set(State)
    assert set(State) - {before for before, _ in STEPS} == {State.DONE}
    assert WAITING | IN_FLIGHT | {State.DONE} == set(State)
    assert not WAITING & IN_FLIGHT


@clause("LIFE-2")
def test_every_way_to_the_end_settles_one_outcome() -> None:
    last = {step for (_, step), after in STEPS.items() if after is State.DONE}

    assert last <= set(ENDS)
    assert {ENDS[step] for step in last} == set(Outcome)
    assert set(ENDS) - last == {Step.START}
    assert ENDS[Step.START] is ENDS[Step.FINISH] is ENDS[Step.ABANDON] is Outcome.EXECUTED


@clause("LIFE-2")
def test_what_may_follow_a_start_never_settles_another_outcome() -> None:
    from_running = {step for (before, step) in STEPS if before is State.RUNNING}

    assert {ENDS.get(step, Outcome.EXECUTED) for step in from_running} == {Outcome.EXECUTED}


@clause("LIFE-3")
def test_every_reason_goes_with_an_outcome() -> None:
    assert set(REASONS) == set(Outcome)
    assert {reason for reasons in REASONS.values() for reason in reasons} == {None, *Reason}
    assert [outcome for outcome in Outcome if None in REASONS[outcome]] == [Outcome.EXECUTED]


@clause("LIFE-4")
@pytest.mark.parametrize(
    ("state", "outcome", "failed", "reason", "status"),
    [
        ("planned", None, False, None, None),
        ("queued", None, False, None, None),
        ("claimed", None, False, None, "ENQUEUED"),
        ("claimed", "executed", False, None, "ENQUEUED"),
        ("running", "executed", False, None, "STARTED"),
        ("done", "executed", False, None, "SUCCESS"),
        ("done", "executed", True, None, "FAILED"),
        ("done", "executed", True, "timed_out", "FAILED"),
        ("done", "missed", False, "launch_failed", "FAILED"),
        ("done", "missed", False, "deadline", "SKIPPED"),
        ("done", "missed", False, "outage", "SKIPPED"),
        ("done", "skipped", False, "overlap", "SKIPPED"),
        ("done", "unschedulable", False, "constraints", "SKIPPED"),
    ],
)
def test_the_word_that_a_reader_sees(
    state: str, outcome: str | None, failed: bool, reason: str | None, status: str | None
) -> None:
    found = status_of(
        State(state),
        None if outcome is None else Outcome(outcome),
        failed=failed,
        reason=None if reason is None else Reason(reason),
    )

    assert found == (None if status is None else Status(status))


@clause("LIFE-4")
def test_there_are_five_words_and_each_can_be_seen() -> None:
    seen = {
        status_of(state, outcome, failed=failed, reason=None)
        for state in State
        for outcome in (None, *Outcome)
        for failed in (False, True)
    }

    assert seen == {None, *Status}
