"""
The exceptions of the service, for the caller that asked it for something.

A request that cannot be meant is a `DefinitionError`, as everywhere; a store that cannot answer is
a `StoreError`. Here are the two others: what was asked about is not there, or something that is
there stands against it. Either way nothing was changed.

Spec: ERR-1.
"""

from typing import ClassVar

from gnomon.errors.root import GnomonError, shown

__all__ = ["ConflictError", "NotFoundError"]


class NotFoundError(GnomonError, LookupError):
    """
    There is nothing of that name for this caller.

    What belongs to another tenant is not there either.
    """

    code: ClassVar[str] = "not-found"

    def __init__(self, *, where: str, got: str) -> None:
        self.where = where
        self.got = got
        self.reason = "is not known"
        self.hint = "check the name, and whose it is"
        super().__init__(f"{where}: is not known, got {shown(got)}")


class ConflictError(GnomonError):
    """What was asked for goes against what is there; ask again when that has changed."""

    code: ClassVar[str] = "conflict"

    def __init__(self, reason: str, *, where: str, got: object, hint: str = "") -> None:
        self.reason = reason
        self.where = where
        self.got = got
        self.hint = hint
        line = f"{where}: {reason}, got {shown(got)}"
        super().__init__(f"{line}; {hint}" if hint else line)
