"""
Whose is a ledger? Of the door that used it first, and of no other.

`gnomon run` and krond make the schedules of a ledger their own and delete the others, and a worker
of the service can start nothing but workflows. So a ledger has a note of its door, and every door
asks for it before it changes or claims anything. Whoever only looks does not ask.

A ledger from before there was this note is known by what its schedules start, and by the name of
its file; an empty one is nobody's yet. Of doors that come to it at once the first one to write the
note has it, because a note that is there is not written again but read.

Spec: CLI-41.
"""

from enum import StrEnum
from typing import NamedTuple, Protocol

from gnomon.errors import StoreError

__all__ = ["BELONGS_TO", "FILE_NAME", "Door", "NotedLedger", "Starts", "belong", "check_move"]

BELONGS_TO = "belongs_to"
"""The note in which a ledger keeps its door."""
FILE_NAME = "file_of_schedules"
"""The note in which a ledger of `gnomon run` keeps the name of its file."""


class Door(StrEnum):
    """What runs the schedules of a ledger."""

    RUN = "run"
    SERVICE = "service"
    KROND = "krond"


class Starts(NamedTuple):
    """What the schedules of a ledger start."""

    workflows: bool
    """Whether there are any that start workflows of the service."""
    others: bool
    """Whether there are any that start something else."""


class NotedLedger(Protocol):
    """What a ledger must tell about itself."""

    async def note(self, name: str) -> str | None: ...

    async def note_once(self, name: str, value: str) -> str:
        """Write something down, unless there is something under this name; what is there now."""
        ...

    async def starts(self) -> Starts: ...


async def belong(ledger: NotedLedger, door: Door, *, place: str, otherwise: str, hint: str) -> None:
    """
    Have a ledger belong to a door; a `StoreError` when it is another's, and nothing is changed.

    The error says whose it is, and then `otherwise`.
    """
    owner = noted = await ledger.note(BELONGS_TO)
    if noted is None:
        owner = await _former(ledger, door)
    if noted is None and owner in (None, door):
        owner = await ledger.note_once(BELONGS_TO, door)
    if owner != door:
        raise StoreError(
            f"belongs to {await _words(ledger, owner)}{otherwise}", where=place, hint=hint
        )


async def check_move(
    ledger: NotedLedger, there: NotedLedger, *, name: str, place: str, hint: str
) -> None:
    """Refuse to move a ledger to where another door has begun one; it would have both."""
    mover = await ledger.note(BELONGS_TO) or await _former(ledger, None)
    owner = await there.note(BELONGS_TO)
    if None not in (mover, owner) and mover != owner:
        whose = f"{await _words(there, owner)}, and {name} to {await _words(ledger, mover)}"
        raise StoreError(f"belongs to {whose}", where=place, hint=hint)


async def _former(ledger: NotedLedger, door: Door | None) -> Door | None:
    """Whose a ledger without the note has been; None for nobody's."""
    file, starts = await ledger.note(FILE_NAME), await ledger.starts()
    if starts.workflows and (file is None or not starts.others):
        return Door.SERVICE
    if file is None and starts.others and door is Door.KROND:
        return Door.KROND  # its jobs look like the schedules of a file that left no name
    return Door.RUN if file is not None or starts.others else None


async def _words(ledger: NotedLedger, owner: str | None) -> str:
    if owner == Door.SERVICE:
        return "the service (gnomon up, api, worker)"
    file = await ledger.note(FILE_NAME)
    if owner == Door.RUN:
        return "gnomon run" if file is None else f"the file {file} (gnomon run)"
    return str(owner)
