"""
How does a reader open a file that it only wants to look at?

For reading only: no lock is waited for that a reader does not need, nothing is written, and where
no process is at work on the file no file appears beside it.

Spec: CLI-25, CLI-27.
"""

import fcntl
import os
import sqlite3
from pathlib import Path

from gnomon.errors import StoreError
from gnomon.shell.store.ownership import holder_in, lock_beside

__all__ = ["FORWARD", "damage", "holder_of", "open_to_look"]

FORWARD = "gnomon run, krond start, up, api and worker bring it forward when they start"
"""What becomes of a ledger of an older schema, which a reader must not change."""
_TEXT_MAX = 200
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def open_to_look(path: Path, *, busy_ms: int, is_held: bool | None = None) -> sqlite3.Connection:
    """A connection that cannot write; `is_held` says whether others are at work on the file."""
    if is_held is None:
        is_held = holder_of(path) is not None
    # Even a reader leaves files beside a file that is at rest, unless told that it stays so.
    stays = not is_held and not Path(f"{os.path.realpath(path)}-wal").exists()
    options = "mode=ro&immutable=1" if stays else "mode=ro"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, timeout=busy_ms / 1000,
        isolation_level=None, check_same_thread=False,
    )  # fmt: skip


def holder_of(path: Path) -> str | None:
    """Who holds the lock beside a file: what the lock says, if it is held at all."""
    try:
        file = os.open(lock_beside(str(path)), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return holder_in(os.read(file, _TEXT_MAX)) or "another process"
    finally:
        os.close(file)
    return None


def damage(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> str:
    """What is wrong with a damaged file; a `StoreError` when it could not be read at all."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _DAMAGED or "decode" in str(error):  # what is no UTF-8 has no code
        return str(error)
    raise StoreError(
        f"cannot be read ({error})", where=str(path), hint="check who may read it"
    ) from error
