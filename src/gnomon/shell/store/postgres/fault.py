"""
What is wrong with the database, and what to do about it?

Every error of PostgreSQL and of the way to it becomes a `StoreError` with the database, what is
wrong and what to do; `transient` says whether trying again may help. The database is named without
its password.

Spec: PG-9.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import asyncpg

from gnomon.errors import DefinitionError, StoreError

__all__ = ["check_address", "explained", "place_of"]

_SCHEMES = ("postgresql", "postgres")
_SECRETS = re.compile(r"(?i)((?:password|passfile|sslpassword)=)[^&\s]*")


class _Advice(NamedTuple):
    reason: str
    hint: str
    transient: bool


_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # of a connection that the server has ended behind our back
    OSError,
    TimeoutError,
)
_GONE = _Advice("closed the connection", "nothing was lost; it is tried again", True)
_AWAY = _Advice("cannot be reached", "check that the server runs and the address is right", True)
_GRANT = (
    "let this user create the schema, or create it and grant ALL on it and on its tables; "
    "see docs/howto/run-on-postgresql.md"
)
_POOLER = _Advice(
    "is behind a pooler that hands out a connection for each transaction",
    "name the server itself, or open the ledger with PoolOptions(pooler=True)", False,
)  # fmt: skip
_ADVICE = {
    "08": _GONE,
    "08P01": _POOLER,
    "26000": _POOLER,
    "42P05": _POOLER,
    "25006": _Advice("is read-only", "name the primary server, or wait for the failover", True),
    "28": _Advice("refuses this user", "check the user, the password and pg_hba.conf", False),
    "3D000": _Advice("does not exist", "create it, with createdb for example", False),
    "40001": _Advice("could not order two transactions", "it is tried again", True),
    "40P01": _Advice("broke a deadlock", "it is tried again", True),
    "42501": _Advice("does not allow this to this user", _GRANT, False),
    "42P01": _Advice("lacks a table", "a schema that was changed by hand must be restored", False),
    "53100": _Advice(
        "cannot grow: its disk is full", "free some space there; nothing was lost", True
    ),
    "53200": _Advice("has no memory left", "give the server more, or wait", True),
    "53300": _Advice(
        "has no connection left", "raise max_connections, or run fewer workers", True
    ),
    "55P03": _Advice("has a row that somebody holds for long", "it is tried again", True),
    "57014": _Advice("took too long over a statement", "it is tried again", True),
    "57P01": _GONE,
    "57P02": _GONE,
    "57P03": _Advice("is starting or stopping", "wait; it is tried again", True),
    "57P05": _GONE,
    "25P03": _GONE,
}  # fmt: skip


def check_address(url: str) -> None:
    """A URL that names a PostgreSQL database, or a `DefinitionError`."""
    hint = "write e.g. postgresql://user@host:5432/database"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018
    except ValueError as error:
        reason = f"cannot be read ({error})"
        raise DefinitionError(reason, where="database", got=_hidden(url), hint=hint) from error
    if parts.scheme not in _SCHEMES:
        raise DefinitionError(
            "must be the URL of a PostgreSQL database", where="database", got=_hidden(url),
            hint=hint,
        )  # fmt: skip


def place_of(url: str) -> str:
    """How a database is named in messages: without passwords."""
    return _hidden(url)


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Errors of the database become a `StoreError` that says what to do."""
    try:
        yield
    except _ERRORS as error:
        raise _store_error(error, place) from error


def _store_error(error: Exception, place: str) -> StoreError:
    advice = _advice(error)
    return StoreError(advice.reason, where=place, hint=advice.hint, transient=advice.transient)


def _advice(error: Exception) -> _Advice:
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        found = _ADVICE.get(state) or _ADVICE.get(state[:2])
        return found or _Advice(f"refused ({_first_line(error)})", "", False)
    if isinstance(error, asyncpg.ClientConfigurationError):
        return _Advice(f"cannot be used ({_first_line(error)})", "mend its address", False)
    if isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError):
        return _GONE._replace(reason=f"{_GONE.reason} ({_first_line(error)})")
    if isinstance(error, TimeoutError):
        return _AWAY._replace(reason="did not answer in time")
    return _AWAY._replace(reason=f"{_AWAY.reason} ({_first_line(error)})")


def _first_line(error: Exception) -> str:
    return _hidden(str(error).partition("\n")[0] or type(error).__name__)


def _hidden(url: str) -> str:
    """The text without passwords."""
    without = re.sub(r"(://[^/@:\s]*):[^/@\s]*@", r"\1@", url)
    return _SECRETS.sub(r"\1***", without)
