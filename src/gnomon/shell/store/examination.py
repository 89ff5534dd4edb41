"""
Is a ledger on SQLite in good order?

The file is opened for reading only, even while a worker runs it, and nothing about it is changed:
first the file itself (is it ours, is its schema known, is it whole), then every definition, then
the rules that a ledger keeps (`core.ledger.audit`), one schedule at a time, so that memory does not
grow with the number of schedules. A problem is a `Finding` that says how to mend it; only a file
that cannot be reached is an error.

Spec: CLI-26 to CLI-28.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gnomon.core.ledger.audit import AuditRun, Finding
from gnomon.errors import StoreError
from gnomon.shell.store.database import APPLICATION_ID, BUSY_MS
from gnomon.shell.store.instant_text import from_text, maybe_from_text
from gnomon.shell.store.looking import damage, holder_of, open_to_look
from gnomon.shell.store.ownership import lost_of
from gnomon.shell.store.queries import migrations, named
from gnomon.shell.store.sqlite import MOVED_TO
from gnomon.shell.store.stored_audit import (
    FINDINGS_MAX,
    StoredRun,
    StoredSchedule,
    audit_run,
    audit_stored,
    finding,
)

__all__ = ["FINDINGS_MAX", "Examination", "examine"]

_SQL = named("examination.sql")
_MOVED = "SELECT value FROM ledger_meta WHERE name = ?"
_TEXT_MAX = 200


class Examination(NamedTuple):
    """What was found out about a ledger."""

    path: str
    schema: int
    schema_known: int
    owner: str | None
    """The process that holds the ledger now; None when there is none."""
    schedules: int | None
    """None, as the number of rows, where it was not examined."""
    runs: int | None
    findings: list[Finding]


def examine(path: Path) -> Examination:
    """Look at everything; `StoreError` when there is nothing that could be looked at."""
    owner = holder_of(path)
    schema = 0
    schedules: int | None = None
    runs: int | None = None
    findings: list[Finding] = []
    try:
        connection = _open(path)
        try:
            schema, findings = _examine_file(connection)
            if owner is None and (loss := lost_of(path)) is not None:
                findings.append(finding("damaged", loss))
            if not findings:
                schedules, runs = connection.execute(_SQL["counts"]).fetchone()
                for found in _examine_ledger(connection):
                    findings.append(found)
                    if len(findings) >= FINDINGS_MAX:
                        break
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        findings.append(finding("damaged", damage(error, path)))
    known = len(migrations("ledger"))
    return Examination(str(path), schema, known, owner, schedules, runs, findings)


def _open(path: Path) -> sqlite3.Connection:
    if not path.is_file():
        raise StoreError(
            "is not there", where=str(path), hint="name the file of a ledger; gnomon run makes one"
        )
    return open_to_look(path, busy_ms=BUSY_MS)


def _examine_file(connection: sqlite3.Connection) -> tuple[int, list[Finding]]:
    """The schema, and what is wrong with the file itself."""
    connection.execute("BEGIN")  # one view of everything, while a worker may write
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        return schema, [finding("foreign", "the file is a database of another program")]
    if schema and not connection.execute(_SQL["has_ledger"]).fetchone()[0]:
        return schema, [finding("foreign", "the file is Gnomon's, but holds no ledger")]
    known = len(migrations("ledger"))
    if schema > known:
        return schema, [finding("newer", f"the schema is {schema}, and {known} is the newest here")]
    if schema < known:
        return schema, [finding("older", f"the schema is {schema}, and {known} is the newest here")]
    lines = [line for (line,) in connection.execute(f"PRAGMA integrity_check({FINDINGS_MAX})")]
    return schema, [finding("damaged", line) for line in lines if line != "ok"]


def _examine_ledger(connection: sqlite3.Connection) -> Iterator[Finding]:
    for (place,) in connection.execute(_MOVED, (MOVED_TO,)):
        yield finding("moved", f"the ledger has moved to {place}")
    for row in connection.execute(_SQL["schedules"]):
        runs: list[AuditRun] = []
        for values in connection.execute(_SQL["runs"], {"id": row[0]}):
            try:
                runs.append(audit_run(_stored_run(values)))
            except ValueError as error:
                yield finding("row", f"{values[2]} cannot be read ({error})", row[0], values[0])
        try:
            one = _stored_schedule(row)
        except ValueError as error:
            yield finding("definition", f"its definition cannot be read ({error})", row[0])
            continue
        yield from audit_stored(one, runs)
    for schedule_id, count in connection.execute(_SQL["strangers"]):
        yield finding("stranger", f"{count} rows belong to no schedule", schedule_id)


def _stored_schedule(row: tuple[str | int | None, ...]) -> StoredSchedule:
    name, cursor_at, floor_at, wake_at, updated_at, paused, deleted_at = row[:7]
    effective_at, definition, former_at = row[7:]
    return StoredSchedule(
        schedule_id=str(name),
        cursor_ms=from_text(str(cursor_at)),
        floor_ms=_maybe(floor_at),
        wake_ms=_maybe(wake_at),
        updated_ms=from_text(str(updated_at)),
        paused=bool(paused),
        deleted=deleted_at is not None,
        effective_ms=_maybe(effective_at) or 0,
        definition=None if definition is None else str(definition),
        former_ms=_maybe(former_at),
    )


def _stored_run(row: tuple[str, str, str, str | None, int, str, str, str | None, str | None,
                           str | None, int, int, str | None]) -> StoredRun:  # fmt: skip
    key, schedule_id, run_at, last_at, periods, fire_at, *words, launches, fence, lease = row
    state, outcome, reason, status = words
    return StoredRun(
        key, schedule_id, from_text(run_at), maybe_from_text(last_at), periods,
        from_text(fire_at), str(state), outcome, reason, status, launches, fence,
        maybe_from_text(lease),
    )  # fmt: skip


def _maybe(text: str | int | None) -> int | None:
    return None if text is None else from_text(str(text))
