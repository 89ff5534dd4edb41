"""
What is kept about a task, and how it stands in the store.

A record is one JSON object with the contract's own names; instants in it are RFC 3339 texts in UTC.
Reading is strict: a missing field, a wrong type or an impossible value is an error that names it,
because a scheduler that guesses what it did will do it twice or not at all.

Spec: RECORD-1 to RECORD-3, TASK-1.
"""

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from gnomon.core.civil.instant import format_instant
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

__all__ = ["TaskRecord", "TaskState", "read_record", "write_record"]

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}


class TaskState(StrEnum):
    """Where a task stands; exactly one at any time."""

    AWAITING_RUN = "AwaitingRun"
    RUNNING = "Running"
    AWAITING_RETRY = "AwaitingRetry"


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


def _wrong_type(key: str, found: object, expected: str) -> TaskInvalidTypeError:
    return TaskInvalidTypeError(key, found, expected, _TYPES.get(type(found), "number"))
