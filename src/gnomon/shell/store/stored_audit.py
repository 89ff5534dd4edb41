"""
The audit of a ledger as it is stored, one schedule at a time, whatever the store.

What cannot be read is a finding like any other: a definition that makes no sense, a row with a word
that is none. The rules themselves stand in `core.ledger.audit`.

Spec: CLI-28.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from gnomon.core.ledger.audit import AuditRun, AuditSchedule, Finding, audit
from gnomon.core.ledger.lifecycle import IN_FLIGHT, Outcome, Reason, State, Status
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule
from gnomon.errors import DefinitionError
from gnomon.shell.store.looking import FORWARD

__all__ = ["FINDINGS_MAX", "StoredRun", "StoredSchedule", "audit_run", "audit_stored", "finding"]

FINDINGS_MAX = 1_000
"""After so many findings one stops looking: the first ones tell the story."""

_REMEDIES = {
    "damaged": "stop the worker, keep a copy, and restore a backup or use sqlite3 FILE .recover",
    "foreign": "name another file; this one is not a ledger of Gnomon",
    "newer": "use the version of Gnomon that wrote it, or a newer one",
    "older": f"nothing: {FORWARD}",
    "moved": "ask there, with --database: this file is not run any more",
    "definition": "delete that schedule, or save it again",
    "row": "set the value that its history shows, or remove the row",
    "stranger": "remove the rows, or restore the schedule they belong to",
    "silent": "look after that worker; who else runs takes them over when their leases are over",
    "nobody": "start a worker; what is due waits for one",
    "clock": "set the clock of that machine, with NTP for example",
}


class StoredSchedule(NamedTuple):
    """A schedule as a store has it."""

    schedule_id: str
    cursor_ms: int
    floor_ms: int | None
    wake_ms: int | None
    updated_ms: int
    paused: bool
    deleted: bool
    effective_ms: int
    """From when on a definition of it has been in force, the latest such instant: not that of the
    newest one, where it was saved by a clock behind that of who saved before."""
    definition: str | None
    former_ms: int | None
    """The last nominal instant that the definitions before this one have planned."""


class StoredRun(NamedTuple):
    """A row as a store has it."""

    key: str
    schedule_id: str
    run_ms: int
    last_ms: int | None
    periods: int
    fire_ms: int
    state: str
    outcome: str | None
    reason: str | None
    status: str | None
    launches: int
    fence: int
    lease_ms: int | None


def audit_run(row: StoredRun) -> AuditRun:
    """The row as the audit asks about it; a `ValueError` when it has a word that is none."""
    return AuditRun(
        key=row.key,
        schedule_id=row.schedule_id,
        nominal=row.run_ms // 1000,
        last_nominal=(row.last_ms or 0) // 1000,
        periods=row.periods,
        fire_ms=row.fire_ms,
        state=State(row.state),
        outcome=None if row.outcome is None else Outcome(row.outcome),
        reason=None if row.reason is None else Reason(row.reason),
        status=None if row.status is None else Status(row.status),
        launches=row.launches,
        fence=row.fence,
        lease_ms=row.lease_ms,
    )


def audit_stored(one: StoredSchedule, runs: list[AuditRun]) -> Iterator[Finding]:
    """What is wrong with a schedule and its rows."""
    if one.deleted:
        yield from audit([], runs)
        return
    try:
        schedule = read_schedule(json.loads(one.definition or "null"))
    except (DefinitionError, ValueError, TypeError, AttributeError) as error:
        problem = f"its definition cannot be read ({error})"
        yield finding("definition", problem, one.schedule_id)
        return
    yield from audit([_audit_schedule(one, schedule, runs)], runs)


def finding(code: str, problem: str, schedule_id: str = "", key: str = "") -> Finding:
    return Finding(code, schedule_id, key, problem, _REMEDIES[code])


def _audit_schedule(one: StoredSchedule, schedule: Schedule, runs: list[AuditRun]) -> AuditSchedule:
    # Nothing before a definition was saved is owed, nor what its predecessor had planned ahead.
    floors = [(one.effective_ms - 1) // 1000]
    floors += [at_ms // 1000 for at_ms in (one.floor_ms, one.former_ms) if at_ms is not None]
    return AuditSchedule(
        schedule=schedule,
        cursor=one.cursor_ms // 1000,
        floor=max(floors),
        wake_ms=one.wake_ms,
        written_ms=one.updated_ms,
        paused=one.paused,
        in_flight=sum(run.state in IN_FLIGHT for run in runs),
    )
