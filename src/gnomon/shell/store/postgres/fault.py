"""
What is wrong with the database, and what to do about it?

Every error of PostgreSQL and of the way to it becomes a `StoreError` with the database, what is
wrong and what to do; `transient` says whether trying again may help. The database is named without
its password.

Spec: PG-9.
"""

import os
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from gnomon.errors import DefinitionError, StoreError
from gnomon.errors.discretion import discreet
from gnomon.shell.settings import environment
from gnomon.shell.store.postgres.password import why_refused

__all__ = ["check_address", "connecting", "explained", "forbidden", "looking", "place_of"]

_SCHEMES = ("postgresql", "postgres")
_SECRETS = re.compile(r"(?i)((?:password|passfile|sslpassword)\s*=\s*)(?:'[^']*'|[^&\s]*)")
_SECRETS_OF_URL = re.compile(r"(?i)((?:password|passfile|sslpassword)[=:])[^&]*")
_HOST = re.compile(r"(?:\[[^\[\]]*\]|[^\[\]:]*)(?::([0-9]{1,5}))?")
_PORTS = re.compile(r"[0-9]{1,5}(?:,[0-9]{1,5})*")
_PORT_MAX = 65_535
_ROLES = frozenset({"any", "primary", "standby", "read-write", "read-only", "prefer-standby"})
_FILES = ("sslrootcert", "sslcert", "sslkey", "sslcrl")
_EXAMPLE = "write e.g. postgresql://user@host:5432/database"
_ESCAPE = (
    "write @ as %40, / as %2F, ? as %3F and # as %23, or leave the password out and set PGPASSWORD"
)


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
_AGAIN = "try again; a worker does so by itself"
_GONE = _Advice("closed the connection", f"nothing was lost; {_AGAIN}", True)
_AWAY = _Advice("cannot be reached", "check that the server runs and the address is right", True)
_SOCKETS = "see unix_socket_directories and port of the server"
_GRANT = (
    "let this user create the schema, or create it and grant ALL on it and on its tables; "
    "see docs/howto/run-on-postgresql.md"
)
_UNFIT = _Advice(
    "has no server that is as target_session_attrs says",
    "name the primary server too, or wait for the failover; a worker tries again by itself", True,
)  # fmt: skip
_BETWEEN = _Advice(
    "is behind a pooler that says no",
    "check the databases and users that the pooler knows, and the server behind it; "
    "a worker tries again by itself", True,
)  # fmt: skip
_POOLER = _Advice(
    "is behind a pooler that hands out a connection for each transaction",
    "name the server itself, or say that there is a pooler: with --pooler, in Python with "
    "PoolOptions(pooler=True)", False,
)  # fmt: skip
_PLAIN = _Advice(
    "does not speak TLS, which the address asks for",
    "have ssl on in the server, or leave sslmode out of the address", False,
)  # fmt: skip
_REFUSED = _Advice("refused", "", False)
_UNKNOWN = _Advice(
    "refused",
    "leave that name out of the address, where it is taken for a setting of the server", False,
)  # fmt: skip
_MISSING = _Advice("does not exist", "create it, with createdb for example", False)
_STRANGER = _Advice("refuses this user", "check the user, the password and pg_hba.conf", False)
_FORBIDDEN = _Advice("does not allow this to this user", _GRANT, False)
_LACKING = _Advice("lacks a table", "a schema that was changed by hand must be restored", False)
_CROWDED = _Advice(
    "has no connection left",
    "raise max_connections, or the CONNECTION LIMIT of the role or the database where it is named, "
    "or run fewer workers", True,
)  # fmt: skip
_FOREIGN = _Advice(
    "has tables of another program",
    "name another database, or another schema; one that was changed by hand must be restored",
    False,
)  # fmt: skip
_QUOTED = (
    _BETWEEN, _REFUSED, _UNKNOWN, _MISSING, _STRANGER, _FORBIDDEN, _LACKING, _CROWDED, _FOREIGN,
)  # fmt: skip
"""Where the server alone knows which database, role, right, limit, table or column it is."""
_NAME = re.compile(r'parameter "([a-z_]+)"')
_LIBPQ = frozenset({
    "channel_binding", "connect_timeout", "fallback_application_name", "gssdelegation",
    "gssencmode", "hostaddr", "keepalives", "keepalives_count", "keepalives_idle",
    "keepalives_interval", "load_balance_hosts", "requirepeer", "require_auth", "sslcertmode",
    "sslcompression", "sslnegotiation", "sslsni", "tcp_user_timeout",
})  # fmt: skip
"""What libpq reads in an address, and Gnomon does not."""
_SETTING = "unsupported startup parameter"  # what a pooler says of settings for a session
_ADVICE = {
    "08": _GONE,
    "08P01": _BETWEEN,
    "26000": _POOLER,
    "42P05": _POOLER,
    "25006": _Advice(
        "is read-only",
        "name the primary server, or wait for the failover; where there is no standby, see "
        "default_transaction_read_only of the server, the database and the user", True,
    ),
    "28": _STRANGER,
    "3D000": _MISSING,
    "40001": _Advice("could not order two transactions", _AGAIN, True),
    "40P01": _Advice("broke a deadlock", _AGAIN, True),
    "42501": _FORBIDDEN,
    "42703": _FOREIGN,
    "42704": _UNKNOWN,
    "42P01": _LACKING,
    "53100": _Advice(
        "cannot grow: its disk is full", "free some space there; nothing was lost", True
    ),
    "53200": _Advice("has no memory left", "give the server more, or wait", True),
    "53300": _CROWDED,
    "55P03": _Advice("has a row that another process holds for long", _AGAIN, True),
    "57014": _Advice("took too long over a statement", _AGAIN, True),
    "57P01": _GONE,
    "57P02": _GONE,
    "57P03": _Advice("is starting or stopping", f"wait, and {_AGAIN}", True),
    "57P05": _GONE,
    "25P03": _GONE,
}  # fmt: skip


def check_address(url: str) -> None:
    """A URL that names a PostgreSQL database, or a `DefinitionError`."""
    problem = _problem(url)
    if problem is not None:
        hint = _ESCAPE if _has_stray_sign(url) else _EXAMPLE
        raise DefinitionError(problem, where="database", got=_hidden(url), hint=hint)


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


@contextmanager
def connecting(url: str) -> Iterator[None]:
    """The same, and what is wrong with the variables and files that complete an address."""
    place = place_of(url)
    try:
        with explained(place):
            yield
    except StoreError as error:
        hint = why_refused(url)
        if hint is None or not isinstance(error.__cause__, asyncpg.InvalidPasswordError):
            raise
        raise StoreError(error.reason, where=error.where, hint=hint) from error.__cause__
    except ValueError as error:  # the address itself has been checked
        raise StoreError(
            "cannot be used, because a variable of the environment cannot be read",
            where=place, hint="see PGPORT, which is the number of a port",
        ) from error  # fmt: skip


@contextmanager
def looking(schema: str) -> Iterator[None]:
    """Who only looks into a schema needs few rights, and is told which."""
    try:
        yield
    except StoreError as error:
        if not isinstance(error.__cause__, asyncpg.InsufficientPrivilegeError):
            raise
        hint = f"GRANT USAGE ON SCHEMA {schema} and SELECT ON ALL TABLES IN SCHEMA {schema} to it"
        raise StoreError(error.reason, where=error.where, hint=hint) from error.__cause__


def forbidden(place: str, what: str) -> StoreError:
    """What is said to a user that has been found to lack a right, as when the server says so."""
    reason = f"{_FORBIDDEN.reason} ({what})"
    return StoreError(reason, where=place, hint=_FORBIDDEN.hint)


def _absent_sockets(place: str) -> list[str]:
    """The sockets that an address means and that are not there."""
    parts, names = urlsplit(place), environment()
    query = parse_qs(parts.query)
    pairs = [text.partition(":") for text in parts.netloc.rpartition("@")[2].split(",")]
    hosts = [unquote(host) for host, _, _ in pairs if host]
    hosts = hosts or query.get("host", [names.get("PGHOST", "")])[-1].split(",")
    ports = [port for _, _, port in pairs if port]
    ports = ports or query.get("port", [names.get("PGPORT") or "5432"])[-1].split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    files = [f"{host}/.s.PGSQL.{port}" for host, port in zip(hosts, ports, strict=False)]
    return [file for file in files if file.startswith("/") and not os.path.exists(file)]


def _store_error(error: Exception, place: str) -> StoreError:
    advice = _advice(error)
    if isinstance(error, FileNotFoundError) and (absent := _absent_sockets(place)):
        reason = f"{_AWAY.reason} (there is no socket {', '.join(absent)})"
        advice = _Advice(reason, f"{_AWAY.hint}; {_SOCKETS}", True)
    return StoreError(advice.reason, where=place, hint=advice.hint, transient=advice.transient)


def _advice(error: Exception) -> _Advice:
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str):
        found = _ADVICE.get(state) or _ADVICE.get(state[:2]) or _REFUSED
        if found is _BETWEEN and str(error).startswith(_SETTING):
            return _POOLER
        if found is _UNKNOWN and (name := _NAME.search(str(error))) and name[1] in _LIBPQ:
            hint = f"{name[1]} is libpq's and is not read here; leave it out of the address"
            return _Advice(f"{found.reason} ({_first_line(error)})", hint, False)
        if found in _QUOTED:
            return found._replace(reason=f"{found.reason} ({_first_line(error)})")
        return found
    if isinstance(error, asyncpg.ClientConfigurationError):
        return _Advice(f"cannot be used ({_first_line(error)})", "mend its address", False)
    if isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        return _UNFIT
    if isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError):
        return _GONE._replace(reason=f"{_GONE.reason} ({_first_line(error)})")
    if isinstance(error, TimeoutError):
        return _AWAY._replace(reason="did not answer in time")
    if isinstance(error, ssl.SSLError):
        hint = "check sslmode, sslrootcert, sslcert and sslkey, and the name of the host"
        return _Advice(f"cannot be talked to over TLS ({_first_line(error)})", hint, False)
    if isinstance(error, ConnectionError) and "rejected SSL upgrade" in str(error):
        return _PLAIN
    return _AWAY._replace(reason=f"{_AWAY.reason} ({_first_line(error)})")


def _first_line(error: Exception) -> str:
    return _hidden(str(error).partition("\n")[0] or type(error).__name__)


def _problem(url: str) -> str | None:
    """What is wrong with an address, in words that quote nothing of it: it may be the password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "cannot be read"
    if parts.scheme not in _SCHEMES or not url[len(parts.scheme) :].startswith("://"):
        return "must be the URL of a PostgreSQL database"
    if _has_stray_sign(url):
        return "has a sign in its user or password that must be escaped"
    if not all(map(_is_host, parts.netloc.rpartition("@")[2].split(","))):
        return "has a host or a port that cannot be read"
    try:
        query = parse_qs(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        return "must have name=value after the question mark"
    if not all(_PORTS.fullmatch(ports) for ports in query.get("port", [])):
        return "has a port that is no number"
    if not _ROLES.issuperset(query.get("target_session_attrs", [])):
        return f"must have one of {', '.join(sorted(_ROLES))} for target_session_attrs"
    for name in _FILES:
        if not all(os.path.isfile(path) for path in query.get(name, [])):
            return f"names a file for {name} that is not there"
    return None


def _is_host(text: str) -> bool:
    found = _HOST.fullmatch(text)
    return found is not None and int(found[1] or 0) <= _PORT_MAX


def _has_stray_sign(url: str) -> bool:
    """Whether what reads like the end of a password comes later than an address allows it."""
    rest = url.partition("://")[2]
    authority, _, query = rest.partition("?")
    authority, slash, path = authority.partition("/")
    user, at, _ = authority.partition("@")
    return (
        "#" in rest
        or authority.count("@") > 1
        or "@" in path
        or bool(not at and not slash and ":" in user and "@" in query)
    )


def _hidden(text: str) -> str:
    """The text without passwords; of an address that cannot be read, rather less than too much."""
    is_clear = _problem(text) is None
    secret = r"[^/@?#]*" if is_clear else r".*"
    without = re.sub(rf"(?s)(://[^/@:?#\s]*):{secret}@", r"\1@", text)
    if not is_clear:
        without = re.sub(r"(?s)(://[^/@:?#\s]*):[^@]*$", r"\1:***", without)
        without = discreet(without)
    return (_SECRETS_OF_URL if "://" in text else _SECRETS).sub(r"\1***", without)
