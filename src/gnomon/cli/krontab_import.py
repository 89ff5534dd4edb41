"""
What `gnomon krontab import` reads and prints: the krontab file on standard output, what changes on
the other.

Each argument is a file, a directory of crontabs, or `-`. The place says whose a crontab is: that of
a user in the directory of cron's own, that of the system in `/etc`; else its lines do.

Spec: KRONTAB-30, KRONTAB-37, KRONTAB-41, KRONTAB-42.
"""

import pwd
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.krond.krontab import Severity
from gnomon.apps.krond.krontab.problem import report
from gnomon.cli.options import read_file
from gnomon.cli.problem import printable
from gnomon.cli.screen import Json, render_json
from gnomon.importers.crontab import Imported, Source, general_notes, import_crontab
from gnomon.importers.crontab_form import is_system
from gnomon.shell.clock import SystemClock
from gnomon.shell.host_zone import host_zone
from gnomon.shell.settings import environment

__all__ = ["Asked", "import_text", "local_zone"]

_CRON_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_OF_THE_SYSTEM = ("cron.d", "crontabs.d")
_OF_USERS = (Path("/var/spool/cron/crontabs"), Path("/var/spool/cron"), Path("/var/cron/tabs"))


class Asked(NamedTuple):
    """What the command line says."""

    crontabs: Sequence[str]
    system: bool | None
    """None for as the place or the lines say."""
    user: str
    zone: str


def import_text(asked: Asked, *, as_json: bool) -> tuple[str, str, bool]:
    """What goes to standard output, what to standard error, and whether every line was taken."""
    sources = [source for crontab in asked.crontabs for source in _sources(crontab, asked)]
    names = set[str]()
    found = [(source, import_crontab(source, names)) for source in sources]
    sound = not any(imported.errors for _, imported in found)
    text = "".join(
        f"# from {printable(source.file)}\n{imported.text}" if len(found) > 1 else imported.text
        for source, imported in found
    )
    if as_json:
        return render_json(_record(found, text, asked.zone)), "", sound
    said = [f"note: {note.text}\n" for note in general_notes(asked.zone)]
    for source, imported in found:
        if source.system and not asked.system:
            said.append(f"note: {source.file}: each line names a user; else say --no-system\n")
        said += [f"note: {source.file}:{one.line}: {one.text}\n" for one in imported.notes]
        said.append(report(source.file, source.text, imported.problems))
    return text, "".join(said), sound


def local_zone() -> str:
    """The zone of this machine, by its name."""
    return host_zone(environment(), now=SystemClock().now_ms() // 1000)


def _sources(crontab: str, asked: Asked) -> Iterator[Source]:
    if crontab == "-":
        yield _source(sys.stdin.read(), "-", None, "", asked)
        return
    path = Path(crontab)
    files = [read_file(crontab)]
    if path.is_dir():
        files = [one for one in sorted(path.iterdir()) if _CRON_NAME.fullmatch(one.name)]
    for file in files:
        folder = Path(file).absolute().parent
        system = True if folder.name in _OF_THE_SYSTEM or str(file) == "/etc/crontab" else None
        user = file.name if folder in _OF_USERS else ""
        text = file.read_text("utf-8", "replace")
        yield _source(text, str(file) if path.is_dir() else crontab, system, user, asked)


def _source(text: str, file: str, system: bool | None, user: str, asked: Asked) -> Source:
    users = frozenset(one.pw_name for one in pwd.getpwall())
    user = asked.user or user
    if asked.system is not None:
        system = asked.system
    elif system is None:
        system = not user and is_system(text, users)
    return Source(
        text=text, file=file, zone=asked.zone, system=system, user="" if system else user,
        users=users,
    )  # fmt: skip


def _record(found: Sequence[tuple[Source, Imported]], text: str, zone: str) -> dict[str, Json]:
    notes: list[Json] = [
        {"file": None, "line": note.line, "note": note.text} for note in general_notes(zone)
    ]
    told: dict[Severity, list[Json]] = {severity: [] for severity in Severity}
    for source, imported in found:
        notes += [{"file": source.file, "line": n.line, "note": n.text} for n in imported.notes]
        for problem in imported.problems:
            told[problem.severity].append({"file": source.file, **problem.to_json()})
    return {
        "krontab": text,
        "notes": notes,
        "errors": told[Severity.ERROR],
        "warnings": told[Severity.WARNING],
    }
