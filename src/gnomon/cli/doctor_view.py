"""
The command that examines a ledger: `gnomon doctor`.

It says what is wrong and how to mend it, and changes nothing. The exit code is 0 when all is well
and 1 when there is something to mend.

Spec: CLI-26 to CLI-28, CLI-36.
"""

from collections.abc import Sequence
from pathlib import Path

from gnomon.cli.other_doctor import referred
from gnomon.cli.problem import printable
from gnomon.cli.screen import Facts, Line, Part, render, render_json
from gnomon.core.ledger.audit import Finding
from gnomon.shell.store.examination import FINDINGS_MAX, Examination, examine

__all__ = ["NOT_EXAMINED", "counted", "doctor_text", "findings_text"]

NOT_EXAMINED = "not examined"
"""What is said of a ledger whose schema is another, or that is none."""


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
    """Facts, and the findings below them; and whether there are none."""
    number = len(findings)
    if not number:
        title = Line("The ledger is in good order.", "bold green")
    else:
        count = f"at least {number}" if number >= FINDINGS_MAX else str(number)
        title = Line(f"{count} finding{'s' if number > 1 else ''}", "bold red")
    parts: list[Part] = [title, Facts(rows)]
    for finding in findings:
        parts += ["", *_lines(finding)]
    return render(*parts), not number


def _lines(finding: Finding) -> list[Part]:
    where = f"{finding.schedule_id}: " if finding.schedule_id else ""
    title = Line(f"{finding.code}: ", "bold", printable(f"{where}{finding.problem}"))
    rows = [("mend", printable(finding.remedy))]
    if finding.key:
        rows.insert(0, ("row", printable(finding.key)))
    return [title, Facts(rows)]


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
