"""
The workflow log as one process reaches it: the real one, behind the gate of the process.

The database is a real one that outlives every process, as a file does; a call is one transaction,
made or not made when the process dies.

Spec: WSIM-1.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from gnomon.ports.workflow_facts import (
    Answer,
    Committed,
    Event,
    EventStatus,
    Facts,
    Input,
    Mutation,
    Publication,
    Run,
    Script,
    WorkflowChange,
)
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.store.database import MEMORY, Database
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from gnomon.simulation.gate import Gate, Nature

__all__ = ["GatedLog", "MemoryStore", "Store"]


class Store(Protocol):
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


class MemoryStore:
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


class GatedLog:
    """
    A `WorkflowLog` whose calls go through a gate.

    `written` is told of each commit, `forgets` before (True) and after (False) some is forgotten;
    while it `lacks` what they import, no script can be had.
    """

    name = "simulated store"

    def __init__(
        self, inner: WorkflowLog, gate: Gate[Nature], written: Callable[[], None],
        forgets: Callable[[bool], None], lacks: Callable[[int], Lacking | None],
    ) -> None:  # fmt: skip
        self._lacks = lacks
        self._forgets = forgets
        self._inner = inner
        self._gate = gate
        self._written = written

    async def take(self, *, holder: str, known: Collection[str] = ()) -> dict[str, int]:
        return await self._gate.call(
            "take", lambda: self._inner.take(holder=holder, known=known), stores=True
        )

    async def keep(self, held: Mapping[str, int]) -> set[str]:
        return await self._gate.call("keep", lambda: self._inner.keep(held), stores=True)

    async def release(self, held: Mapping[str, int]) -> None:
        await self._gate.call("release", lambda: self._inner.release(held), stores=True)

    async def load(self, workflow: str) -> Facts | None:
        return await self._gate.call("load", lambda: self._inner.load(workflow), stores=True)

    async def commit(
        self, change: WorkflowChange, *, seen: int, fence: int | None = None, number: int = 0
    ) -> Committed:
        async def act() -> Committed:
            done = await self._inner.commit(change, seen=seen, fence=fence, number=number)
            self._written()
            return done

        return await self._gate.call("commit", act, stores=True)

    async def publish(
        self, workflow: str, publications: Sequence[Publication], *, now_ms: int
    ) -> int:
        return await self._gate.call(
            "publish", lambda: self._inner.publish(workflow, publications, now_ms=now_ms),
            stores=True,
        )  # fmt: skip

    async def peek(
        self, workflow: str, topics: Sequence[str], *, limit: int, after: int = 0
    ) -> dict[str, list[Event]]:
        return await self._gate.call(
            "peek", lambda: self._inner.peek(workflow, topics, limit=limit, after=after),
            stores=True,
        )  # fmt: skip

    async def find(self, workflow: str, topic: str, ids: Sequence[str]) -> list[Event]:
        return await self._gate.call(
            "find", lambda: self._inner.find(workflow, topic, ids), stores=True
        )

    async def reserved(self, workflow: str, run: int) -> list[Event]:
        return await self._inner.reserved(workflow, run)

    async def script(self, workflow: str, version: int) -> Script | None:
        found = await self._gate.call(
            "script", lambda: self._inner.script(workflow, version), stores=True
        )
        lacking = self._lacks(version)
        if lacking is None or found is None:
            return found
        return found._replace(digest="", text=lacking.text) if lacking.text else None

    async def versions(self) -> dict[str, tuple[int, int]]:
        return await self._gate.call("versions", self._inner.versions, stores=True)

    async def holders(self) -> dict[str, str]:
        return await self._inner.holders()

    async def runs(self, workflow: str, *, limit: int, before: int | None = None) -> list[Run]:
        return await self._inner.runs(workflow, limit=limit, before=before)

    async def mutations(self, workflow: str, runs: Collection[int]) -> list[Mutation]:
        return await self._inner.mutations(workflow, runs)

    async def scripts(
        self, workflow: str, *, limit: int, before: int | None = None
    ) -> list[Script]:
        return await self._inner.scripts(workflow, limit=limit, before=before)

    async def remove(self, workflow: str, *, seen: tuple[int, int]) -> Answer:
        return await self._inner.remove(workflow, seen=seen)

    async def events(
        self, workflow: str, *, limit: int, topic: str | None = None,
        status: EventStatus | None = None, before: int | None = None,
    ) -> list[Event]:  # fmt: skip
        return await self._inner.events(
            workflow, limit=limit, topic=topic, status=status, before=before
        )

    async def inputs(self, workflow: str, *, limit: int, id: str | None = None) -> list[Input]:
        return await self._inner.inputs(workflow, limit=limit, id=id)

    async def forget(
        self, workflow: str, *, fence: int, ended_ms: int, published_ms: int, after: int,
        limit: int, newest: int,
    ) -> int:  # fmt: skip
        async def act() -> int:
            self._forgets(True)
            try:
                return await self._inner.forget(
                    workflow, fence=fence, ended_ms=ended_ms, published_ms=published_ms,
                    after=after, limit=limit, newest=newest,
                )  # fmt: skip
            finally:
                self._forgets(False)

        return await self._gate.call("forget", act, stores=True)

    async def close(self) -> None:
        """The database outlives the process."""
