"""
What `gnomon history` and `gnomon doctor` show: what became of the periods, and what is wrong.

A row of the history is a period, or a range of periods that share one fate, newest first. The
ledger may be in use by `gnomon run` at the same time: both commands open it for reading only, wait
for no other process, and change nothing.

A ledger, the workflows of a host and the journal of a `gnomon.Scheduler` are files that look alike
from outside: a user who names one of them to the doctor of another reads what it is and what to
write instead.

Spec: CLI-24 to CLI-28, CLI-36.
"""

import asyncio
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from gnomon.apps.run.saving import schedule_names
from gnomon.cli.problem import printable
from gnomon.cli.screen import FactRows, Json, Part, StyledLine, TextTable, render, render_json
from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.audit import Finding
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Ledger, RunRow
from gnomon.shell.store.examination import FINDINGS_MAX, Examination, examine
from gnomon.shell.store.family import Family, family_of
from gnomon.shell.store.instant_text import maybe_to_text
from gnomon.shell.store.sqlite import MOVED_TO, SqliteLedger
from gnomon.shell.store.workflow_examination import WorkflowFinding

__all__ = [
    "NOT_EXAMINED",
    "History",
    "counted",
    "doctor_text",
    "findings_text",
    "history_of",
    "history_text",
    "read_history",
    "referred",
]

_COLUMNS = ("period", "state", "outcome", "reason", "status", "started", "ended", "detail", "note")
_HINTED_MAX = 20
NOT_EXAMINED = "not examined"
"""What is said of a ledger whose schema is another, or that is none."""
_F = TypeVar("_F", Finding, WorkflowFinding)
_REMEDIES: dict[Family, str] = {
    "ledger": "it is a ledger: gnomon doctor --store {path}",
    "workflow": "it holds workflows: gnomon workflow doctor --store {path}",
    "journal": "it is the journal of a gnomon.Scheduler: gnomon check {path}",
}


class History(NamedTuple):
    """The newest rows by schedule, and where they are from."""

    place: str
    rows: dict[str, list[RunRow]]
    moved_to: str | None = None
    """The database that has had the ledger since these rows were written."""


def history_of(store: Path, *, name: str | None, limit: int) -> History:
    """The newest rows of one schedule, or of every schedule."""
    if not store.is_file():
        raise StoreError(
            "is not there", where=str(store), hint="gnomon run makes a ledger beside its file"
        )

    async def read() -> History:
        ledger = SqliteLedger.look_into(store)
        try:
            history = await read_history(ledger, str(store), name, limit)
            return history._replace(moved_to=await ledger.note(MOVED_TO))
        finally:
            await ledger.close()

    return asyncio.run(read())


def history_text(history: History, *, as_json: bool) -> str:
    """The rows as a person, or a program, reads them."""
    if as_json:
        rows = [_run_json(row) for rows in history.rows.values() for row in rows]
        return render_json({"store": history.place, "runs": rows})
    parts: list[Part] = []
    for schedule_id, runs in history.rows.items():
        title = StyledLine(schedule_id, "bold")
        shown = [_cells(row) for row in runs]
        parts += [title, TextTable(_COLUMNS, shown) if shown else "  nothing has happened yet", ""]
    return render(*parts[:-1]) if parts else "There are no schedules.\n"


async def read_history(ledger: Ledger, place: str, name: str | None, limit: int) -> History:
    """Ask a ledger for its newest rows."""
    known = await schedule_names(ledger)
    names = known if name is None else [name]
    # What is not printable cannot be the name of a schedule, nor asked of a database.
    found = {one: await ledger.runs(one, limit=limit) for one in names if one.isprintable()}
    if name is not None and name not in known and not found.get(name):
        raise DefinitionError(
            "is no schedule of this ledger",
            where="name",
            got=name,
            hint=f"the schedules are {', '.join(known[:_HINTED_MAX]) or 'none'}",
        )
    return History(place, found)


def _cells(row: RunRow) -> tuple[str, ...]:
    return (
        format_instant(row.nominal),
        row.state,
        row.outcome or "-",
        row.reason or "-",
        row.status or "-",
        maybe_to_text(row.started_ms) or "-",
        maybe_to_text(row.ended_ms) or "-",
        printable(row.detail or "-"),
        _note(row),
    )


def _note(row: RunRow) -> str:
    if row.last_nominal:
        number = "1 period" if row.periods == 1 else f"{row.periods} periods"
        return f"{number} up to {format_instant(row.last_nominal)}"
    return f"try {row.launches}" if row.launches > 1 else ""


def _run_json(row: RunRow) -> dict[str, Json]:
    return {
        "schedule": row.schedule_id,
        "period": format_instant(row.nominal),
        "lastPeriod": format_instant(row.last_nominal) if row.last_nominal else None,
        "periods": row.periods,
        "key": row.key,
        "state": row.state,
        "outcome": row.outcome,
        "reason": row.reason,
        "status": row.status,
        "chosen": maybe_to_text(row.chosen_ms),
        "launches": row.launches,
        "started": maybe_to_text(row.started_ms),
        "ended": maybe_to_text(row.ended_ms),
        "detail": row.detail,
        "owner": row.owner,
        "runId": row.run_id,
        "revision": row.revision,
    }


def doctor_text(store: Path, *, as_json: bool) -> tuple[str, bool]:
    """The report on a ledger, and whether all is well."""
    found = examine(store)
    found = found._replace(findings=referred(found.findings, store))
    if as_json:
        return _json(found), not found.findings
    rows = [
        ("store", found.path),
        ("schema", f"{found.schema} (newest known: {found.schema_known})"),
        ("owner", printable(found.owner or "none")),
        ("schedules", counted(found.schedules)),
        ("rows", counted(found.runs)),
    ]
    return findings_text(rows, found.findings)


def counted(number: int | None) -> str:
    """A number, or that it is not known."""
    return NOT_EXAMINED if number is None else str(number)


def findings_text(rows: Sequence[tuple[str, str]], findings: Sequence[Finding]) -> tuple[str, bool]:
    """FactRows, and the findings below them; and whether there are none."""
    number = len(findings)
    if not number:
        title = StyledLine("The ledger is in good order.", "bold green")
    else:
        count = f"at least {number}" if number >= FINDINGS_MAX else str(number)
        title = StyledLine(f"{count} finding{'s' if number > 1 else ''}", "bold red")
    parts: list[Part] = [title, FactRows(rows)]
    for finding in findings:
        parts += ["", *_finding_parts(finding)]
    return render(*parts), not number


def _finding_parts(finding: Finding) -> list[Part]:
    where = f"{finding.schedule_id}: " if finding.schedule_id else ""
    title = StyledLine(f"{finding.code}: ", "bold", printable(f"{where}{finding.problem}"))
    rows = [("mend", printable(finding.remedy))]
    if finding.key:
        rows.insert(0, ("row", printable(finding.key)))
    return [title, FactRows(rows)]


def _json(found: Examination) -> str:
    return render_json(
        {
            "store": found.path,
            "schema": found.schema,
            "schemaKnown": found.schema_known,
            "owner": found.owner,
            "schedules": found.schedules,
            "rows": found.runs,
            "findings": [finding._asdict() for finding in found.findings],
        }
    )


def referred(findings: Sequence[_F], path: Path) -> list[_F]:
    """The findings; one about a file that another doctor examines names that doctor."""
    return [_referred(one, path) if one.code == "foreign" else one for one in findings]


def _referred(finding: _F, path: Path) -> _F:
    family = family_of(path)
    if family is None:
        return finding
    return finding._replace(remedy=_REMEDIES[family].format(path=shlex.quote(str(path))))
