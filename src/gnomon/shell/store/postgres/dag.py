"""
DAGs and their runs on PostgreSQL: the ports `DagStore` and `DagRuns`.

Any number of workers share them; who takes a run over and who still writes to it are kept apart by
the row of the run.

Spec: WSTORE-1 to WSTORE-4, EXECUTION-1 to EXECUTION-4.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from gnomon.ports.dag import DagRun, NodeRow, NodeState, StoredDag
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.store.dag import VERSION_END
from gnomon.shell.store.history import PAGE_MAX
from gnomon.shell.store.postgres.pool import Pool
from gnomon.shell.store.postgres.statement import SCHEMA, Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["PostgresDagRuns", "PostgresDagStore"]


class PostgresDagStore:
    """A `gnomon.ports.dag.DagStore` in the database of a ledger."""

    def __init__(self, pool: Pool, schema: str = SCHEMA) -> None:
        self._pool = pool
        self._sql = Statements(schema, "dag.sql")

    async def put(self, dag: StoredDag) -> StoredDag:
        # Several statements on purpose: a row that another transaction adds meanwhile is waited for
        # by the first, and seen by the others.
        async with self._pool.transaction() as connection:
            await connection.execute(self._sql["put_dag"], *dag)
            await connection.execute(self._sql["restore_dag"], *dag[:4])
            row = await connection.fetchrow(self._sql["kept_dag"], *dag[:3])
        assert row is not None
        return StoredDag(*row)

    async def remove(
        self, user_id: str, workflow_id: str, *, version: int | None = None, now_ms: int
    ) -> int:
        values = user_id, workflow_id, version, now_ms
        return len(await self._pool.fetch(self._sql["remove_dags"], *values))

    async def highest(self, user_id: str, workflow_id: str) -> int:
        [row] = await self._pool.fetch(self._sql["highest_dag"], user_id, workflow_id)
        return int(row[0])

    async def load(self, user_id: str, workflow_id: str, version: int) -> StoredDag | None:
        found = await self._select("dag", user_id, workflow_id, version)
        return found[0] if found else None

    async def newest(self, user_id: str, workflow_id: str) -> StoredDag | None:
        found = await self.versions(user_id, workflow_id, limit=1)
        return found[0] if found else None

    async def versions(
        self, user_id: str, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> Sequence[StoredDag]:
        end = VERSION_END - 1 if before is None else min(before, VERSION_END - 1)
        return await self._select("versions", user_id, workflow_id, end, min(limit, PAGE_MAX))

    async def newest_of_each(
        self, *, user_id: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> Sequence[StoredDag]:
        return await self._select("newest_of_each", *after, user_id, min(limit, PAGE_MAX))

    async def _select(self, name: str, *values: str | int | None) -> list[StoredDag]:
        return [StoredDag(*row) for row in await self._pool.fetch(self._sql[name], *values)]


class PostgresDagRuns:
    """A `gnomon.ports.dag.DagRuns` in the database of a ledger."""

    def __init__(self, pool: Pool, schema: str = SCHEMA) -> None:
        self._pool = pool
        self._sql = Statements(schema, "dag.sql")

    async def begin(self, dag_run: DagRun) -> DagRun:
        async with self._pool.transaction() as connection:
            await connection.execute(
                self._sql["begin_dag_run"], dag_run.key, dag_run.run_id,
                dag_run.workflow_id, dag_run.version, dag_run.user_id, dag_run.fence,
                dag_run.started_ms,
            )  # fmt: skip
            found = await self._dag_run(connection, dag_run.key)
        assert found is not None
        return found

    async def write(self, key: str, nodes: Sequence[NodeRow], *, fence: int) -> bool:
        async with self._pool.transaction() as connection:
            holds = await connection.fetchval(self._sql["may_write"], key, fence)
            if holds:
                values = [_values(key, one) for one in nodes]
                await connection.executemany(self._sql["write_node"], values)
        return bool(holds)

    async def end(
        self, key: str, status: FeedbackStatus, detail: str, *, fence: int, now_ms: int
    ) -> bool:
        rows = await self._pool.fetch(self._sql["end_dag_run"], key, fence, status, detail, now_ms)
        return bool(rows)

    async def get(self, key: str) -> DagRun | None:
        async with self._pool.transaction() as connection:
            return await self._dag_run(connection, key)

    async def log(self, key: str, node_id: str) -> str | None:
        rows = await self._pool.fetch(self._sql["log"], key, node_id)
        return str(rows[0][0]) if rows else None

    async def retain(self, *, before_ms: int, limit: int) -> int:
        rows = await self._pool.fetch(self._sql["retain_dag_runs"], before_ms, limit)
        return int(rows[0][0])

    async def _dag_run(self, connection: "Connection", key: str) -> DagRun | None:
        row = await connection.fetchrow(self._sql["dag_run"], key)
        if row is None:
            return None
        found, run_id, workflow_id, version, user_id, fence, status, *rest = row
        detail, started_ms, ended_ms = rest
        nodes = await connection.fetch(self._sql["nodes"], key)
        return DagRun(
            found, run_id, workflow_id, version, user_id, fence, FeedbackStatus(status), detail,
            started_ms, ended_ms, tuple(_node(one) for one in nodes),
        )  # fmt: skip


def _node(row: asyncpg.Record) -> NodeRow:
    node_id, state, attempt, process, detail, started_ms, ended_ms = row
    return NodeRow(
        node_id, NodeState(state), attempt, process, detail,
        started_ms=started_ms, ended_ms=ended_ms,
    )  # fmt: skip


def _values(key: str, node: NodeRow) -> tuple[str | int | None, ...]:
    return (
        key, node.node_id, node.state, node.attempt, node.process, node.detail, node.log,
        node.started_ms, node.ended_ms,
    )  # fmt: skip
