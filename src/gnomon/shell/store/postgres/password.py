"""
Where does the password of a database come from, and why is there none?

From the address, from PGPASSWORD, from a service file, or from a password file, as with libpq; each
is asked only where those before it say nothing. A password file that others can read is not read:
the caller is told so, in the error and not in a warning of Python.

Spec: PG-9.
"""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from gnomon.shell.settings import environment

__all__ = ["unread_file", "why_refused"]

_OTHERS = 0o077
_NONE_GIVEN = "no password was given: set PGPASSWORD, or write it to ~/.pgpass"


def unread_file(url: str) -> Path | None:
    """The password file that would be asked and is not read, because others can read it."""
    file = _file(url)
    try:
        is_open = file is not None and file.is_file() and bool(file.stat().st_mode & _OTHERS)
    except OSError:
        return None
    return file if is_open else None


def why_refused(url: str) -> str | None:
    """What to do about a password that was refused; None where the address has it."""
    file = _file(url)
    if file is None:
        return None
    if unread_file(url) is not None:
        return f"{file} is not read, because others can read it; write chmod 600 {file}"
    if file.is_file():
        return (
            f"no other password was given than {file} has: check that one of its lines is for this "
            "host, port, database and user, and is right"
        )
    return _NONE_GIVEN


def _file(url: str) -> Path | None:
    """The password file that is asked; None where a password is had from elsewhere."""
    parts, names = urlsplit(url), environment()
    query = parse_qs(parts.query)
    user = parts.netloc.rpartition("@")[0]
    if user.partition(":")[2] or "password" in query or "PGPASSWORD" in names:
        return None
    if "service" in query or "PGSERVICE" in names:
        return None  # the service may have one
    named = query.get("passfile", [names.get("PGPASSFILE", "")])[-1]
    if named:
        return Path(named)
    return Path(names["HOME"], ".pgpass") if names.get("HOME") else None
