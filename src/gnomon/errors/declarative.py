"""
The exceptions of the declarative scheduler, with the names, messages and details of its contract.

`str()` is the message, word for word as the contract has it; `details` holds the facts under the
contract's own names. What to do about it stands in a note below the message. An error about one
registration says which: `index` counts from 0.

Spec: ERR-6, ERR-7.
"""

from typing import ClassVar

from gnomon.errors.root import DefinitionError, GnomonError, StoreError, printable, shown

__all__ = [
    "CronCalculationError",
    "CronExpressionInvalidError",
    "InvalidRegistrationError",
    "NegativeRetryDelayError",
    "OwnershipLostError",
    "RegistrationShapeError",
    "RegistrationsNotArrayError",
    "ScheduleDuplicateTaskError",
    "ScheduleTaskError",
    "SchedulerAlreadyActiveError",
    "StopSchedulerError",
    "TaskInvalidStructureError",
    "TaskInvalidTypeError",
    "TaskInvalidValueError",
    "TaskListMismatchError",
    "TaskMissingFieldError",
    "TaskTryDeserializeError",
]

_SHAPE = "[string, string, function, Duration]"


class _RegistrationError(DefinitionError):
    """What was handed to `initialize` cannot be meant; nothing has happened."""

    def __init__(
        self, message: str, *, details: dict[str, object], where: str, got: object, reason: str,
        hint: str, index: int | None = None,
    ) -> None:  # fmt: skip
        self.index = index
        self.details = details
        self._message = message
        super().__init__(reason, where=where, got=got, hint=hint)
        self.add_note(f"hint: {hint}" + ("" if index is None else f" (registration {index})"))

    def _line(self) -> str:
        return self._message


class RegistrationsNotArrayError(_RegistrationError):
    """The registrations are no list."""

    code: ClassVar[str] = "registrations-not-array"

    def __init__(self, got: object) -> None:
        super().__init__(
            "Registrations must be an array", details={}, where="registrations", got=got,
            reason="must be a list or a tuple", hint="write [(name, cron, callback, retry_delay)]",
        )  # fmt: skip


class RegistrationShapeError(_RegistrationError):
    """A registration has the wrong length, or something of the wrong type in it."""

    code: ClassVar[str] = "registration-shape"

    def __init__(self, index: int, received: object, *, reason: str, hint: str) -> None:
        super().__init__(
            f"Invalid registration shape: expected {_SHAPE}",
            details={"registrationIndex": index, "received": received},
            where=f"registrations[{index}]", got=received, reason=reason, hint=hint, index=index,
        )  # fmt: skip


class InvalidRegistrationError(_RegistrationError):
    """A registration has the right shape and still cannot be meant."""

    code: ClassVar[str] = "registration-invalid"

    def __init__(self, index: int, field: str, value: object, *, reason: str, hint: str) -> None:
        super().__init__(
            f"Invalid registration: {field} {reason}, got {shown(value)}",
            details={"field": field, "value": value, "reason": reason},
            where=f"registrations[{index}].{field}", got=value, reason=reason, hint=hint,
            index=index,
        )  # fmt: skip


class ScheduleDuplicateTaskError(_RegistrationError):
    """Two registrations have one name."""

    code: ClassVar[str] = "registration-duplicate"

    def __init__(self, index: int, name: str) -> None:
        super().__init__(
            f'Task with name "{printable(name)}" is already scheduled',
            details={"taskName": name}, where=f"registrations[{index}].name", got=name,
            reason="must be unique in its list", hint="give each registration a name of its own",
            index=index,
        )  # fmt: skip


class CronExpressionInvalidError(_RegistrationError):
    """The cron expression of a registration is wrong; its cause says where exactly."""

    code: ClassVar[str] = "registration-cron"

    def __init__(
        self, index: int, expression: str, *, field: str, reason: str, hint: str
    ) -> None:  # fmt: skip
        super().__init__(
            f'Invalid cron expression "{printable(expression)}": {field} field {reason}',
            details={"expression": expression, "field": field, "reason": reason},
            where=f"registrations[{index}].cron", got=expression, reason=reason, hint=hint,
            index=index,
        )  # fmt: skip


class NegativeRetryDelayError(_RegistrationError):
    """A retry delay is negative."""

    code: ClassVar[str] = "registration-retry-delay"

    def __init__(self, index: int, delay_ms: int) -> None:
        super().__init__(
            "Retry delay must be non-negative", details={"retryDelayMs": delay_ms},
            where=f"registrations[{index}].retry_delay", got=delay_ms,
            reason="must not be negative", hint="write timedelta(0) or more", index=index,
        )  # fmt: skip


class SchedulerAlreadyActiveError(GnomonError):
    """
    Another run is under way already: of this scheduler, or of another one on the same store.

    `owner` says which other scheduler holds the store.
    """

    code: ClassVar[str] = "scheduler-active"

    def __init__(self, state: str, *, store: str = "", owner: str = "") -> None:
        self.owner = owner
        self.details = {"currentState": state, "store": store, "owner": owner}
        if owner:
            what = f"{store} is held by {owner}"
            hint = "stop that process, name another store, or wait for it with standby=True"
        else:
            what = f"scheduler is already {state}"
            hint = 'stop() first, or choose reinitialize="reconcile"'
        super().__init__(f"Cannot initialize scheduler: {what}")
        self.add_note(f"hint: {hint}")


class ScheduleTaskError(GnomonError):
    """The store failed while registrations were applied; none of them was."""

    code: ClassVar[str] = "schedule-task"

    def __init__(self, name: str, cron_expression: str, cause: Exception) -> None:
        self.details = {"name": name, "cronExpression": cron_expression, "cause": cause}
        super().__init__(f"Failed to schedule task '{printable(name)}': {cause}")


class StopSchedulerError(GnomonError):
    """The store could not be told that nothing runs, or something still ran when time was up."""

    code: ClassVar[str] = "stop-scheduler"

    def __init__(self, cause: Exception) -> None:
        self.details = {"cause": cause}
        super().__init__(f"Failed to stop scheduler: {cause}")


class OwnershipLostError(StoreError):
    """A write came with an old fencing number: another scheduler owns the store now."""

    code: ClassVar[str] = "ownership-lost"
    lasts: ClassVar[bool] = True


class CronCalculationError(GnomonError):
    """A recurrence could not say when it occurs next."""

    code: ClassVar[str] = "cron-calculation"

    def __init__(self, expression: str, current_time: str, cause: Exception) -> None:
        self.details = {"expression": expression, "currentTime": current_time, "cause": cause}
        super().__init__(f"Failed to calculate next occurrence: {cause}")


class TaskTryDeserializeError(GnomonError):
    """
    A persisted task record cannot be read; the store is untouched.

    `task` names the record. The operator restores a backup, or removes the record, which makes the
    task a new one.
    """

    code: ClassVar[str] = "task-record"

    def __init__(self, message: str, details: dict[str, object]) -> None:
        self.details = details
        self.task = ""
        super().__init__(message)

    def of_task(self, name: str) -> "TaskTryDeserializeError":
        """The same error, knowing whose record it is about."""
        self.task = name
        self.add_note(
            f"hint: this is the record of task {shown(name)}; restore a backup of the store, or "
            "remove that record, which makes the task a new one (nothing was changed)"
        )
        return self


class TaskMissingFieldError(TaskTryDeserializeError):
    """A field is missing from a persisted task record."""

    code: ClassVar[str] = "task-record-field"

    def __init__(self, field: str) -> None:
        super().__init__(f"Missing required field: {field}", {"field": field})


class TaskInvalidTypeError(TaskTryDeserializeError):
    """A field of a persisted task record has the wrong type."""

    code: ClassVar[str] = "task-record-type"

    def __init__(self, field: str, value: object, expected: str, actual: str) -> None:
        super().__init__(
            f"Invalid type for field '{field}': expected {expected}, got {actual}",
            {"field": field, "value": value, "expectedType": expected, "actualType": actual},
        )


class TaskInvalidValueError(TaskTryDeserializeError):
    """A field of a persisted task record has a value that cannot be."""

    code: ClassVar[str] = "task-record-value"

    def __init__(self, field: str, value: object, reason: str) -> None:
        super().__init__(
            f"Invalid value for field '{field}': {reason}",
            {"field": field, "value": value, "reason": reason},
        )


class TaskInvalidStructureError(TaskTryDeserializeError):
    """A persisted task record is no record at all."""

    code: ClassVar[str] = "task-record-structure"

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(f"Invalid task record: {reason}, got {shown(value)}", {"value": value})


class TaskListMismatchError(GnomonError):
    """A persisted record stands under a name that is not its own."""

    code: ClassVar[str] = "task-list"

    def __init__(self, expected: object, actual: object) -> None:
        self.details = {"expected": expected, "actual": actual}
        super().__init__(
            f"Persisted tasks do not match: expected the record of {shown(expected)}, "
            f"got {shown(actual)}"
        )
