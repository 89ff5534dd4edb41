"""
Every exception that Gnomon raises.

`root` has those that any part may raise, sorted by who must act. Exceptions that belong to one door
have a module of their own. All of them are imported from here: `from gnomon.errors import ...`.

Spec: ERR-1.
"""

from gnomon.errors.daemon import KrontabError
from gnomon.errors.declarative import (
    CronCalculationError,
    CronExpressionInvalidError,
    InvalidRegistrationError,
    NegativeRetryDelayError,
    OwnershipLostError,
    RegistrationShapeError,
    RegistrationsNotArrayError,
    ScheduleDuplicateTaskError,
    SchedulerAlreadyActiveError,
    ScheduleTaskError,
    StopSchedulerError,
    TaskInvalidStructureError,
    TaskInvalidTypeError,
    TaskInvalidValueError,
    TaskListMismatchError,
    TaskMissingFieldError,
    TaskTryDeserializeError,
)
from gnomon.errors.root import (
    DamagedStoreError,
    DefinitionError,
    FieldParseError,
    GnomonError,
    IncompatibleStateError,
    InvalidCronExpressionError,
    MissingExtraError,
    StoreError,
    StoreGoneError,
    StoreHeldError,
)
from gnomon.errors.service import ConflictError, NotFoundError
from gnomon.errors.workflow import (
    AuthError,
    CommandRefusedError,
    HostError,
    LogicError,
    PermissionDeniedError,
    PreconditionError,
    TransientError,
    UnknownWorkflowError,
    WorkflowError,
)

__all__ = [
    "AuthError",
    "CommandRefusedError",
    "ConflictError",
    "CronCalculationError",
    "CronExpressionInvalidError",
    "DamagedStoreError",
    "DefinitionError",
    "FieldParseError",
    "GnomonError",
    "HostError",
    "IncompatibleStateError",
    "InvalidCronExpressionError",
    "InvalidRegistrationError",
    "KrontabError",
    "LogicError",
    "MissingExtraError",
    "NegativeRetryDelayError",
    "NotFoundError",
    "OwnershipLostError",
    "PermissionDeniedError",
    "PreconditionError",
    "RegistrationShapeError",
    "RegistrationsNotArrayError",
    "ScheduleDuplicateTaskError",
    "ScheduleTaskError",
    "SchedulerAlreadyActiveError",
    "StopSchedulerError",
    "StoreError",
    "StoreGoneError",
    "StoreHeldError",
    "TaskInvalidStructureError",
    "TaskInvalidTypeError",
    "TaskInvalidValueError",
    "TaskListMismatchError",
    "TaskMissingFieldError",
    "TaskTryDeserializeError",
    "TransientError",
    "UnknownWorkflowError",
    "WorkflowError",
]
