"""
The workflow log on PostgreSQL for a simulated world: each call is done when it is made.

As with the ledger, the connections live in a loop of their own, on a thread. A lease is judged by
the clock of the database, which knows nothing of the time of a world; so it is over when its
process is dead. The judges read SQLite: they get a copy of all tables, as they are at that moment.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from datetime import datetime
from threading import Thread
from typing import TypeVar, cast

from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.store.postgres.workflow_log import PostgresWorkflowLog
from gnomon.shell.store.queries import migrations

__all__ = ["PostgresWorkflows"]

_Result = TypeVar("_Result")
_Do = Callable[[Coroutine[None, None, object]], object]
_TABLES = {
    "workflows": "workflows", "scripts": "workflow_scripts", "handlers": "workflow_handlers",
    "runs": "workflow_runs", "mutations": "workflow_mutations", "topics": "workflow_topics",
    "events": "workflow_events", "inputs": "workflow_inputs", "event_causes": "workflow_causes",
}  # fmt: skip


class PostgresWorkflows:
    """Makes stores for worlds, one after the other, in one schema."""

    def __init__(self, url: str, schema: str) -> None:
        self.schema = schema
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.log = self.do(PostgresWorkflowLog.open(url, schema=schema))

    def __call__(self) -> "_Store":
        self.do(
            self.log.pool.fetch(
                f"TRUNCATE {self.schema}.workflows, {self.schema}.workflow_causes CASCADE"
            )
        )
        return _Store(self)

    def do(self, call: Coroutine[None, None, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def close(self) -> None:
        self.do(self.log.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Store:
    def __init__(self, workflows: PostgresWorkflows) -> None:
        self.log = cast("WorkflowLog", _Blocking(workflows.log, cast("_Do", workflows.do)))
        self._workflows = workflows
        self._copy = sqlite3.connect(":memory:", check_same_thread=False)
        self._copy.executescript("".join(migrations("workflow")))
        self.back_up()

    def tables(self) -> sqlite3.Connection:
        for name, table in _TABLES.items():
            self._copy.execute(f"DELETE FROM {name}")
            columns = [row[1] for row in self._copy.execute(f"PRAGMA table_info({name})")]
            listed, marks = ", ".join(columns), ", ".join("?" * len(columns))
            rows = self._workflows.do(
                self._workflows.log.pool.fetch(
                    f"SELECT {listed} FROM {self._workflows.schema}.{table}"
                )
            )
            self._copy.executemany(
                f"INSERT INTO {name} ({listed}) VALUES ({marks})",
                [[_plain(value) for value in row] for row in rows],
            )
        return self._copy

    def abandon(self) -> None:
        statement = (
            f"UPDATE {self._workflows.schema}.workflows SET lease_until = now() - interval '1 hour'"
        )
        self._workflows.do(self._workflows.log.pool.fetch(statement))

    def back_up(self) -> None:
        name = f"{self._workflows.schema}_copy"
        self._run(
            f"DROP SCHEMA IF EXISTS {name} CASCADE", f"CREATE SCHEMA {name}",
            *(
                f"CREATE TABLE {name}.{table} AS TABLE {self._workflows.schema}.{table}"
                for table in _TABLES.values()
            ),
        )  # fmt: skip

    def restore(self) -> None:
        name, schema = f"{self._workflows.schema}_copy", self._workflows.schema
        self._run(
            f"TRUNCATE {schema}.workflows, {schema}.workflow_causes CASCADE",
            *(f"INSERT INTO {schema}.{one} TABLE {name}.{one}" for one in _TABLES.values()),
        )
        self.abandon()

    def _run(self, *statements: str) -> None:
        for statement in statements:
            self._workflows.do(self._workflows.log.pool.fetch(statement))

    def close(self) -> None:
        """The next world empties the database."""
        self._copy.close()


class _Blocking:
    """A log whose calls are over when they are made."""

    name = "simulated store"

    def __init__(self, log: PostgresWorkflowLog, do: _Do) -> None:
        self._log, self._do = log, do

    def __getattr__(self, name: str) -> Callable[..., Coroutine[None, None, object]]:
        call = getattr(self._log, name)

        async def blocking(*values: object, **named: object) -> object:
            return self._do(call(*values, **named))

        return blocking


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value
