"""
What is done when the state of krond cannot be read any more?

Nothing, by itself: a krond that forgot what it has handled would run it again. Who repairs it says
that what was is lost. Then the damaged files are put aside, to be looked at, and a new ledger is
begun that owes nothing from before that moment: not what was nominal before it, and not what could
have run already because its window had opened. So nothing runs twice; what was due in between and
had not run yet does not run any more.

Spec: KROND-22.
"""

from pathlib import Path

from gnomon.apps.krond.state import StateDirectory
from gnomon.core.ledger.audit import Finding
from gnomon.errors import DamagedStoreError
from gnomon.ports import Clock
from gnomon.shell.store.examination import examine
from gnomon.shell.store.ownership import Ownership, lock_beside
from gnomon.shell.store.sqlite import SqliteLedger
from gnomon.shell.store.stored_audit import finding

__all__ = ["REPAIRED", "repair"]

REPAIRED = "repaired_ms"
"""The note that says when a ledger was begun after a damage."""
_ENDINGS = ("", "-wal", "-shm")


async def repair(state: StateDirectory, clock: Clock) -> tuple[list[Finding], list[Path]]:
    """What was wrong, and what was put aside; nothing of both when all is well."""
    if state.path.exists():
        state.check()
    ownership = Ownership(lock_beside(str(state.ledger)))
    try:
        findings = _lost(ownership, state.ledger) or examine(state.ledger).findings
        if not findings:
            return [], []
        aside = _put_aside(state.ledger)
        ownership.accept_loss()
        ledger = SqliteLedger.open(state.ledger)
        try:
            await ledger.set_note(REPAIRED, str(clock.now_ms()))
        finally:
            await ledger.close()
        return findings, aside
    finally:
        ownership.release()


def _lost(ownership: Ownership, ledger: Path) -> list[Finding]:
    try:
        ownership.check_wal(str(ledger))
    except DamagedStoreError as error:
        return [finding("damaged", error.reason)]
    return []


def _put_aside(ledger: Path) -> list[Path]:
    """Rename the files, under a number that is free."""
    number = 1
    while any(
        ledger.with_name(f"{ledger.name}{end}.damaged-{number}").exists() for end in _ENDINGS
    ):
        number += 1
    aside = []
    for end in _ENDINGS:
        file = ledger.with_name(f"{ledger.name}{end}")
        if file.exists():
            aside.append(file.rename(ledger.with_name(f"{file.name}.damaged-{number}")))
    return aside
