"""
A token for this machine: made once, kept in a file that only its owner can read.

A file that other users can read is refused, not repaired: one of them may have read it.

Spec: UP-2.
"""

import os
import secrets
import stat
from hashlib import sha256
from pathlib import Path

from gnomon.errors import DefinitionError
from gnomon.shell.http.access_file import Access, StaticToken
from gnomon.shell.http.principal import read_principal

__all__ = ["ensure_private_directory", "ensure_token", "loopback_access"]

_BYTES = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def ensure_private_directory(path: Path) -> None:
    """Make the directory, for its owner only, unless it is there."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def ensure_token(path: Path) -> str:
    """The token in this file; a new one when there is no file yet."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return _read(path)
    token = f"gnomon_{secrets.token_urlsafe(_BYTES)}"
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(token + "\n")
    return token


def loopback_access(token: str) -> Access:
    """A caller with the token may do everything, for every user."""
    principal = read_principal(subject="gnomon-up", user_id="*", scopes=["admin"])
    digest = sha256(token.encode("ascii")).hexdigest()
    return Access(tokens=(StaticToken(sha256=digest, principal=principal),))


def _read(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "r", encoding="ascii", errors="replace") as file:
        mode = os.fstat(file.fileno()).st_mode
        token = file.read(1024).strip()
    if mode & _OTHERS:
        raise DefinitionError(
            "must be readable by its owner only", where=str(path), got=oct(stat.S_IMODE(mode)),
            hint=f"delete it, and the next start makes a new one: rm {path}",
        )  # fmt: skip
    if len(token) < 32 or not token.isascii() or not token.isprintable() or " " in token:
        raise DefinitionError(
            "must hold a token", where=str(path), got=f"{len(token)} characters",
            hint=f"delete it, and the next start makes a new one: rm {path}",
        )  # fmt: skip
    return token
