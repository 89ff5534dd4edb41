"""
What is removed of a workflow on PostgreSQL, inside the transaction of its caller.

It does what `shell.store.workflow_forgetting` does on SQLite, in the same order; the row of the
workflow is locked, so that no process publishes meanwhile what is about to be forgotten.

Spec: WLOG-11, WLOG-12.
"""

import json
from typing import TYPE_CHECKING

from gnomon.ports.workflow_facts import Standing
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.workflow_forgetting import PARTS

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["forget", "remove"]


async def forget(
    connection: "Connection", sql: Statements, standing: Standing, *, ended_ms: int,
    published_ms: int, after: int, limit: int, newest: int,
) -> int:  # fmt: skip
    """See `WorkflowLog.forget`."""
    name = standing.name
    first = standing.runs + 1 - newest
    if standing.current is not None:
        first = min(first, await connection.fetchval(sql["first_attempt"], name, standing.current))
    if await connection.fetch(sql["forget_runs"], name, ended_ms, first, limit):
        await connection.execute(sql["forget_mutations"], name)
        await connection.execute(sql["forget_scripts"], name, standing.script)
    row = await connection.fetchrow(sql["some_events"], name, after, limit)
    assert row is not None
    seen, last = row
    if not seen:
        return 0
    inputs: dict[str, None] = {}
    for topic, id, causes in await connection.fetch(
        sql["forget_events"], name, after, last, published_ms
    ):
        for cause in json.loads(causes):
            inputs[cause] = None
            await connection.execute(sql["forget_cause"], name, cause, topic, id)
    for one in inputs:
        await connection.execute(sql["forget_input"], name, one, ended_ms)
    return int(last) if seen == limit else 0


async def remove(connection: "Connection", sql: Statements, standing: Standing) -> None:
    """Nothing of the workflow is left but the number that its last holder had."""
    await connection.execute(sql["mark_removed"], standing.name, standing.fence)
    for part in PARTS:
        await connection.execute(sql[f"remove_{part}"], standing.name)
