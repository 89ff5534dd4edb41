"""
What kind of failure is this, and what follows from it?

The class of a failure decides the status of the run and who acts next. An error of Gnomon says its
class itself; any other is looked at here.

What the network, a server or the machine does passes without a change of the script: an `OSError`,
the errors of the usual HTTP clients, and an answer such as 429 or 503. Other answers say
that the user must sign in (401) or grant something (403), or that the request was wrong. Classes
are known by their names, so that no client has to be installed; no message is ever matched. An
author adds to them with `workflow.treat(SomeError, as_=TransientError)`, which goes first.

What else a script raises is a mistake of the script. What a tool raises without saying more, while
it mutates, leaves open whether the mutation was made. The end of Python's own traceback is kept
with the run, without the frames of the host, so that an author finds the line.

Spec: FAIL-1, FAIL-3 to FAIL-8, FAIL-16 to FAIL-18, FAIL-21.
"""

import io
import ssl
import traceback
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.error import URLError

from gnomon.apps.workflow.storable import storable
from gnomon.errors import WorkflowError
from gnomon.ports.workflow_facts import RunStatus

__all__ = [
    "BACKOFF_MAX_MS",
    "BACKOFF_MS",
    "REPAIRS_MAX",
    "TRIES_UNTOLD",
    "Failure",
    "Fault",
    "Treated",
    "backoff_ms",
    "classify",
    "fault_of",
    "status_of",
]

BACKOFF_MS = 10_000
BACKOFF_MAX_MS = 600_000
TRIES_UNTOLD = 5
"""After so many tries in a row that have failed, a person is told; the host goes on trying."""
REPAIRS_MAX = 3

_TEXT_MAX = 1_000
_TRACE_MAX = 4_000
"""The longest traceback that is kept, in characters."""
_CAUSES_MAX = 5
_HERE = str(Path(__file__).parent)


class Fault(StrEnum):
    """The classes of failures."""

    TRANSIENT = "transient"
    LOGIC = "logic"
    AUTH = "auth"
    PERMISSION = "permission"
    PRECONDITION = "precondition"
    INTERNAL = "internal"


class Failure(NamedTuple):
    fault: Fault
    error: str
    acted: bool | None = None
    """Whether a tool has acted that failed so; None when that is not known."""
    traceback: str = ""
    """Where it failed, for the author."""


Treated = Mapping[type[BaseException], Fault]
"""What an author has said of classes of exceptions."""

_NOTHING: Treated = MappingProxyType({})
_LOCAL = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)
_BY_NAME = {
    ("aiohttp", "ClientConnectionError"): Fault.TRANSIENT,
    ("aiohttp", "ClientPayloadError"): Fault.TRANSIENT,
    ("asyncpg", "CannotConnectNowError"): Fault.TRANSIENT,
    ("asyncpg", "PostgresConnectionError"): Fault.TRANSIENT,
    ("asyncpg", "TooManyConnectionsError"): Fault.TRANSIENT,
    ("botocore", "ConnectionError"): Fault.TRANSIENT,
    ("botocore", "HTTPClientError"): Fault.TRANSIENT,
    ("http", "HTTPException"): Fault.TRANSIENT,
    ("ftplib", "error_temp"): Fault.TRANSIENT,
    ("http", "InvalidURL"): Fault.LOGIC,
    ("httpcore", "NetworkError"): Fault.TRANSIENT,
    ("httpcore", "TimeoutException"): Fault.TRANSIENT,
    ("httpcore2", "NetworkError"): Fault.TRANSIENT,
    ("httpcore2", "TimeoutException"): Fault.TRANSIENT,
    ("httpx", "TransportError"): Fault.TRANSIENT,
    ("httpx", "UnsupportedProtocol"): Fault.LOGIC,
    ("httpx2", "TransportError"): Fault.TRANSIENT,
    ("httpx2", "UnsupportedProtocol"): Fault.LOGIC,
    ("imaplib", "abort"): Fault.TRANSIENT,
    ("psycopg", "OperationalError"): Fault.TRANSIENT,
    ("psycopg2", "OperationalError"): Fault.TRANSIENT,
    ("pymongo", "AutoReconnect"): Fault.TRANSIENT,
    ("redis", "BusyLoadingError"): Fault.TRANSIENT,
    ("redis", "ConnectionError"): Fault.TRANSIENT,
    ("redis", "TimeoutError"): Fault.TRANSIENT,
    ("smtplib", "SMTPAuthenticationError"): Fault.AUTH,
    ("smtplib", "SMTPRecipientsRefused"): Fault.LOGIC,
    ("urllib3", "MaxRetryError"): Fault.TRANSIENT,
    ("urllib3", "ProtocolError"): Fault.TRANSIENT,
    ("urllib3", "TimeoutError"): Fault.TRANSIENT,
    ("websockets", "ConnectionClosed"): Fault.TRANSIENT,
}
_BY_STATUS = {
    401: Fault.AUTH, 403: Fault.PERMISSION, 407: Fault.AUTH, 408: Fault.TRANSIENT,
    425: Fault.TRANSIENT, 429: Fault.TRANSIENT, 501: Fault.LOGIC, 505: Fault.LOGIC,
}  # fmt: skip
_STATUS = {
    Fault.TRANSIENT: RunStatus.TRANSIENT,
    Fault.LOGIC: RunStatus.LOGIC,
    Fault.AUTH: RunStatus.APPROVAL,
    Fault.PERMISSION: RunStatus.APPROVAL,
    Fault.PRECONDITION: RunStatus.APPROVAL,
    Fault.INTERNAL: RunStatus.INTERNAL,
}


def status_of(fault: Fault) -> RunStatus:
    """The status of a run that failed so; not for a mutation that may have been made."""
    return _STATUS[fault]


def classify(error: BaseException, *, by_tool: bool, treated: Treated = _NOTHING) -> Failure:
    """
    The failure that an exception means.

    `by_tool` when a tool raised it while it mutated; `treated` is what the author has said of
    classes of exceptions.
    """
    if isinstance(error, WorkflowError):
        return Failure(Fault(error.fault), _text(error.reason), error.acted, _traced(error))
    fault = fault_of(error, treated) or (Fault.INTERNAL if by_tool else Fault.LOGIC)
    return Failure(fault, _described(error), None, _traced(error))


def backoff_ms(tries: int) -> int:
    """How long to wait after so many failures in a row, from 1."""
    return min(BACKOFF_MS << min(tries - 1, 30), BACKOFF_MAX_MS)


def fault_of(error: BaseException, treated: Treated) -> Fault | None:
    """The class of the failure; None when nothing is known about such an exception."""
    for kind in type(error).__mro__:
        if kind in treated:
            return treated[kind]
    if isinstance(error, BaseExceptionGroup):
        found = {fault_of(one, treated) for one in error.exceptions}
        return found.pop() if len(found) == 1 else None
    status = _http_status(error)
    if status is not None:
        return _BY_STATUS.get(status, Fault.TRANSIENT if status >= 500 else Fault.LOGIC)
    for kind in type(error).__mro__:
        named = _BY_NAME.get((kind.__module__.partition(".")[0], kind.__name__))
        if named is not None:
            return named
    return _of_system(error) if isinstance(error, OSError) else None


def _of_system(error: OSError) -> Fault:
    if isinstance(error, URLError) and not isinstance(error.reason, OSError):
        return Fault.LOGIC  # a kind of address that is not known, or one without a host
    if isinstance(error, PermissionError):
        return Fault.PERMISSION
    if isinstance(error, _LOCAL) or _is_value(error):
        return Fault.LOGIC
    return Fault.TRANSIENT


def _is_value(error: OSError) -> bool:
    """Whether it is about what was asked for, such as an address that is none."""
    return isinstance(error, io.UnsupportedOperation) or (
        isinstance(error, ValueError) and not isinstance(error, ssl.SSLError)
    )


def _http_status(error: BaseException) -> int | None:
    """The status of the HTTP answer that an exception is about."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):  # of botocore
        response = response.get("ResponseMetadata")
        found = response.get("HTTPStatusCode") if isinstance(response, Mapping) else None
    else:
        found = getattr(response, "status_code", None)
    for name in ("status_code", "status", "code"):
        if not isinstance(found, int):
            found = getattr(error, name, None)
    is_status = isinstance(found, int) and not isinstance(found, bool) and 400 <= found <= 599
    return found if is_status else None


def _described(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # an exception that cannot be printed is still a failure
        said = ""
    name = type(error).__name__
    return _text(f"{name}: {said}" if said else name)


def _text(said: object) -> str:
    return storable(str(said), most=_TEXT_MAX)


def _traced(error: BaseException) -> str:
    """The traceback of an exception, with those that it comes from."""
    try:
        found = traceback.TracebackException.from_exception(error)
        one: traceback.TracebackException | None = found
        for _ in range(_CAUSES_MAX):
            if one is None:
                break
            frames = [frame for frame in one.stack if not frame.filename.startswith(_HERE)]
            one.stack = traceback.StackSummary.from_list(frames)
            one = one.__cause__ or one.__context__
        text = "".join(found.format())
    except Exception:  # an exception that cannot be printed is still a failure
        return ""
    text = storable(text, most=len(text) * 10)
    return text if len(text) <= _TRACE_MAX else f"…{text[1 - _TRACE_MAX :]}"
