"""
What does a file of Gnomon's hold: a ledger, workflows or a journal?

Each of the three has a table of its own about itself, by which it is told from the others. The file
is opened for reading only.

Spec: CLI-36.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from gnomon.shell.store.database import APPLICATION_ID, BUSY_MS
from gnomon.shell.store.looking import open_to_look

__all__ = ["Family", "family_of"]

Family = Literal["ledger", "workflow", "journal"]

_FAMILIES: tuple[Family, ...] = ("ledger", "workflow", "journal")
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def family_of(path: Path) -> Family | None:
    """What the file holds; None when it is not there, not Gnomon's, or cannot be read."""
    if not path.is_file():
        return None
    try:
        with closing(open_to_look(path, busy_ms=BUSY_MS)) as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            tables = {name for (name,) in connection.execute(_TABLES)}
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    if application != APPLICATION_ID:
        return None
    return next((one for one in _FAMILIES if f"{one}_meta" in tables), None)
