"""
Is a ledger on SQLite in good order?

The file is opened for reading only, whoever else is at work on it, and nothing about it is changed:
first the file itself (is it ours, is its schema known, is it whole), then every definition, then
the rules that a ledger keeps (`core.ledger.audit`), one schedule at a time, so that memory does not
grow with the number of schedules. A problem is a `Finding` that says how to mend it; only a file
that cannot be reached is an error.

Spec: CLI-26 to CLI-28.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gnomon.core.ledger.audit import AuditRun, AuditSchedule, Finding, audit
from gnomon.core.ledger.lifecycle import IN_FLIGHT, Outcome, Reason, State, Status
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import DefinitionError, StoreError
from gnomon.shell.store.database import APPLICATION_ID, BUSY_MS
from gnomon.shell.store.instant_text import from_text, maybe_from_text
from gnomon.shell.store.looking import holder_of, open_to_look
from gnomon.shell.store.queries import migrations, named

__all__ = ["FINDINGS_MAX", "Examination", "examine"]

FINDINGS_MAX = 1_000
"""After so many findings one stops looking: the first ones tell the story."""

_SQL = named("examination.sql")
_TEXT_MAX = 200
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

_REMEDIES = {
    "damaged": "stop the worker, keep a copy, and restore a backup or use sqlite3 FILE .recover",
    "foreign": "name another file; this one is not a ledger of Gnomon",
    "newer": "use the version of Gnomon that wrote it, or a newer one",
    "older": "nothing: gnomon run brings it forward when it starts",
    "definition": "delete that schedule, or save it again",
    "row": "set the value that its history shows, or remove the row",
    "stranger": "remove the rows, or restore the schedule they belong to",
}


class Examination(NamedTuple):
    """What was found out about a ledger."""

    path: str
    schema: int
    schema_known: int
    owner: str | None
    """Who holds the ledger now; None when nobody does."""
    schedules: int
    runs: int
    findings: list[Finding]


def examine(path: Path) -> Examination:
    """Look at everything; `StoreError` when there is nothing that could be looked at."""
    owner = holder_of(path)
    schema = schedules = runs = 0
    findings: list[Finding] = []
    try:
        connection = _open(path)
        try:
            schema, findings = _examine_file(connection)
            if not findings:
                schedules, runs = connection.execute(_SQL["counts"]).fetchone()
                for finding in _examine_ledger(connection):
                    findings.append(finding)
                    if len(findings) >= FINDINGS_MAX:
                        break
        finally:
            connection.close()
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
            raise StoreError(
                f"cannot be read ({error})", where=str(path), hint="check who may read it"
            ) from error
        findings.append(_finding("damaged", f"{error}"))
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
    connection.execute("BEGIN")  # one view of everything, whoever writes meanwhile
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        return schema, [_finding("foreign", "the file is a database of another program")]
    if schema and not connection.execute(_SQL["has_ledger"]).fetchone()[0]:
        return schema, [_finding("foreign", "the file is Gnomon's, but holds no ledger")]
    known = len(migrations("ledger"))
    if schema > known:
        return schema, [
            _finding("newer", f"the schema is {schema}, and {known} is the newest here")
        ]
    if schema < known:
        return schema, [
            _finding("older", f"the schema is {schema}, and {known} is the newest here")
        ]
    lines = [line for (line,) in connection.execute(f"PRAGMA integrity_check({FINDINGS_MAX})")]
    return schema, [_finding("damaged", line) for line in lines if line != "ok"]


def _examine_ledger(connection: sqlite3.Connection) -> Iterator[Finding]:
    for row in connection.execute(_SQL["schedules"]):
        schedule_id, deleted_at = row[0], row[6]
        runs: list[AuditRun] = []
        for values in connection.execute(_SQL["runs"], {"id": schedule_id}):
            try:
                runs.append(_audit_run(values))
            except ValueError as error:
                yield _finding("row", f"{values[2]} cannot be read ({error})", row[0], values[0])
        if deleted_at is not None:
            yield from audit([], runs)
            continue
        try:
            schedule = read_schedule(json.loads(row[8] or "null"))
            one = _audit_schedule(row, schedule, runs)
        except (DefinitionError, ValueError, TypeError, AttributeError) as error:
            yield _finding("definition", f"its definition cannot be read ({error})", row[0])
            continue
        yield from audit([one], runs)
    for schedule_id, count in connection.execute(_SQL["strangers"]):
        yield _finding("stranger", f"{count} rows belong to no schedule", schedule_id)


def _audit_schedule(
    row: tuple[str | int | None, ...], schedule: Schedule, runs: list[AuditRun]
) -> AuditSchedule:
    _, cursor_at, floor_at, wake_at, updated_at, paused, _, effective_at, _, former_at = row
    # Nothing before a definition was saved is owed, nor what its predecessor had planned ahead.
    floors = [(from_text(str(effective_at)) - 1) // 1000]
    floors += [from_text(str(text)) // 1000 for text in (floor_at, former_at) if text is not None]
    return AuditSchedule(
        schedule=schedule,
        cursor=from_text(str(cursor_at)) // 1000,
        floor=max(floors),
        wake_ms=None if wake_at is None else from_text(str(wake_at)),
        written_ms=from_text(str(updated_at)),
        paused=bool(paused),
        in_flight=sum(run.state in IN_FLIGHT for run in runs),
    )


def _audit_run(row: tuple[str, str, str, str | None, int, str, str, str | None, str | None,
                          str | None, int, int, str | None]) -> AuditRun:  # fmt: skip
    key, schedule_id, run_at, last_at, periods, fire_at, state, outcome, reason, status = row[:10]
    launches, fence, lease_until = row[10:]
    return AuditRun(
        key=key,
        schedule_id=schedule_id,
        nominal=from_text(run_at) // 1000,
        last_nominal=(maybe_from_text(last_at) or 0) // 1000,
        periods=periods,
        fire_ms=from_text(fire_at),
        state=State(state),
        outcome=None if outcome is None else Outcome(outcome),
        reason=None if reason is None else Reason(reason),
        status=None if status is None else Status(status),
        launches=launches,
        fence=fence,
        lease_ms=maybe_from_text(lease_until),
    )


def _finding(code: str, problem: str, schedule_id: str = "", key: str = "") -> Finding:
    return Finding(code, schedule_id, key, problem, _REMEDIES[code])
