"""
What goes wrong in a workflow, sorted by who can put it right.

Handlers and tools raise these to say which kind of trouble they met; the host decides what follows.
A tool that mutates says besides whether it has acted: `AuthError("sign in again", acted=False)`.
Without that, only `LogicError` and `PermissionDeniedError` say that nothing has happened; after any
other it must be found out.

Two more are for the caller of a command: there is no such workflow, or not now.

Spec: FAIL-1, FAIL-2, WASK-6.
"""

from typing import ClassVar

from gnomon.errors.root import DefinitionError, GnomonError

__all__ = [
    "AuthError",
    "CommandRefusedError",
    "HostError",
    "LogicError",
    "PermissionDeniedError",
    "PreconditionError",
    "TransientError",
    "UnknownWorkflowError",
    "WorkflowError",
]


class WorkflowError(GnomonError):
    """
    Trouble in a handler or a tool; `fault` is its class, `reason` says it in words.

    `acted` is for a tool that mutates: False when it has certainly done nothing, None when that
    must be found out.
    """

    code: ClassVar[str] = "workflow"
    fault: ClassVar[str] = "logic"
    acts: ClassVar[bool | None] = None
    """What a tool means that does not say whether it has acted."""

    def __init__(self, reason: str, *, acted: bool | None = None) -> None:
        self.reason = reason
        self.acted = self.acts if acted is None else acted
        super().__init__(reason)


class TransientError(WorkflowError):
    """It is expected to pass without anybody doing anything: a rate limit, a time-out."""

    code: ClassVar[str] = "workflow-transient"
    fault: ClassVar[str] = "transient"


class LogicError(WorkflowError):
    """The script is wrong, or was given something that it cannot take."""

    code: ClassVar[str] = "workflow-logic"
    fault: ClassVar[str] = "logic"
    acts: ClassVar[bool | None] = False


class AuthError(WorkflowError):
    """The user must sign in again: a token has expired."""

    code: ClassVar[str] = "workflow-auth"
    fault: ClassVar[str] = "auth"


class PermissionDeniedError(WorkflowError):
    """The user must grant something."""

    code: ClassVar[str] = "workflow-permission"
    fault: ClassVar[str] = "permission"
    acts: ClassVar[bool | None] = False


class PreconditionError(WorkflowError):
    """Something that must be there is not, and only the user can put it there."""

    code: ClassVar[str] = "workflow-precondition"
    fault: ClassVar[str] = "precondition"


class HostError(WorkflowError):
    """A bug of the host or of a tool; only its maintainers can put it right."""

    code: ClassVar[str] = "workflow-internal"
    fault: ClassVar[str] = "internal"


class UnknownWorkflowError(DefinitionError):
    """A command is about a workflow that is not deployed."""

    code: ClassVar[str] = "workflow-unknown"


class CommandRefusedError(DefinitionError):
    """A command cannot be followed now, as things stand; `got` is how they stand."""

    code: ClassVar[str] = "workflow-refused"
