"""
The workflow log on SQLite: the port `WorkflowLog`, one transaction and one hop for each call.

As with the journal, a call runs as a whole on the executor it was opened with, or inline without
one. A host that opens a file to hold its workflows owns it until it closes it or dies, so that the
next host follows a killed one at once. Others may open the file too, to look and give commands.

Spec: WLOG-1 to WLOG-9.
"""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from gnomon.errors import OwnershipLostError
from gnomon.ports.workflow_facts import (
    Answer,
    Committed,
    Event,
    EventStatus,
    Facts,
    Input,
    Mutation,
    Pending,
    Publication,
    Run,
    Script,
    Standing,
    WorkflowChange,
)
from gnomon.shell.store.database import BUSY_MS, MEMORY, Database
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.looking import holder_of
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.queries import named
from gnomon.shell.store.workflow_forgetting import forget, remove
from gnomon.shell.store.workflow_rows import (
    Row,
    event_of,
    handler_of,
    input_of,
    mutation_of,
    run_of,
    script_of,
    standing_of,
    standing_row,
)
from gnomon.shell.store.workflow_writing import NotPending, apply_change, publish

__all__ = ["SqliteWorkflowLog"]

_SQL = named("workflow.sql")
_NEWEST = 1 << 62
_Result = TypeVar("_Result")


class SqliteWorkflowLog:
    """A `gnomon.ports.WorkflowLog` in a SQLite file, or in memory."""

    def __init__(
        self, database: Database, *, executor: Executor | None = None,
        ownership: Ownership | None = None, lasting: bool = False,
    ) -> None:  # fmt: skip
        self.database = database
        self._executor = executor
        self._ownership = ownership
        self._lasting = lasting

    @classmethod
    async def open(
        cls, path: str, *, to_hold: bool = False, threaded: bool = True, busy_ms: int = BUSY_MS
    ) -> "SqliteWorkflowLog":
        """Open a file; `to_hold` owns it, and is a `StoreHeldError` when another process does."""
        executor = _thread() if threaded else None

        def work() -> SqliteWorkflowLog:
            holds = to_hold and path != MEMORY
            ownership = Ownership(lock_beside(path)) if holds else None
            try:
                database = Database(path, family="workflow", busy_ms=busy_ms, owner=ownership)
            except BaseException:
                if ownership is not None:
                    ownership.release()
                raise
            return cls(database, executor=executor, ownership=ownership)

        if executor is None:
            return work()
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, work)
        except BaseException:
            executor.shutdown(wait=False)
            raise

    @property
    def name(self) -> str:
        return self.database.path

    async def take(self, *, holder: str, known: Collection[str] = ()) -> dict[str, int]:
        values = (holder, json.dumps(list(known)))

        def work(connection: sqlite3.Connection) -> dict[str, int]:
            return dict(connection.execute(_SQL["take"], values).fetchall())

        return await self._write(work)

    async def keep(self, held: Mapping[str, int]) -> set[str]:
        def work(connection: sqlite3.Connection) -> set[str]:
            found = dict(connection.execute(_SQL["fences"]).fetchall())
            return {name for name, fence in held.items() if found.get(name) != fence}

        return await self._read(work)

    async def release(self, held: Mapping[str, int]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(_SQL["release"], list(held.items()))

        await self._write(work)

    async def load(self, workflow: str) -> Facts | None:
        return await self._read(lambda connection: _facts(connection, workflow))

    async def commit(
        self, change: WorkflowChange, *, seen: int, fence: int | None = None, number: int = 0
    ) -> Committed:
        def work(connection: sqlite3.Connection) -> Answer:
            return self._commit(connection, change, seen=seen, fence=fence, number=number)

        try:
            return Committed(await self._write(work))
        except NotPending as error:
            return Committed(Answer.NOT_PENDING, error.events)

    async def publish(
        self, workflow: str, publications: Sequence[Publication], *, now_ms: int
    ) -> int:
        def work(connection: sqlite3.Connection) -> int:
            standing = _standing(connection, workflow)
            assert standing is not None, workflow
            return publish(
                connection, workflow, publications, arrivals=standing.arrivals, publisher=None,
                now_ms=now_ms,
            )  # fmt: skip

        return await self._write(work)

    async def peek(
        self, workflow: str, topics: Sequence[str], *, limit: int, after: int = 0
    ) -> dict[str, list[Event]]:
        def work(connection: sqlite3.Connection) -> dict[str, list[Event]]:
            return {
                topic: _all(connection, "peek", event_of, workflow, topic, after, limit)
                for topic in topics
            }

        return await self._read(work)

    async def find(self, workflow: str, topic: str, ids: Sequence[str]) -> list[Event]:
        return await self._list("find", event_of, workflow, topic, json.dumps(list(ids)))

    async def reserved(self, workflow: str, run: int) -> list[Event]:
        return await self._list("reserved", event_of, workflow, run)

    async def script(self, workflow: str, version: int) -> Script | None:
        return await self._read(
            lambda connection: _one(connection, "script", script_of, workflow, version)
        )

    async def versions(self) -> dict[str, tuple[int, int]]:
        def work(connection: sqlite3.Connection) -> dict[str, tuple[int, int]]:
            rows = connection.execute(_SQL["versions"]).fetchall()
            return {name: (version, arrivals) for name, version, arrivals in rows}

        return await self._read(work)

    async def holders(self) -> dict[str, str]:
        def work(connection: sqlite3.Connection) -> dict[str, str]:
            found = dict(connection.execute(_SQL["holders"]).fetchall())
            if self._ownership is not None or self.database.path == MEMORY:
                return found
            owner = holder_of(Path(self.database.path)) or ""
            return {name: owner and (holder or owner) for name, holder in found.items()}

        return await self._read(work)

    async def runs(self, workflow: str, *, limit: int, before: int | None = None) -> list[Run]:
        return await self._list("runs", run_of, workflow, before or _NEWEST, limit)

    async def mutations(self, workflow: str, runs: Collection[int]) -> list[Mutation]:
        return await self._list("mutations", mutation_of, workflow, json.dumps(list(runs)))

    async def scripts(
        self, workflow: str, *, limit: int, before: int | None = None
    ) -> list[Script]:
        return await self._list("scripts", script_of, workflow, before or _NEWEST, limit)

    async def remove(self, workflow: str, *, seen: tuple[int, int]) -> Answer:
        def work(connection: sqlite3.Connection) -> Answer:
            standing = _standing(connection, workflow)
            if standing is None or (standing.version, standing.arrivals) != seen:
                return Answer.STALE
            remove(connection, standing)
            return Answer.MADE

        return await self._write(work)

    async def events(
        self, workflow: str, *, limit: int, topic: str | None = None,
        status: EventStatus | None = None, before: int | None = None,
    ) -> list[Event]:  # fmt: skip
        number = _NEWEST if before is None else before
        return await self._list("events", event_of, workflow, topic, status, number, limit)

    async def inputs(self, workflow: str, *, limit: int, id: str | None = None) -> list[Input]:
        return await self._list("inputs", input_of, workflow, id, limit)

    async def forget(
        self, workflow: str, *, fence: int, ended_ms: int, published_ms: int, after: int,
        limit: int, newest: int,
    ) -> int:  # fmt: skip
        def work(connection: sqlite3.Connection) -> int:
            standing = _standing(connection, workflow)
            if standing is None or standing.fence != fence:
                raise self._lost(workflow)
            return forget(
                connection, standing, ended_ms=ended_ms, published_ms=published_ms, after=after,
                limit=limit, newest=newest,
            )  # fmt: skip

        return await self._write(work)

    async def close(self) -> None:
        if not self._lasting:
            await self._hop(self.database.close)
        if self._ownership is not None:
            self._ownership.release()
            self._ownership = None
        if isinstance(self._executor, ThreadPoolExecutor):
            self._executor.shutdown(wait=False)

    def _commit(
        self, connection: sqlite3.Connection, change: WorkflowChange, *, seen: int,
        fence: int | None, number: int,
    ) -> Answer:  # fmt: skip
        name = change.standing.name
        standing = _standing(connection, name)
        if standing is None:
            if seen:
                return Answer.STALE
            created = to_text(change.standing.created_ms)
            connection.execute(
                _SQL["add_workflow"], (name, *standing_row(change.standing), created)
            )
            apply_change(connection, change, arrivals=0, now_ms=change.standing.created_ms)
            return Answer.MADE
        if fence is not None:
            if standing.fence != fence:
                raise self._lost(name)
            if standing.writes == number:  # it was made, and its answer was lost
                return Answer.MADE
        if standing.version != seen:
            return Answer.STALE
        writes = standing.writes if fence is None else number
        connection.execute(_SQL["set_workflow"], (*standing_row(change.standing), writes, name))
        apply_change(connection, change, arrivals=standing.arrivals, now_ms=_latest_ms(change))
        return Answer.MADE

    def _lost(self, workflow: str) -> OwnershipLostError:
        return OwnershipLostError(
            f"workflow {workflow} is held by another host now", where=self.database.path,
            hint="stop this one; what it has not written is lost",
        )  # fmt: skip

    async def _list(
        self, statement: str, read: Callable[[Row], _Result], *values: str | int | None
    ) -> list[_Result]:
        return await self._read(lambda connection: _all(connection, statement, read, *values))

    async def _read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self._hop(lambda: self.database.read(work))

    async def _write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self._hop(lambda: self.database.write(work))

    async def _hop(self, work: Callable[[], _Result]) -> _Result:
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


def _facts(connection: sqlite3.Connection, workflow: str) -> Facts | None:
    standing = _standing(connection, workflow)
    if standing is None:
        return None
    run = mutation = None
    if standing.current is not None:
        run = _one(connection, "run", run_of, workflow, standing.current)
        if run is not None and run.mutation is not None:
            mutation = _one(connection, "mutation", mutation_of, workflow, run.mutation)
    topics = connection.execute(_SQL["topics"], (workflow,)).fetchall()
    return Facts(
        standing=standing, handlers=tuple(_all(connection, "handlers", handler_of, workflow)),
        run=run, mutation=mutation,
        pending={name: Pending(size, oldest, newest) for name, size, newest, oldest in topics},
    )  # fmt: skip


def _standing(connection: sqlite3.Connection, workflow: str) -> Standing | None:
    return _one(connection, "standing", standing_of, workflow)


def _one(
    connection: sqlite3.Connection, statement: str, read: Callable[[Row], _Result],
    *values: str | int | None,
) -> _Result | None:  # fmt: skip
    row = connection.execute(_SQL[statement], values).fetchone()
    return None if row is None else read(row)


def _all(
    connection: sqlite3.Connection, statement: str, read: Callable[[Row], _Result],
    *values: str | int | None,
) -> list[_Result]:  # fmt: skip
    return [read(row) for row in connection.execute(_SQL[statement], values)]


def _latest_ms(change: WorkflowChange) -> int:
    """When the change was decided; new events are from then."""
    return max((run.updated_ms for run in change.runs), default=0)


def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="gnomon-workflow")
