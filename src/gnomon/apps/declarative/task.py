"""
What is kept about a task, and what may happen to it.

A task waits for its next occurrence, runs, or waits to be tried again. An occurrence that has
passed since the latest start is owed once, however many there were; it goes before a pending retry,
and any start settles everything that was owed. Delays are counted from a failure. When the clock is
set back, what was owed is kept, and what was leapt over comes once more.

In the store a record is one JSON object with the contract's own names; instants in it are RFC 3339
texts in UTC. Reading is strict: a missing field, a wrong type or an impossible value is an error
that names it, because a scheduler that guesses what it did will do it twice or not at all.

Nothing here looks at a clock or a store.

Spec: RECORD-1 to RECORD-3, TASK-1, TASK-4, TASK-6, TASK-7, RETRY-1 to RETRY-4, CLOCK-4.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gnomon.apps.declarative.journal_time import Back, Island, JournalTime
from gnomon.core.civil.instant import format_instant
from gnomon.core.recurrence import Recurrence
from gnomon.errors import (
    DefinitionError,
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskListMismatchError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from gnomon.shell.store.instant_text import from_text, maybe_to_text, to_text

__all__ = [
    "RETRY_MIN_MS",
    "STEPS",
    "TaskEvent",
    "TaskRecord",
    "TaskState",
    "Why",
    "crashed",
    "ended_for_another",
    "failed",
    "follow",
    "gone_back",
    "latest_due",
    "next_beside",
    "next_due",
    "read_record",
    "reason_to_start",
    "started",
    "succeeded",
    "write_record",
]

RETRY_MIN_MS = 1_000
"""A delay of nothing would be a hot loop."""

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
_LAST_MS = 253_402_300_799_999  # the end of the year 9999, after which no text can be written


class TaskState(StrEnum):
    """Where a task stands; exactly one at any time."""

    AWAITING_RUN = "AwaitingRun"
    RUNNING = "Running"
    AWAITING_RETRY = "AwaitingRetry"


class TaskEvent(StrEnum):
    """What happens to a task."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """A former process died during its run, or before the run that it owed for that."""
    OUTDATED = "outdated"
    """Its run has ended, and belonged to the definition before this one."""


STEPS: dict[tuple[TaskState, TaskEvent], TaskState] = {
    (TaskState.AWAITING_RUN, TaskEvent.STARTED): TaskState.RUNNING,
    (TaskState.AWAITING_RETRY, TaskEvent.STARTED): TaskState.RUNNING,
    (TaskState.RUNNING, TaskEvent.SUCCEEDED): TaskState.AWAITING_RUN,
    (TaskState.RUNNING, TaskEvent.OUTDATED): TaskState.AWAITING_RUN,
    (TaskState.RUNNING, TaskEvent.FAILED): TaskState.AWAITING_RETRY,
    (TaskState.RUNNING, TaskEvent.INTERRUPTED): TaskState.AWAITING_RETRY,
    (TaskState.AWAITING_RUN, TaskEvent.INTERRUPTED): TaskState.AWAITING_RETRY,
    (TaskState.AWAITING_RETRY, TaskEvent.INTERRUPTED): TaskState.AWAITING_RETRY,
}
"""Every step there is; any other is an error, and nothing of it is written."""


def follow(state: TaskState, event: TaskEvent) -> TaskState:
    """The state after an event."""
    after = STEPS.get((state, event))
    if after is None:
        raise ValueError(f"a task that is {state} cannot be {event}")
    return after


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """A task as the store knows it."""

    name: str
    cron: str
    retry_ms: int
    identifier: str
    """The scheduler that wrote it."""
    settled_ms: int
    """Occurrences up to this instant are settled: served, or from before the task was known."""
    owed: int | None = None
    """An occurrence that is owed although the clock was set back before it."""
    state: TaskState = TaskState.AWAITING_RUN
    attempt_ms: int | None = None
    """When the latest run was started."""
    success_ms: int | None = None
    failure_ms: int | None = None
    retry_until_ms: int | None = None
    """While a retry is pending: when it may start, on the wall."""
    retry_t_ms: int | None = None
    """The same, in time that never goes back; this one counts."""
    interrupted: bool = False
    """Whether what is pending is a run that a crash cut off."""
    nominal: int | None = None
    """The occurrence that the latest run was for."""
    attempts: int = 0
    """How often that occurrence has been tried."""


def write_record(record: TaskRecord) -> str:
    nominal, owed = record.nominal, record.owed
    return _ENCODER.encode(
        {
            "name": record.name,
            "cronExpression": record.cron,
            "retryDelayMs": record.retry_ms,
            "schedulerIdentifier": record.identifier,
            "state": record.state,
            "lastAttemptAt": maybe_to_text(record.attempt_ms),
            "lastSuccessAt": maybe_to_text(record.success_ms),
            "lastFailureAt": maybe_to_text(record.failure_ms),
            "pendingRetryUntil": maybe_to_text(record.retry_until_ms),
            "pendingRetryT": record.retry_t_ms,
            "interrupted": record.interrupted,
            "settledThrough": to_text(record.settled_ms),
            "period": None if nominal is None else format_instant(nominal),
            "attempts": record.attempts,
        }
        | ({} if owed is None else {"owed": format_instant(owed)})
    )


def read_record(name: str, text: str) -> TaskRecord:
    """The record that stands under this name."""
    try:
        record = _read(text)
    except TaskTryDeserializeError as error:
        raise error.of_task(name) from None
    if record.name != name:
        raise TaskListMismatchError(name, record.name)
    return record


class _Fields:
    """The fields of an object, each read as what it must be."""

    def __init__(self, value: dict[str, object]) -> None:
        self._value = value

    def text(self, key: str) -> str:
        found = self._get(key)
        if not isinstance(found, str):
            raise _wrong_type(key, found, "string")
        return found

    def flag(self, key: str) -> bool:
        found = self._get(key)
        if not isinstance(found, bool):
            raise _wrong_type(key, found, "boolean")
        return found

    def natural(self, key: str) -> int:
        found = self._get(key)
        if isinstance(found, bool) or not isinstance(found, int):
            raise _wrong_type(key, found, "integer")
        if found < 0:
            raise TaskInvalidValueError(key, found, "must not be negative")
        return found

    def maybe_natural(self, key: str) -> int | None:
        return None if self._get(key) is None else self.natural(key)

    def state(self, key: str) -> TaskState:
        found = self.text(key)
        if found not in list(TaskState):
            raise TaskInvalidValueError(key, found, f"must be one of {', '.join(TaskState)}")
        return TaskState(found)

    def instant(self, key: str) -> int:
        found = self.text(key)
        return self._instant(key, found, found)

    def maybe_instant(self, key: str) -> int | None:
        return None if self._get(key) is None else self.instant(key)

    def maybe_period(self, key: str) -> int | None:
        if self._get(key) is None:
            return None
        found = self.text(key)
        return self._instant(key, found, f"{found[:-1]}.000Z") // 1000

    def _instant(self, key: str, found: str, text: str) -> int:
        if _INSTANT.fullmatch(text):
            try:
                at_ms = from_text(text)
                if to_text(at_ms) == text:
                    return at_ms
            except DefinitionError:
                pass  # before 1970
        raise TaskInvalidValueError(key, found, "must be an RFC 3339 instant in UTC")

    def _get(self, key: str) -> object:
        if key not in self._value:
            raise TaskMissingFieldError(key)
        return self._value[key]


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


def reason_to_start(record: TaskRecord, due: int | None, *, now: JournalTime) -> Why | None:
    """Why a task that is not running is to be started now; None when it is not."""
    follow(record.state, TaskEvent.STARTED)
    if record.owed is not None or (due is not None and due * 1000 <= now.through_ms):
        return Why.DUE
    if record.retry_t_ms is not None and record.retry_t_ms <= now.t_ms:
        return Why.INTERRUPTED if record.interrupted else Why.RETRY
    return None


def started(record: TaskRecord, *, nominal: int, now: JournalTime) -> TaskRecord:
    """A run for the occurrence `nominal` begins; whatever was owed is settled by it."""
    return replace(
        record,
        state=follow(record.state, TaskEvent.STARTED),
        settled_ms=max(record.settled_ms, now.through_ms),
        owed=None,
        attempt_ms=now.wall_ms,
        retry_until_ms=None,
        retry_t_ms=None,
        interrupted=False,
        nominal=nominal,
        attempts=record.attempts + 1 if nominal == record.nominal else 1,
    )


def succeeded(record: TaskRecord, *, now: JournalTime) -> TaskRecord:
    state = follow(record.state, TaskEvent.SUCCEEDED)
    return replace(record, state=state, success_ms=now.wall_ms)


def failed(record: TaskRecord, *, now: JournalTime) -> TaskRecord:
    """The run has failed, and is tried again after the delay."""
    delay_ms = max(record.retry_ms, RETRY_MIN_MS)
    return replace(
        record,
        state=follow(record.state, TaskEvent.FAILED),
        failure_ms=now.wall_ms,
        retry_until_ms=min(now.wall_ms + delay_ms, _LAST_MS),
        retry_t_ms=now.t_ms + delay_ms,
    )


def ended_for_another(record: TaskRecord) -> TaskRecord:
    """The run that has ended belonged to the definition before this: nothing follows from it."""
    return replace(record, state=follow(record.state, TaskEvent.OUTDATED))


def crashed(record: TaskRecord, *, now: JournalTime) -> TaskRecord:
    """The process died during the run, which is therefore owed at once."""
    return replace(
        record,
        state=follow(record.state, TaskEvent.INTERRUPTED),
        retry_until_ms=now.wall_ms,
        retry_t_ms=now.t_ms,
        interrupted=True,
    )


def _read(text: str) -> TaskRecord:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        raise TaskInvalidStructureError(text, "must be JSON") from None
    if not isinstance(value, dict):
        raise TaskInvalidStructureError(value, "must be an object")
    fields = _Fields(value)
    record = TaskRecord(
        name=fields.text("name"),
        cron=fields.text("cronExpression"),
        retry_ms=fields.natural("retryDelayMs"),
        identifier=fields.text("schedulerIdentifier"),
        state=fields.state("state"),
        attempt_ms=fields.maybe_instant("lastAttemptAt"),
        success_ms=fields.maybe_instant("lastSuccessAt"),
        failure_ms=fields.maybe_instant("lastFailureAt"),
        retry_until_ms=fields.maybe_instant("pendingRetryUntil"),
        retry_t_ms=fields.maybe_natural("pendingRetryT"),
        interrupted=fields.flag("interrupted"),
        settled_ms=fields.instant("settledThrough"),
        nominal=fields.maybe_period("period"),
        attempts=fields.natural("attempts"),
        owed=fields.maybe_period("owed") if "owed" in value else None,
    )
    waits = record.state is TaskState.AWAITING_RETRY
    for key, present in (
        ("pendingRetryUntil", record.retry_until_ms), ("pendingRetryT", record.retry_t_ms),
    ):  # fmt: skip
        if waits != (present is not None):
            word = "must be there" if waits else "must be null"
            raise TaskInvalidValueError(key, value[key], f"{word} in state {record.state}")
    return record


def _wrong_type(key: str, found: object, expected: str) -> TaskInvalidTypeError:
    return TaskInvalidTypeError(key, found, expected, _TYPES.get(type(found), "number"))
