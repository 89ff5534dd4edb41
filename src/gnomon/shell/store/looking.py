"""
How is a file opened by somebody who only wants to look?

For reading only: no lock is waited for that a reader does not need, nothing is written, and where
nobody is at work on the file no file appears beside it.

Spec: CLI-25, CLI-27.
"""

import fcntl
import os
import sqlite3
from pathlib import Path

from gnomon.errors import StoreError

__all__ = ["damage", "holder_of", "open_to_look"]

_TEXT_MAX = 200
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def open_to_look(path: Path, *, busy_ms: int) -> sqlite3.Connection:
    """A connection that cannot write."""
    # Even a reader leaves files beside a file that is at rest, unless told that it stays so.
    stays = holder_of(path) is None and not Path(f"{path}-wal").exists()
    options = "mode=ro&immutable=1" if stays else "mode=ro"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, timeout=busy_ms / 1000,
        isolation_level=None, check_same_thread=False,
    )  # fmt: skip


def holder_of(path: Path) -> str | None:
    """Who holds the lock beside a file: what the lock says, if it is held at all."""
    try:
        file = os.open(f"{path}.lock", os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.read(file, _TEXT_MAX).decode(errors="replace").strip() or "somebody"
    finally:
        os.close(file)
    return None


def damage(error: sqlite3.Error, path: Path) -> str:
    """What is wrong with a damaged file; a `StoreError` when it could not be read at all."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
        return str(error)
    raise StoreError(
        f"cannot be read ({error})", where=str(path), hint="check who may read it"
    ) from error
