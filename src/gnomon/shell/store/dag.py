"""
DAGs and their runs on SQLite: the ports `DagStore` and `DagRuns`.

They live in the file of the ledger and share its connection, so that a service is one file. A call
runs as a whole on the executor it is given, or inline without one.

Spec: WSTORE-1 to WSTORE-4, EXECUTION-1 to EXECUTION-4.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

from gnomon.ports.dag import DagRun, NodeRow, NodeState, StoredDag
from gnomon.ports.executor import FeedbackStatus
from gnomon.shell.store.database import Database
from gnomon.shell.store.history import PAGE_MAX
from gnomon.shell.store.instant_text import from_text, maybe_from_text, maybe_to_text, to_text
from gnomon.shell.store.queries import named

__all__ = ["SqliteDagRuns", "SqliteDagStore"]

VERSION_END = 2**31
_SQL = named("dag.sql")
_Result = TypeVar("_Result")


class _Part:
    """What both have in common: one transaction and one hop for each call."""

    def __init__(self, database: Database, *, executor: Executor | None = None) -> None:
        self._database = database
        self._executor = executor

    async def _read(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self._hop(lambda: self._database.read(work))

    async def _write(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        return await self._hop(lambda: self._database.write(work))

    async def _hop(self, work: Callable[[], _Result]) -> _Result:
        if self._executor is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


class SqliteDagStore(_Part):
    """A `gnomon.ports.dag.DagStore` in the file of a ledger."""

    async def put(self, dag: StoredDag) -> StoredDag:
        def work(connection: sqlite3.Connection) -> StoredDag:
            values = {
                "user_id": dag.user_id, "workflow_id": dag.workflow_id, "version": dag.version,
                "digest": dag.digest, "dag": dag.text, "created_at": to_text(dag.created_ms),
            }  # fmt: skip
            connection.execute(_SQL["put_dag"], values)
            connection.execute(_SQL["restore_dag"], values)
            return _dag(connection.execute(_SQL["kept_dag"], values).fetchone())

        return await self._write(work)

    async def remove(
        self, user_id: str, workflow_id: str, *, version: int | None = None, now_ms: int
    ) -> int:
        values = {
            "user_id": user_id, "workflow_id": workflow_id, "version": version,
            "now": to_text(now_ms),
        }  # fmt: skip
        return await self._write(
            lambda connection: connection.execute(_SQL["remove_dags"], values).rowcount
        )

    async def highest(self, user_id: str, workflow_id: str) -> int:
        values = {"user_id": user_id, "workflow_id": workflow_id}
        return await self._read(
            lambda connection: int(connection.execute(_SQL["highest_dag"], values).fetchone()[0])
        )

    async def load(self, user_id: str, workflow_id: str, version: int) -> StoredDag | None:
        found = await self._select("dag", user_id=user_id, workflow_id=workflow_id, version=version)
        return found[0] if found else None

    async def newest(self, user_id: str, workflow_id: str) -> StoredDag | None:
        found = await self.versions(user_id, workflow_id, limit=1)
        return found[0] if found else None

    async def versions(
        self, user_id: str, workflow_id: str, *, before: int | None = None, limit: int = 100
    ) -> Sequence[StoredDag]:
        return await self._select(
            "versions", user_id=user_id, workflow_id=workflow_id,
            before=VERSION_END if before is None else before, limit=min(limit, PAGE_MAX),
        )  # fmt: skip

    async def newest_of_each(
        self, *, user_id: str | None = None, after: tuple[str, str] = ("", ""), limit: int = 100
    ) -> Sequence[StoredDag]:
        return await self._select(
            "newest_of_each", user_id=user_id, after_user=after[0], after_dag=after[1],
            limit=min(limit, PAGE_MAX),
        )  # fmt: skip

    async def _select(self, name: str, **values: str | int | None) -> list[StoredDag]:
        return await self._read(
            lambda connection: [_dag(row) for row in connection.execute(_SQL[name], values)]
        )


class SqliteDagRuns(_Part):
    """A `gnomon.ports.dag.DagRuns` in the file of a ledger."""

    async def begin(self, dag_run: DagRun) -> DagRun:
        def work(connection: sqlite3.Connection) -> DagRun:
            values = {
                "key": dag_run.key, "run_id": dag_run.run_id,
                "workflow_id": dag_run.workflow_id, "version": dag_run.version,
                "user_id": dag_run.user_id, "fence": dag_run.fence,
                "started_at": to_text(dag_run.started_ms),
            }  # fmt: skip
            connection.execute(_SQL["begin_dag_run"], values)
            found = _dag_run(connection, dag_run.key)
            assert found is not None
            return found

        return await self._write(work)

    async def write(self, key: str, nodes: Sequence[NodeRow], *, fence: int) -> bool:
        def work(connection: sqlite3.Connection) -> bool:
            holds = connection.execute(_SQL["may_write"], {"key": key, "fence": fence}).fetchone()
            if holds:
                connection.executemany(_SQL["write_node"], [_values(key, one) for one in nodes])
            return bool(holds)

        return await self._write(work)

    async def end(
        self, key: str, status: FeedbackStatus, detail: str, *, fence: int, now_ms: int
    ) -> bool:
        values = {
            "key": key, "status": status, "detail": detail, "fence": fence,
            "ended_at": to_text(now_ms),
        }  # fmt: skip
        return await self._write(
            lambda connection: connection.execute(_SQL["end_dag_run"], values).rowcount > 0
        )

    async def get(self, key: str) -> DagRun | None:
        return await self._read(lambda connection: _dag_run(connection, key))

    async def log(self, key: str, node_id: str) -> str | None:
        values = {"key": key, "node_id": node_id}
        row = await self._read(
            lambda connection: connection.execute(_SQL["log"], values).fetchone()
        )
        return None if row is None else str(row[0])

    async def retain(self, *, before_ms: int, limit: int) -> int:
        values = {"before": to_text(before_ms), "limit": limit}
        return await self._write(
            lambda connection: connection.execute(_SQL["retain_dag_runs"], values).rowcount
        )


def _dag(row: tuple[str, str, int, str, str, str]) -> StoredDag:
    return StoredDag(*row[:5], created_ms=from_text(row[5]))


def _dag_run(connection: sqlite3.Connection, key: str) -> DagRun | None:
    row = connection.execute(_SQL["dag_run"], {"key": key}).fetchone()
    if row is None:
        return None
    found, run_id, workflow_id, version, user_id, fence, status, detail, started_at, ended_at = row
    nodes = connection.execute(_SQL["nodes"], {"key": key})
    return DagRun(
        found, run_id, workflow_id, version, user_id, fence, FeedbackStatus(status), detail,
        from_text(started_at), maybe_from_text(ended_at), tuple(_node(one) for one in nodes),
    )  # fmt: skip


def _node(row: tuple[str, str, int, str | None, str, str | None, str | None]) -> NodeRow:
    node_id, state, attempt, process, detail, started_at, ended_at = row
    return NodeRow(
        node_id, NodeState(state), attempt, process, detail,
        started_ms=maybe_from_text(started_at), ended_ms=maybe_from_text(ended_at),
    )  # fmt: skip


def _values(key: str, node: NodeRow) -> dict[str, str | int | None]:
    return {
        "key": key, "node_id": node.node_id, "state": node.state, "attempt": node.attempt,
        "process": node.process, "detail": node.detail, "log": node.log,
        "started_at": maybe_to_text(node.started_ms), "ended_at": maybe_to_text(node.ended_ms),
    }  # fmt: skip
