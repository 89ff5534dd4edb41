"""
What is removed of a workflow on SQLite, inside the transaction of its caller: what is over after
a while, or all of it.

Runs go oldest first, with the mutations and scripts that only they knew; then events that are
settled and whose run is gone, with the inputs that nothing is left of.

Spec: WLOG-11, WLOG-12.
"""

import json
import sqlite3

from gnomon.ports.workflow_facts import Standing
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.queries import named

__all__ = ["PARTS", "forget", "remove"]

PARTS = (
    "causes", "inputs", "events", "topics", "mutations", "runs", "handlers", "scripts", "workflow",
)  # fmt: skip
"""What there is of a workflow, in the order in which it can be removed."""

_SQL = named("workflow.sql")


def forget(
    connection: sqlite3.Connection, standing: Standing, *, ended_ms: int, published_ms: int,
    after: int, limit: int, newest: int,
) -> int:  # fmt: skip
    """See `WorkflowLog.forget`."""
    name = standing.name
    first = standing.runs + 1 - newest
    if standing.current is not None:
        row = connection.execute(_SQL["first_attempt"], (name, standing.current)).fetchone()
        first = min(first, row[0])
    gone = connection.execute(_SQL["forget_runs"], (name, to_text(ended_ms), first, limit))
    if gone.fetchall():
        connection.execute(_SQL["forget_mutations"], (name,))
        connection.execute(_SQL["forget_scripts"], (name, standing.script))
    seen, last = connection.execute(_SQL["some_events"], (name, after, limit)).fetchone()
    if seen:
        values = (name, after, last, to_text(published_ms))
        _forget_causes(
            connection, name, connection.execute(_SQL["forget_events"], values), ended_ms
        )
    return last if seen == limit else 0


def remove(connection: sqlite3.Connection, standing: Standing) -> None:
    """Nothing of the workflow is left but the number that its last holder had."""
    connection.execute(_SQL["mark_removed"], (standing.name, standing.fence))
    for part in PARTS:
        connection.execute(_SQL[f"remove_{part}"], (standing.name,))


def _forget_causes(
    connection: sqlite3.Connection, workflow: str, gone: sqlite3.Cursor, ended_ms: int
) -> None:
    inputs: dict[str, None] = {}
    for topic, id, causes in gone.fetchall():
        for cause in json.loads(causes):
            inputs[cause] = None
            connection.execute(_SQL["forget_cause"], (workflow, cause, topic, id))
    for one in inputs:
        connection.execute(_SQL["forget_input"], (workflow, one, to_text(ended_ms)))
