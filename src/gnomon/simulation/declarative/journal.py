"""
The journal as one process reaches it: the real one, behind the gate of the process.

The database is a real one in memory that outlives every process, as a file does; a call is one
transaction, made or not made when the process dies. A process that opened the journal owns it until
it closes it or dies. The call tells `Clerk` what was written; the scheduler does not.

Spec: SIM-11, SIM-13.
"""

from typing import Protocol

from gnomon.errors import StoreHeldError
from gnomon.ports import Change, Journal
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.journal import StoredJournal
from gnomon.shell.store.queries import named
from gnomon.shell.store.transaction import SqliteTransactions
from gnomon.simulation.declarative.court import Mark
from gnomon.simulation.kit.gate import Gate, Nature, Passage, behind

__all__ = ["KEPT", "Clerk", "GatedOpener", "Shelf", "watched"]

KEPT = 2_000
"""How many entries the journal keeps, so that a world of years needs no more memory."""


class Clerk(Protocol):
    """Takes down what was written."""

    def mark(self) -> Mark:
        """What is known now, from which something is about to be written."""
        ...

    def written(self, change: Change, mark: Mark, *, is_new_owner: bool) -> None: ...


class Shelf:
    """The one journal of a world, and who has it."""

    def __init__(self) -> None:
        self.database = Database(MEMORY, family="journal")
        self.journal = StoredJournal(
            SqliteTransactions(self.database, named("journal.sql")), kept=KEPT
        )
        self.holder = ""

    def put_back(self, holder: str) -> None:
        if self.holder == holder:
            self.holder = ""


def watched(shelf: Shelf, passage: Passage, clerk: Clerk, owner: str) -> Journal:
    """The journal as one process reaches it, with a clerk who takes down what it writes."""
    own = _Watched(shelf, passage, clerk, owner)
    return behind(passage, Journal, shelf.journal, own=own)


class _Watched:
    """The calls of a `Journal` that a clerk must know of."""

    def __init__(self, shelf: Shelf, passage: Passage, clerk: Clerk, owner: str) -> None:
        self.owner = owner
        self._shelf, self._inner = shelf, shelf.journal
        self._passage, self._clerk = passage, clerk

    async def acquire(self, change: Change, *, after: int) -> int:
        mark = self._clerk.mark()

        async def act() -> int:
            fence = await self._inner.acquire(change, after=after)
            self._clerk.written(change, mark, is_new_owner=True)
            return fence

        return await self._passage("acquire", act)

    async def write(self, change: Change, *, fence: int, number: int) -> None:
        mark = self._clerk.mark()
        connection = self._shelf.database.connection

        async def act() -> None:
            before = connection.total_changes
            await self._inner.write(change, fence=fence, number=number)
            if connection.total_changes != before:  # else it had been made already
                self._clerk.written(change, mark, is_new_owner=False)

        await self._passage("write", act)

    async def close(self) -> None:
        async def act() -> None:
            self._shelf.put_back(self.owner)

        await self._passage("close", act)


class GatedOpener:
    """Opens the journal of the world for one process."""

    name = "simulated store"

    def __init__(self, shelf: Shelf, gate: Gate[Nature], clerk: Clerk) -> None:
        self._shelf = shelf
        self._gate = gate
        self._clerk = clerk

    async def open(self) -> Journal:
        async def act() -> Journal:
            shelf, mine = self._shelf, self._gate.worker
            if shelf.holder and shelf.holder != mine:
                raise StoreHeldError(shelf.holder, where=self.name)
            shelf.holder = mine
            return watched(shelf, self._gate.call, self._clerk, mine)

        return await self._gate.call("open", act)
