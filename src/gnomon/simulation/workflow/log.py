"""
The workflow log as one process reaches it: the real one, behind the gate of the process.

The database is a real one that outlives every process, as a file does; a call is one transaction,
made or not made when the process dies.

Spec: WSIM-1.
"""

import sqlite3
from collections.abc import Callable
from typing import NamedTuple, Protocol

from gnomon.ports.workflow_facts import Committed, Script, WorkflowChange
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from gnomon.simulation.kit.gate import Gate, Nature, behind

__all__ = ["CAUSES_MS", "LACKS", "Lacking", "LogInMemory", "LogStore", "LogWitness", "watched"]


class LogStore(Protocol):
    """Where the facts of a world are, for as long as it lasts."""

    log: WorkflowLog

    def tables(self) -> sqlite3.Connection:
        """All tables as they are now, for the judges."""
        ...

    def abandon(self) -> None:
        """The process that held the workflows is dead."""
        ...

    def back_up(self) -> None:
        """Copy everything, as it is now."""
        ...

    def restore(self) -> None:
        """Be again what the latest copy was; while no process lives."""
        ...

    def close(self) -> None: ...


class LogInMemory:
    """An empty SQLite database in memory."""

    def __init__(self) -> None:
        self._database = Database(MEMORY, family="workflow")
        self.log: WorkflowLog = SqliteWorkflowLog(self._database, lasting=True)
        self._copy = sqlite3.connect(MEMORY)
        self.back_up()

    def back_up(self) -> None:
        self._database.connection.backup(self._copy)

    def restore(self) -> None:
        self._copy.backup(self._database.connection)

    def tables(self) -> sqlite3.Connection:
        return self._database.connection

    def abandon(self) -> None:
        """The process that opens a file next follows at once."""

    def close(self) -> None:
        self._copy.close()
        self._database.close()


class Lacking(NamedTuple):
    """Why a script cannot be loaded: this text is in its place, or none."""

    text: str
    cause: str


CAUSES_MS = 3_600_000
"""So often another thing is wrong with the script."""
LACKS = (
    Lacking("", "no text of it was kept"),
    Lacking("import a_share_that_is_away\n", "no module a_share_that_is_away, line 1"),
    Lacking("found = 1\nwanted = )\n", "must be Python (unmatched ')', line 2)"),
)


class LogWitness(NamedTuple):
    """Who must know of the calls to a log."""

    written: Callable[[], None]
    """Told of each commit."""
    forgets: Callable[[bool], None]
    """Told before (True) and after (False) some is forgotten."""
    lacks: Callable[[int], Lacking | None]
    """Says why a version of the script cannot be had just now."""


def watched(log: WorkflowLog, gate: Gate[Nature], witness: LogWitness) -> WorkflowLog:
    """The log as one process reaches it: behind its gate, with a witness."""
    own = _Watched(log, gate, witness)
    return behind(gate.call, WorkflowLog, log, own=own)


class _Watched:
    """The calls of a `WorkflowLog` that a witness must know of, behind the gate of one process."""

    name = "simulated store"

    def __init__(self, inner: WorkflowLog, gate: Gate[Nature], witness: LogWitness) -> None:
        self._inner, self._gate, self._witness = inner, gate, witness

    async def commit(
        self, change: WorkflowChange, *, seen: int, fence: int | None = None, number: int = 0
    ) -> Committed:
        async def act() -> Committed:
            done = await self._inner.commit(change, seen=seen, fence=fence, number=number)
            self._witness.written()
            return done

        return await self._gate.call("commit", act)

    async def script(self, workflow: str, version: int) -> Script | None:
        found = await self._gate.call("script", lambda: self._inner.script(workflow, version))
        lacking = self._witness.lacks(version)
        if lacking is None or found is None:
            return found
        return found._replace(digest="", text=lacking.text) if lacking.text else None

    async def forget(
        self, workflow: str, *, fence: int, ended_ms: int, published_ms: int, after: int,
        limit: int, newest: int,
    ) -> int:  # fmt: skip
        async def act() -> int:
            self._witness.forgets(True)
            try:
                return await self._inner.forget(
                    workflow, fence=fence, ended_ms=ended_ms, published_ms=published_ms,
                    after=after, limit=limit, newest=newest,
                )  # fmt: skip
            finally:
                self._witness.forgets(False)

        return await self._gate.call("forget", act)

    async def close(self) -> None:
        """The database outlives the process."""
