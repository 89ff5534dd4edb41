"""
What may follow what: the life of a period, as tables.

Rules for this file: every state a period can be in is a row here, every step between two states is
an entry here, and no other file compares states to decide whether a step is allowed.

A period is planned when its window opens. When its chosen instant has come it is eligible, which is
not a state of its own but a matter of the clock. Then it is skipped, missed or unschedulable, which
ends it; or it waits in a queue; or a worker claims it, and that is committed before anything is
started. A claim becomes a run when the launcher says so; the period's outcome is then `executed`,
whatever comes of the run. A claim whose launcher said no goes back to being planned, or is given
up; so does a run whose worker was lost, when it is to be started again and not at once, or has to
be ended first; and a run that a caller asked to end leaves the queue. It may turn out that such a
launch had worked and only its answer was lost; then it is finished while it waits. Nothing leaves
`done`.

Spec: LIFE-1 to LIFE-4.
"""

from enum import StrEnum
from typing import assert_never

__all__ = [
    "ENDS",
    "IN_FLIGHT",
    "REASONS",
    "STEPS",
    "WAITING",
    "Outcome",
    "Reason",
    "State",
    "Status",
    "Step",
    "follow",
    "status_of",
]


class State(StrEnum):
    """Where a period is in its life."""

    PLANNED = "planned"
    QUEUED = "queued"
    CLAIMED = "claimed"
    RUNNING = "running"
    DONE = "done"


class Step(StrEnum):
    """What happens to a period."""

    QUEUE = "queue"
    CLAIM = "claim"
    START = "start"
    FINISH = "finish"
    RETRY = "retry"
    PUT_BACK = "put_back"
    SKIP = "skip"
    MISS = "miss"
    REFUSE = "refuse"
    GIVE_UP = "give_up"
    ABANDON = "abandon"


class Outcome(StrEnum):
    """How a period ended; permanent."""

    EXECUTED = "executed"
    SKIPPED = "skipped"
    MISSED = "missed"
    UNSCHEDULABLE = "unschedulable"


class Reason(StrEnum):
    """Why a period did not run, or what became of its run."""

    OVERLAP = "overlap"
    QUEUE_FULL = "queue_full"
    SUPERSEDED = "superseded"
    PAUSED = "paused"
    CATCHUP_LIMIT = "catchup_limit"
    WITHDRAWN = "withdrawn"
    DELETED = "deleted"
    DEADLINE = "deadline"
    OUTAGE = "outage"
    LAUNCH_FAILED = "launch_failed"
    UNCERTAIN = "uncertain"
    CONSTRAINTS = "constraints"
    REPLACED = "replaced"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    REQUESTED = "requested"
    """A caller asked to leave this one period out."""
    KILLED = "killed"
    """A caller asked to end it."""


class Status(StrEnum):
    """The word that a run's reader sees; there is none before the launch."""

    ENQUEUED = "ENQUEUED"
    STARTED = "STARTED"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


STEPS: dict[tuple[State, Step], State] = {
    (State.PLANNED, Step.QUEUE): State.QUEUED,
    (State.PLANNED, Step.CLAIM): State.CLAIMED,
    (State.PLANNED, Step.SKIP): State.DONE,
    (State.PLANNED, Step.MISS): State.DONE,
    (State.PLANNED, Step.REFUSE): State.DONE,
    (State.PLANNED, Step.FINISH): State.DONE,
    (State.QUEUED, Step.CLAIM): State.CLAIMED,
    (State.QUEUED, Step.PUT_BACK): State.PLANNED,
    (State.QUEUED, Step.SKIP): State.DONE,
    (State.QUEUED, Step.MISS): State.DONE,
    (State.QUEUED, Step.FINISH): State.DONE,
    (State.CLAIMED, Step.START): State.RUNNING,
    (State.CLAIMED, Step.CLAIM): State.CLAIMED,
    (State.CLAIMED, Step.RETRY): State.PLANNED,
    (State.CLAIMED, Step.PUT_BACK): State.PLANNED,
    (State.CLAIMED, Step.GIVE_UP): State.DONE,
    (State.CLAIMED, Step.SKIP): State.DONE,
    (State.CLAIMED, Step.ABANDON): State.DONE,
    (State.CLAIMED, Step.FINISH): State.DONE,
    (State.RUNNING, Step.CLAIM): State.CLAIMED,
    (State.RUNNING, Step.PUT_BACK): State.PLANNED,
    (State.RUNNING, Step.FINISH): State.DONE,
    (State.RUNNING, Step.ABANDON): State.DONE,
}
"""Every step there is; what is not here cannot happen."""

ENDS: dict[Step, Outcome] = {
    Step.START: Outcome.EXECUTED,
    Step.FINISH: Outcome.EXECUTED,
    Step.ABANDON: Outcome.EXECUTED,
    Step.SKIP: Outcome.SKIPPED,
    Step.MISS: Outcome.MISSED,
    Step.GIVE_UP: Outcome.MISSED,
    Step.REFUSE: Outcome.UNSCHEDULABLE,
}
"""The outcome that a step settles."""

REASONS: dict[Outcome, frozenset[Reason | None]] = {
    Outcome.EXECUTED: frozenset(
        {
            None, Reason.UNCERTAIN, Reason.REPLACED, Reason.TIMED_OUT, Reason.LAUNCH_FAILED,
            Reason.STOPPED, Reason.KILLED,
        }
    ),
    Outcome.SKIPPED: frozenset(
        {
            Reason.OVERLAP, Reason.QUEUE_FULL, Reason.SUPERSEDED, Reason.PAUSED,
            Reason.CATCHUP_LIMIT, Reason.WITHDRAWN, Reason.DELETED, Reason.REQUESTED,
            Reason.KILLED,
        }
    ),
    Outcome.MISSED: frozenset({Reason.DEADLINE, Reason.OUTAGE, Reason.LAUNCH_FAILED}),
    Outcome.UNSCHEDULABLE: frozenset({Reason.CONSTRAINTS}),
}  # fmt: skip
"""Which reasons go with an outcome; None where a period simply ran."""

WAITING = frozenset({State.PLANNED, State.QUEUED})
IN_FLIGHT = frozenset({State.CLAIMED, State.RUNNING})


def follow(state: State, step: Step) -> State | None:
    """The state after a step; None when that step cannot be taken."""
    return STEPS.get((state, step))


def status_of(
    state: State, outcome: Outcome | None, *, failed: bool, reason: Reason | None
) -> Status | None:
    """The word for a run's reader."""
    match state:
        case State.PLANNED | State.QUEUED:
            return None
        case State.CLAIMED:
            return Status.ENQUEUED
        case State.RUNNING:
            return Status.STARTED
        case State.DONE if outcome is Outcome.EXECUTED:
            return Status.FAILED if failed else Status.SUCCESS
        case State.DONE if reason is Reason.LAUNCH_FAILED:
            return Status.FAILED
        case State.DONE:
            return Status.SKIPPED
        case _:
            assert_never(state)
