"""
What an executor says about a run, when it calls back.

A callback is a signed JSON object: the idempotency key of the run, STARTED, SUCCESS or FAILED, and
optionally the executor's own id of the run, one line about it, and when it happened. Whether it may
be believed is decided first, then what it says; a callback that was heard before may come again,
and in any order, which is for the ledger to sort out.

Spec: SIGN-1 to SIGN-3, EXEC-25.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.ledger.detail import one_line
from gnomon.errors import DefinitionError
from gnomon.ports.executor import Feedback, FeedbackStatus
from gnomon.shell.executor.signature import Keyring, Purpose, objection_to

__all__ = ["CALLBACK_MAX", "Rejected", "read_callback"]

CALLBACK_MAX = 64 * 1024
"""Bytes of a callback."""
_KEY_MAX = 500
_RUN_ID_MAX = 200
_KNOWN = ("idempotency_key", "status", "run_id", "detail", "at")


class Rejected(NamedTuple):
    """A callback that is not listened to: with which status of HTTP, and why."""

    status: int
    reason: str
    where: str = ""
    """The field that is wrong, where it is one."""


def read_callback(
    headers: Mapping[str, str], body: bytes, keyring: Keyring, *, now_ms: int
) -> Feedback | Rejected:
    """What a callback says, or why it is not listened to."""
    if len(body) > CALLBACK_MAX:
        return Rejected(413, f"a callback has at most {CALLBACK_MAX} bytes")
    objection = objection_to(headers, Purpose.CALLBACK, body, keyring, now_ms=now_ms)
    if objection is not None:
        return Rejected(401, objection)
    try:
        return _read(json.loads(body))
    except DefinitionError as error:
        return Rejected(422, str(error), error.where)
    except (ValueError, RecursionError) as error:
        return Rejected(400, f"is not JSON ({one_line(str(error))})")


def _read(record: object) -> Feedback:
    if not isinstance(record, dict):
        raise _wrong("callback", record, "must be an object", "write { ... }")
    for name in record:
        if name not in _KNOWN:
            raise _wrong(name, record[name], "is not a known field", f"use {', '.join(_KNOWN)}")
    status = record.get("status")
    if status not in list(FeedbackStatus):
        raise _wrong("status", status, "is no status", f"use {', '.join(FeedbackStatus)}")
    key = _text(record, "idempotency_key", most=_KEY_MAX)
    if not key:
        raise _wrong("idempotency_key", key, "is missing", "write the key of the run")
    at = _text(record, "at", most=64)
    return Feedback(
        key=key,
        status=FeedbackStatus(status),
        run_id=_text(record, "run_id", most=_RUN_ID_MAX),
        detail=one_line(_text(record, "detail", most=CALLBACK_MAX)),
        at_ms=to_epoch(parse_instant(at, where="at")) * 1000 if at else None,
    )


def _text(record: Mapping[str, object], name: str, *, most: int) -> str:
    found = record.get(name)
    if found is None:
        return ""
    if not isinstance(found, str) or len(found) > most or "\0" in found:
        raise _wrong(name, found, f"must be text of at most {most} characters", 'write "..."')
    try:
        found.encode()
    except UnicodeEncodeError:
        raise _wrong(name, name, "has half of a character", "mend the \\u escapes") from None
    return found


def _wrong(where: str, got: object, reason: str, hint: str) -> DefinitionError:
    return DefinitionError(reason, where=where, got=got, hint=hint)
