"""
What may happen to a task, and what its record says then.

A task waits for its next occurrence, runs, or waits to be tried again. An occurrence that has
passed since the latest start is owed once, however many there were; it goes before a pending retry,
and any start settles everything that was owed. Delays are counted from a failure. When the clock is
set back, what was owed is kept, and what was leapt over comes once more.

Nothing here looks at a clock or a store.

Spec: TASK-1, TASK-4, TASK-6, TASK-7, RETRY-1 to RETRY-4, CLOCK-4.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from gnomon.apps.declarative.looked import Back, Island
from gnomon.apps.declarative.moment import Moment
from gnomon.apps.declarative.record import TaskRecord, TaskState
from gnomon.core.recurrence import Recurrence

__all__ = [
    "RETRY_MIN_MS",
    "Why",
    "crashed",
    "ended_for_another",
    "failed",
    "gone_back",
    "latest_due",
    "next_beside",
    "next_due",
    "reason_to_start",
    "started",
    "succeeded",
]

RETRY_MIN_MS = 1_000
"""A delay of nothing would be a hot loop."""

_LAST_MS = 253_402_300_799_999  # the end of the year 9999, after which no text can be written


class Why(StrEnum):
    """Why a run is started."""

    DUE = "due"
    RETRY = "retry"
    INTERRUPTED = "interrupted"


def next_due(
    record: TaskRecord, recurrence: Recurrence, islands: Sequence[Island] = ()
) -> int | None:
    """The first occurrence that is not settled, in epoch seconds; it may lie in the past."""
    return next_beside(recurrence, record.settled_ms // 1000, islands)


def next_beside(recurrence: Recurrence, after: int, islands: Sequence[Island]) -> int | None:
    """The first occurrence after this second that lies in none of the islands."""
    due = recurrence.next_epoch(after)
    for first_ms, last_ms in islands:
        if due is not None and first_ms <= due * 1000 <= last_ms:
            due = recurrence.next_epoch(last_ms // 1000)
    return due


def latest_due(recurrence: Recurrence, due: int, through: int, islands: Sequence[Island]) -> int:
    """The latest occurrence up to `through`, in none of the islands; `due` is one."""
    latest = recurrence.latest_epoch(through)
    for first_ms, last_ms in reversed(islands):
        if latest is not None and first_ms <= latest * 1000 <= last_ms:
            latest = recurrence.latest_epoch((first_ms - 1) // 1000)
    return due if latest is None else max(latest, due)


def gone_back(record: TaskRecord, recurrence: Recurrence, back: Back) -> TaskRecord:
    """The clock was set back: what was owed is, and later occurrences come once more."""
    due = next_due(record, recurrence, back.before)
    owed = record.owed
    if due is not None and due * 1000 <= back.former_ms:
        owed = latest_due(recurrence, due, back.former_ms // 1000, back.before)
    return replace(record, settled_ms=min(record.settled_ms, back.base_ms), owed=owed)


def reason_to_start(record: TaskRecord, due: int | None, *, now: Moment) -> Why | None:
    """Why a task that is not running is to be started now; None when it is not."""
    assert record.state is not TaskState.RUNNING, record
    if record.owed is not None or (due is not None and due * 1000 <= now.through_ms):
        return Why.DUE
    if record.retry_t_ms is not None and record.retry_t_ms <= now.t_ms:
        return Why.INTERRUPTED if record.interrupted else Why.RETRY
    return None


def started(record: TaskRecord, *, nominal: int, now: Moment) -> TaskRecord:
    """A run for the occurrence `nominal` begins; whatever was owed is settled by it."""
    assert record.state is not TaskState.RUNNING, record
    return replace(
        record,
        state=TaskState.RUNNING,
        settled_ms=max(record.settled_ms, now.through_ms),
        owed=None,
        attempt_ms=now.wall_ms,
        retry_until_ms=None,
        retry_t_ms=None,
        interrupted=False,
        nominal=nominal,
        attempts=record.attempts + 1 if nominal == record.nominal else 1,
    )


def succeeded(record: TaskRecord, *, now: Moment) -> TaskRecord:
    assert record.state is TaskState.RUNNING, record
    return replace(record, state=TaskState.AWAITING_RUN, success_ms=now.wall_ms)


def failed(record: TaskRecord, *, now: Moment) -> TaskRecord:
    """The run has failed, and is tried again after the delay."""
    assert record.state is TaskState.RUNNING, record
    delay_ms = max(record.retry_ms, RETRY_MIN_MS)
    return replace(
        record,
        state=TaskState.AWAITING_RETRY,
        failure_ms=now.wall_ms,
        retry_until_ms=min(now.wall_ms + delay_ms, _LAST_MS),
        retry_t_ms=now.t_ms + delay_ms,
    )


def ended_for_another(record: TaskRecord) -> TaskRecord:
    """The run that has ended belonged to the definition before this: nothing follows from it."""
    assert record.state is TaskState.RUNNING, record
    return replace(record, state=TaskState.AWAITING_RUN)


def crashed(record: TaskRecord, *, now: Moment) -> TaskRecord:
    """The process died during the run, which is therefore owed at once."""
    return replace(
        record,
        state=TaskState.AWAITING_RETRY,
        retry_until_ms=now.wall_ms,
        retry_t_ms=now.t_ms,
        interrupted=True,
    )
