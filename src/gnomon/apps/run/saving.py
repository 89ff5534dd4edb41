"""
How do a ledger's schedules become those of a file?

What the file has is saved, and what it no longer has is deleted, with its history kept. So that a
wrong file does not delete everything, a ledger remembers the name of its file and refuses another
one, unless that has all of its schedules: then it is the same file under a new name. That it is a
ledger of files at all has been asked before.

Spec: CLI-20, CLI-35.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from gnomon.apps.run.schedule_table import Entry
from gnomon.errors import StoreError
from gnomon.ports import Ledger
from gnomon.shell.observe.log import log
from gnomon.shell.store.belonging import FILE_NAME

__all__ = ["StoredLedger", "check_file", "save_file", "schedule_names"]

_SCHEDULES_PAGE = 1_000


class StoredLedger(Ledger, Protocol):
    """What a ledger can do beside, for a file of schedules."""

    async def still_owes(self, *, at_ms: int) -> bool: ...

    async def note(self, name: str) -> str | None: ...

    async def set_note(self, name: str, value: str) -> None: ...


async def check_file(
    ledger: StoredLedger, entries: Sequence[Entry], file: Path, *, place: str
) -> None:
    """Refuse a file that would delete the schedules of another."""
    former = await ledger.note(FILE_NAME)
    if former in (None, file.name):
        return
    gone = await _gone(ledger, entries)
    if gone:
        raise StoreError(
            f"belongs to the file {former}; {file.name} would delete its schedule {gone[0]!r}"
            + (f" and {len(gone) - 1} more" if len(gone) > 1 else ""),
            where=place,
            hint="name another ledger with --store, --database or --schema; a file that has a new "
            "name is accepted while it has all schedules of the ledger",
        )


async def save_file(
    ledger: StoredLedger, entries: Sequence[Entry], file: Path, *, now_ms: int
) -> None:
    """Make the ledger's schedules those of the file."""
    for name in await _gone(ledger, entries):
        await ledger.delete(name, now_ms=now_ms)
        log(logging.INFO, "schedule deleted", schedule=name)
    for saved in await ledger.save_all([entry.schedule for entry in entries], now_ms=now_ms):
        if saved.changed:
            log(logging.INFO, "schedule saved", schedule=saved.schedule_id, revision=saved.revision)
    if await ledger.note(FILE_NAME) != file.name:
        await ledger.set_note(FILE_NAME, file.name)


async def schedule_names(ledger: Ledger) -> list[str]:
    """Every schedule that the ledger has, in the order of their names."""
    names: list[str] = []
    while page := await ledger.schedules(after=names[-1] if names else "", limit=_SCHEDULES_PAGE):
        names += [row.schedule.schedule_id for row in page]
    return names


async def _gone(ledger: Ledger, entries: Sequence[Entry]) -> list[str]:
    kept = {entry.name for entry in entries}
    return [name for name in await schedule_names(ledger) if name not in kept]
