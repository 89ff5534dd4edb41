"""
What `gnomon krontab import` prints: the krontab file on standard output, what changes on the other.

Spec: KRONTAB-30, KRONTAB-37.
"""

from gnomon.apps.daemon.krontab.crontab import Imported
from gnomon.apps.daemon.krontab.report import report
from gnomon.cli.screen import Json, render_json

__all__ = ["import_text", "local_zone"]


def import_text(found: Imported, text: str, file: str, *, as_json: bool) -> tuple[str, str]:
    """What goes to standard output, and what to standard error."""
    if as_json:
        notes: list[Json] = [{"line": note.line, "note": note.text} for note in found.notes]
        errors: list[Json] = [problem.to_json() for problem in found.problems]
        return render_json({"krontab": found.text, "notes": notes, "errors": errors}), ""
    lines = [
        f"note: {f'{file}:{note.line}: ' if note.line else ''}{note.text}\n" for note in found.notes
    ]
    return found.text, "".join(lines) + report(file, text, found.problems)


def local_zone() -> str:
    """The zone of this machine, by its name."""
    from tzlocal import get_localzone_name

    return get_localzone_name()
