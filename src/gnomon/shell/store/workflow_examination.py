"""
Are the workflows of a file in good order?

The file is opened for reading only, even while a host serves it: first the file itself, then what
must hold between its rows, each rule as a statement that finds what breaks it. A finding names what
it is about and what to do; only a file that cannot be reached is an error.

Spec: WDOC-1 to WDOC-4.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gnomon.errors import StoreError
from gnomon.shell.store.database import APPLICATION_ID, BUSY_MS
from gnomon.shell.store.looking import damage, holder_of, open_to_look
from gnomon.shell.store.ownership import lost_of
from gnomon.shell.store.queries import migrations, named

__all__ = [
    "FINDINGS_MAX",
    "WorkflowExamination",
    "WorkflowFinding",
    "examine_rows",
    "examine_workflows",
    "found",
]

FINDINGS_MAX = 100
_REMEDIES = {
    "damaged": "stop the host, keep a copy, and restore a backup or run sqlite3 .recover",
    "foreign": "name the file of workflows",
    "newer": "install the version of Gnomon that wrote it, or a newer one",
    "older": "gnomon workflow run brings it forward when it starts",
    "count": "stop the host and write the real number into the topic's row",
    "reservation": "look outside whether it was dealt with, then stop the host and set its status",
    "uncertain": "look outside whether it was made, then stop the host and set its status",
    "script": "deploy the script again",
}
_OTHERWISE = "stop the host, keep a copy of the store, and report it: this is not written by Gnomon"
_CHECKS = named("workflow_examination.sql")


class WorkflowFinding(NamedTuple):
    """Something that cannot be, and what to do about it."""

    code: str
    workflow: str
    """Empty when it is the store itself."""
    subject: str
    problem: str
    remedy: str


class WorkflowExamination(NamedTuple):
    """What was found out about the workflows of a store."""

    place: str
    schema: int
    schema_known: int
    owner: str
    """Who holds them, in words."""
    workflows: int
    findings: list[WorkflowFinding]


def found(code: str, problem: str, workflow: str = "", subject: str = "") -> WorkflowFinding:
    remedy = _REMEDIES.get(code, _OTHERWISE)
    return WorkflowFinding(code.replace("_", "-"), workflow, subject, problem, remedy)


def examine_workflows(path: Path) -> WorkflowExamination:
    """Look at everything; `StoreError` when there is nothing that could be looked at."""
    if not path.is_file():
        raise StoreError(
            "is not there", where=str(path), hint="gnomon workflow deploy FILE makes one"
        )
    owner, known = holder_of(path), len(migrations("workflow"))
    schema = workflows = 0
    findings: list[WorkflowFinding] = []
    try:
        connection = open_to_look(path, busy_ms=BUSY_MS)
        try:
            connection.execute("BEGIN")  # one view of everything, while a host may write
            (schema,) = connection.execute("PRAGMA user_version").fetchone()
            findings += _examine_file(connection, schema, known)
            if owner is None and (loss := lost_of(path)) is not None:
                findings.append(found("damaged", loss))
            if not findings:
                (workflows,) = connection.execute("SELECT count(*) FROM workflows").fetchone()
                findings += examine_rows(connection)
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        findings.append(found("damaged", damage(error, path)))
    return WorkflowExamination(
        str(path), schema, known, owner or "nobody", workflows, findings[:FINDINGS_MAX]
    )


def examine_rows(connection: sqlite3.Connection) -> Iterator[WorkflowFinding]:
    """What breaks a rule that holds between the rows."""
    for code, statement in _CHECKS.items():
        for workflow, subject, problem in connection.execute(statement).fetchmany(FINDINGS_MAX):
            yield found(code, problem, workflow, subject)


def _examine_file(connection: sqlite3.Connection, schema: int, known: int) -> list[WorkflowFinding]:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (ours,) = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name = 'workflow_meta'"
    ).fetchone()
    if application != APPLICATION_ID:
        return [found("foreign", "the file is a database of another program")]
    if schema and not ours:
        return [found("foreign", "the file is Gnomon's, but holds no workflows")]
    if schema != known:
        code = "newer" if schema > known else "older"
        return [found(code, f"the schema is {schema}, and {known} is the newest here")]
    lines = [line for (line,) in connection.execute(f"PRAGMA integrity_check({FINDINGS_MAX})")]
    return [found("damaged", line) for line in lines if line != "ok"]
