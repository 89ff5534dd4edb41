"""
Whose is a ledger? Of the door that used it first, and of no other.

`gnomon run` and krond make the schedules of a ledger their own and delete the others, and a worker
of the service can start nothing but DAGs. So a ledger has a note of its door, and every door
asks for it before it changes or claims anything. A command that only reads does not ask.

Of doors that come to a new ledger at once, the first one to write the note has it: a note that is
there is read and not written again.

Spec: CLI-41.
"""

from enum import StrEnum
from typing import Protocol

from gnomon.errors import StoreError

__all__ = ["BELONGS_TO", "FILE_NAME", "Door", "NotedLedger", "belong", "check_move"]

BELONGS_TO = "belongs_to"
"""The note in which a ledger keeps its door."""
FILE_NAME = "file_of_schedules"
"""The note in which a ledger of `gnomon run` keeps the name of its file."""


class Door(StrEnum):
    """What runs the schedules of a ledger."""

    RUN = "run"
    SERVICE = "service"
    KROND = "krond"


class NotedLedger(Protocol):
    """What a ledger must tell about itself."""

    async def note(self, name: str) -> str | None: ...

    async def note_once(self, name: str, value: str) -> str:
        """Write something down, unless there is something under this name; what is there now."""
        ...


async def belong(ledger: NotedLedger, door: Door, *, place: str, otherwise: str, hint: str) -> None:
    """
    Have a ledger belong to a door; a `StoreError` when it is another's, and nothing is changed.

    The error says whose it is, and then `otherwise`.
    """
    owner = await ledger.note(BELONGS_TO) or await ledger.note_once(BELONGS_TO, door)
    if owner != door:
        raise StoreError(
            f"belongs to {await _words(ledger, owner)}{otherwise}", where=place, hint=hint
        )


async def check_move(
    ledger: NotedLedger, there: NotedLedger, *, name: str, place: str, hint: str
) -> None:
    """Refuse to move a ledger to where another door has begun one; it would have both."""
    mover = await ledger.note(BELONGS_TO)
    owner = await there.note(BELONGS_TO)
    if mover is not None and owner is not None and mover != owner:
        whose = f"{await _words(there, owner)}, and {name} to {await _words(ledger, mover)}"
        raise StoreError(f"belongs to {whose}", where=place, hint=hint)


async def _words(ledger: NotedLedger, owner: str) -> str:
    if owner == Door.SERVICE:
        return "the service (gnomon up, api, worker)"
    file = await ledger.note(FILE_NAME)
    if owner == Door.RUN:
        return "gnomon run" if file is None else f"the file {file} (gnomon run)"
    return str(owner)
