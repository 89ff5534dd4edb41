"""
The workflow log on PostgreSQL: the port `WorkflowLog`, for hosts on many machines.

A host holds a workflow by a lease, judged by the clock of the database. A host that is silent for a
minute loses it to the next host that looks. That one gets a higher fencing number, and the former
holder's writes are refused from then on. A change locks the row of its workflow, so that changes of
one workflow come one after the other and those of others beside them. After each that is not the
holder's own, the channel of the schema is told.

Spec: WLOG-1 to WLOG-8.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

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
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.postgres.migration import WORKFLOW, bring_forward
from gnomon.shell.store.postgres.pool import Pool, PoolOptions
from gnomon.shell.store.postgres.statement import SCHEMA, Statements
from gnomon.shell.store.postgres.workflow_forgetting import forget, remove
from gnomon.shell.store.postgres.workflow_writing import (
    HANDLER_AT,
    MUTATION_AT,
    RUN_AT,
    Writing,
    sent,
)
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
from gnomon.shell.store.workflow_writing import NotPending

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["LEASE_MS", "PostgresWorkflowLog"]

LEASE_MS = 60_000
"""How long a host may be silent before its workflows are taken over; it looks twice as often."""

_NEWEST = 1 << 62
_STANDING_AT, _EVENT_AT, _INPUT_AT, _SCRIPT_AT = (12, 15), (10,), (3,), (4,)
_RETRY_AT = (7,)
_Result = TypeVar("_Result")


class PostgresWorkflowLog:
    """A `gnomon.ports.WorkflowLog` in a PostgreSQL database."""

    def __init__(self, pool: Pool, sql: Statements, *, lease_ms: int = LEASE_MS) -> None:
        self.pool = pool
        self.sql = sql
        self._lease_ms = lease_ms

    @classmethod
    async def open(
        cls, url: str, *, schema: str = SCHEMA, options: PoolOptions | None = None,
        lease_ms: int = LEASE_MS,
    ) -> "PostgresWorkflowLog":  # fmt: skip
        """Connect, and make the schema or bring it forward where needed."""
        sql = Statements(schema, "workflow.sql")
        pool = await Pool.open(url, options or PoolOptions())
        try:
            await bring_forward(pool, sql, WORKFLOW)
        except BaseException:
            pool.terminate()
            raise
        return cls(pool, sql, lease_ms=lease_ms)

    @property
    def name(self) -> str:
        return self.pool.place

    async def take(self, *, holder: str, known: Collection[str] = ()) -> dict[str, int]:
        rows = await self.pool.fetch(self.sql["take"], holder, self._lease_ms, list(known))
        return {row[0]: row[1] for row in rows}

    async def keep(self, held: Mapping[str, int]) -> set[str]:
        rows = await self.pool.fetch(
            self.sql["keep"], list(held), list(held.values()), self._lease_ms
        )
        return set(held) - {row[0] for row in rows}

    async def release(self, held: Mapping[str, int]) -> None:
        async with self.pool.transaction() as connection:
            for name, fence in held.items():
                await connection.execute(self.sql["release"], name, fence)

    async def load(self, workflow: str) -> Facts | None:
        async with self.pool.transaction() as connection:
            # Writers wait for this: all statements see the same.
            standing = await self._standing(connection, "standing_shared", workflow)
            if standing is None:
                return None
            run = mutation = None
            if standing.current is not None:
                run = await self._one(connection, "run", run_of, RUN_AT, workflow, standing.current)
                if run is not None and run.mutation is not None:
                    mutation = await self._one(
                        connection, "mutation", mutation_of, MUTATION_AT, workflow, run.mutation
                    )
            handlers = await connection.fetch(self.sql["handlers"], workflow)
            topics = await connection.fetch(self.sql["topics"], workflow)
        return Facts(
            standing=standing, run=run, mutation=mutation,
            handlers=tuple(handler_of(_read(tuple(row), HANDLER_AT)) for row in handlers),
            pending={name: Pending(size, oldest, newest) for name, size, newest, oldest in topics},
        )  # fmt: skip

    async def commit(
        self, change: WorkflowChange, *, seen: int, fence: int | None = None, number: int = 0
    ) -> Committed:
        try:
            async with self.pool.transaction() as connection:
                answer = await self._commit(connection, change, seen, fence, number)
                if fence is None:  # a holder knows what it has written
                    await self._tell(connection, change.standing.name)
                return Committed(answer)
        except NotPending as error:
            return Committed(Answer.NOT_PENDING, error.events)

    async def publish(
        self, workflow: str, publications: Sequence[Publication], *, now_ms: int
    ) -> int:
        async with self.pool.transaction() as connection:
            standing = await self._standing(connection, "standing_locked", workflow)
            assert standing is not None, workflow
            writing = Writing(connection, self.sql, workflow)
            changed = await writing.publish(
                publications, arrivals=standing.arrivals, publisher=None, now_ms=now_ms
            )
            await self._tell(connection, workflow)
            return changed

    async def peek(
        self, workflow: str, topics: Sequence[str], *, limit: int, after: int = 0
    ) -> dict[str, list[Event]]:
        return {
            topic: await self._list("peek", event_of, _EVENT_AT, workflow, topic, after, limit)
            for topic in topics
        }

    async def find(self, workflow: str, topic: str, ids: Sequence[str]) -> list[Event]:
        return await self._list("find", event_of, _EVENT_AT, workflow, topic, list(ids))

    async def reserved(self, workflow: str, run: int) -> list[Event]:
        return await self._list("reserved", event_of, _EVENT_AT, workflow, run)

    async def script(self, workflow: str, version: int) -> Script | None:
        found = await self._list("script", script_of, _SCRIPT_AT, workflow, version)
        return found[0] if found else None

    async def versions(self) -> dict[str, tuple[int, int]]:
        rows = await self.pool.fetch(self.sql["versions"])
        return {name: (version, arrivals) for name, version, arrivals in rows}

    async def holders(self) -> dict[str, str]:
        return {row[0]: row[1] for row in await self.pool.fetch(self.sql["held_by"])}

    async def runs(self, workflow: str, *, limit: int, before: int | None = None) -> list[Run]:
        return await self._list("runs", run_of, RUN_AT, workflow, before or _NEWEST, limit)

    async def mutations(self, workflow: str, runs: Collection[int]) -> list[Mutation]:
        return await self._list("mutations", mutation_of, MUTATION_AT, workflow, list(runs))

    async def scripts(
        self, workflow: str, *, limit: int, before: int | None = None
    ) -> list[Script]:
        return await self._list(
            "scripts", script_of, _SCRIPT_AT, workflow, before or _NEWEST, limit
        )

    async def remove(self, workflow: str, *, seen: tuple[int, int]) -> Answer:
        async with self.pool.transaction() as connection:
            standing = await self._standing(connection, "standing_locked", workflow)
            if standing is None or (standing.version, standing.arrivals) != seen:
                return Answer.STALE
            await remove(connection, self.sql, standing)
            await self._tell(connection, workflow)
            return Answer.MADE

    async def events(
        self, workflow: str, *, limit: int, topic: str | None = None,
        status: EventStatus | None = None, before: int | None = None,
    ) -> list[Event]:  # fmt: skip
        wanted = None if status is None else status.value
        number = _NEWEST if before is None else before
        return await self._list(
            "events", event_of, _EVENT_AT, workflow, topic, wanted, number, limit
        )

    async def inputs(self, workflow: str, *, limit: int, id: str | None = None) -> list[Input]:
        return await self._list("inputs", input_of, _INPUT_AT, workflow, id, limit)

    async def forget(
        self, workflow: str, *, fence: int, ended_ms: int, published_ms: int, after: int,
        limit: int, newest: int,
    ) -> int:  # fmt: skip
        async with self.pool.transaction() as connection:
            standing = await self._standing(connection, "standing_locked", workflow)
            if standing is None or standing.fence != fence:
                raise self._lost(workflow)
            return await forget(
                connection, self.sql, standing, ended_ms=ended_ms, published_ms=published_ms,
                after=after, limit=limit, newest=newest,
            )  # fmt: skip

    async def close(self) -> None:
        await self.pool.close()

    async def _commit(
        self, connection: "Connection", change: WorkflowChange, seen: int, fence: int | None,
        number: int,
    ) -> Answer:  # fmt: skip
        name = change.standing.name
        standing = await self._standing(connection, "standing_locked", name)
        writing = Writing(connection, self.sql, name)
        row = sent(standing_row(change.standing), _RETRY_AT)
        if standing is None:
            if seen:
                return Answer.STALE
            now_ms = change.standing.created_ms
            await connection.execute(self.sql["add_workflow"], name, *row, now_ms)
            await writing.apply(change, arrivals=0, now_ms=now_ms)
            return Answer.MADE
        if fence is not None:
            if standing.fence != fence:
                raise self._lost(name)
            if standing.writes == number:  # it was made, and its answer was lost
                return Answer.MADE
        if standing.version != seen:
            return Answer.STALE
        writes = standing.writes if fence is None else number
        await connection.execute(self.sql["set_workflow"], *row, writes, name)
        now_ms = max((run.updated_ms for run in change.runs), default=standing.created_ms)
        await writing.apply(change, arrivals=standing.arrivals, now_ms=now_ms)
        return Answer.MADE

    def _lost(self, workflow: str) -> OwnershipLostError:
        return OwnershipLostError(
            f"workflow {workflow} is held by another host now", where=self.pool.place,
            hint="stop this one; what it has not written is lost",
        )  # fmt: skip

    async def _tell(self, connection: "Connection", workflow: str) -> None:
        await connection.execute(self.sql["notify"], self.sql.channel, workflow)

    async def _standing(
        self, connection: "Connection", statement: str, workflow: str
    ) -> Standing | None:
        return await self._one(connection, statement, standing_of, _STANDING_AT, workflow)

    async def _one(
        self, connection: "Connection", statement: str, read: Callable[[Row], _Result],
        instants: tuple[int, ...], *values: object,
    ) -> _Result | None:  # fmt: skip
        row = await connection.fetchrow(self.sql[statement], *values)
        return None if row is None else read(_read(tuple(row), instants))

    async def _list(
        self, statement: str, read: Callable[[Row], _Result], instants: tuple[int, ...],
        *values: object,
    ) -> list[_Result]:  # fmt: skip
        rows = await self.pool.fetch(self.sql[statement], *values)
        return [read(_read(tuple(row), instants)) for row in rows]


def _read(row: Row, instants: tuple[int, ...]) -> Row:
    """A row with its instants as the texts that rows have."""
    return tuple(
        to_text(value) if place in instants and isinstance(value, int) else value
        for place, value in enumerate(row)
    )
