"""
Which class has a failure?

An error of Gnomon says so itself; any other is looked at here.

What the network, a server or the machine does passes without a change of the script: an `OSError`,
the errors of the usual HTTP clients, and an answer such as 429 or 503. Other answers say
that the user must sign in (401) or grant something (403), or that the request was wrong. Classes
are known by their names, so that no client has to be installed; no message is ever matched. An
author adds to them with `workflow.treat(SomeError, as_=TransientError)`, which goes first.

Spec: FAIL-16, FAIL-17.
"""

import io
import ssl
from collections.abc import Mapping
from enum import StrEnum
from urllib.error import URLError

__all__ = ["Fault", "Treated", "fault_of"]


class Fault(StrEnum):
    """The classes of failures."""

    TRANSIENT = "transient"
    LOGIC = "logic"
    AUTH = "auth"
    PERMISSION = "permission"
    PRECONDITION = "precondition"
    INTERNAL = "internal"


Treated = Mapping[type[BaseException], Fault]
"""What an author has said of classes of exceptions."""

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


def fault_of(error: BaseException, treated: Treated) -> Fault | None:
    """The class of the failure; None when nothing is known about such an exception."""
    for kind in type(error).__mro__:
        if kind in treated:
            return treated[kind]
    if isinstance(error, BaseExceptionGroup):
        found = {fault_of(one, treated) for one in error.exceptions}
        return found.pop() if len(found) == 1 else None
    status = _status_of(error)
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


def _status_of(error: BaseException) -> int | None:
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
