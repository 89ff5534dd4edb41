"""
What is a call to an API server on the wire, and what does an answer say?

Text in, values out: nothing here sends anything. An answer is a denial only if the server has
certainly not done what it was asked for; every other trouble is `NoAnswer`.

Spec: KUBE-2 to KUBE-6.
"""

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import NamedTuple, assert_never
from urllib.parse import quote, urlencode

from gnomon.ports.kubernetes import (
    API_VERSION,
    Answer,
    Call,
    Change,
    Create,
    Delete,
    Denial,
    Denied,
    Done,
    Find,
    Get,
    JsonPatch,
    Kind,
    MergePatch,
    NoAnswer,
    Object,
    PutStatus,
    Replace,
    Seen,
    Watch,
)

__all__ = ["PAGE", "Request", "answer_of", "change_of", "find_request", "json_of", "request_of",
           "server_time", "watch_request"]  # fmt: skip

PAGE = 500
"""Objects that one page of a list holds."""

_JSON = "application/json"
_GROUPS = {
    Kind.KRONJOB: ("KronJob", API_VERSION),
    Kind.JOB: ("Job", "batch/v1"),
    Kind.POD: ("Pod", "v1"),
    Kind.EVENT: ("Event", "v1"),
    Kind.LEASE: ("Lease", "coordination.k8s.io/v1"),
}
_BY_REASON = {
    "AlreadyExists": Denial.EXISTS,
    "Conflict": Denial.CONFLICT,
    "Expired": Denial.EXPIRED,
    "Gone": Denial.EXPIRED,
    "Forbidden": Denial.FORBIDDEN,
    "Unauthorized": Denial.UNAUTHENTICATED,
    "TooManyRequests": Denial.TOO_MANY,
    "RequestEntityTooLarge": Denial.TOO_LARGE,
}
_BY_CODE = {
    400: Denial.INVALID, 401: Denial.UNAUTHENTICATED, 403: Denial.FORBIDDEN,
    404: Denial.NO_SUCH_KIND, 405: Denial.INVALID, 406: Denial.INVALID, 409: Denial.CONFLICT,
    410: Denial.EXPIRED, 413: Denial.TOO_LARGE, 415: Denial.INVALID, 422: Denial.INVALID,
    429: Denial.TOO_MANY,
}  # fmt: skip
_OVER_QUOTA = "exceeded quota"
_SHOWN_MAX = 500
_RETRY_MAX_MS = 3_600_000


class Request(NamedTuple):
    """One request, but for the server's address and who asks."""

    method: str
    path: str
    body: bytes | None = None
    content_type: str = _JSON


def request_of(call: Call) -> Request:
    match call:
        case Get(kind, namespace, name):
            return Request("GET", _path(kind, namespace, name))
        case Create(kind, namespace, one):
            return Request("POST", _path(kind, namespace), _bytes(one))
        case Replace(kind, namespace, one):
            name = str(_mapping(one, "metadata").get("name", ""))
            return Request("PUT", _path(kind, namespace, name), _bytes(one))
        case PutStatus():
            path = f"{_path(call.kind, call.namespace, call.name)}/status"
            return Request("PUT", path, _bytes(_with_status(call)))
        case MergePatch(kind, namespace, name, patch):
            path = _path(kind, namespace, name)
            return Request("PATCH", path, _bytes(patch), "application/merge-patch+json")
        case JsonPatch(kind, namespace, name, operations):
            path = _path(kind, namespace, name)
            return Request("PATCH", path, _bytes(list(operations)), "application/json-patch+json")
        case Delete(kind, namespace, name, uid, propagation):
            options = {
                "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid},
                "propagationPolicy": propagation.value,
            }  # fmt: skip
            return Request("DELETE", _path(kind, namespace, name), _bytes(options))
        case _:
            assert_never(call)


def find_request(call: Find, token: str) -> Request:
    """One page: the first, or the one that a token of the page before names."""
    asked = {"limit": str(PAGE)} | _selector(call.labels) | ({"continue": token} if token else {})
    return Request("GET", f"{_path(call.kind, call.namespace)}?{urlencode(asked)}")


def watch_request(call: Watch) -> Request:
    asked = {
        "watch": "1", "allowWatchBookmarks": "true", "resourceVersion": call.resource_version,
        "timeoutSeconds": str(call.timeout_s),
    }  # fmt: skip
    return Request(
        "GET", f"{_path(call.kind, call.namespace)}?{urlencode(asked | _selector(call.labels))}"
    )


def answer_of(
    call: Call | Find | Watch, code: int, headers: Mapping[str, str], body: bytes
) -> Answer:
    """What an answer says that has come as a whole."""
    at = server_time(headers)
    said = json_of(body)
    if 200 <= code < 300:
        if said is None:
            return NoAnswer(f"code {code} with a body that is no JSON object")
        return Done(_last(call, said) if isinstance(call, Delete) else said, at)
    if code >= 500 or code not in _BY_CODE:
        return NoAnswer(f"code {code}: {_message(said, body)}")
    why = _why(code, said)
    return Denied(why, _message(said, body), at, _retry_after_ms(said, headers))


def change_of(line: bytes) -> Change | Denied | NoAnswer:
    """What one line of a watch tells."""
    said = json_of(line)
    one = said.get("object") if said is not None else None
    if said is None or not isinstance(one, Mapping):
        return NoAnswer(f"a watch told what is no change: {line[:_SHOWN_MAX]!r}")
    seen = said.get("type")
    if seen != "ERROR":
        known = seen in {kind.value for kind in Seen}
        return Change(Seen(str(seen)), one) if known else NoAnswer(f"a watch told {seen!r}")
    code = one.get("code")
    if not isinstance(code, int) or code >= 500 or code not in _BY_CODE:
        return NoAnswer(f"the watch failed: {_message(one, b'')}")
    return Denied(_why(code, one), _message(one, b""), None, _retry_after_ms(one, {}))


def json_of(body: bytes) -> Object | None:
    """A JSON object; None for anything else, as a proxy or a cut connection may send."""
    try:
        said = json.loads(body)
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def server_time(headers: Mapping[str, str]) -> int | None:
    """The server's own time in whole seconds."""
    try:
        return int(parsedate_to_datetime(headers["Date"]).timestamp())
    except (KeyError, ValueError):
        return None


def _path(kind: Kind, namespace: str | None, name: str | None = None) -> str:
    _, version = _GROUPS[kind]
    parts = ["apis" if "/" in version else "api", *version.split("/")]
    if namespace is not None:
        parts += ["namespaces", namespace]
    parts += [kind.value, *([name] if name is not None else [])]
    return "/" + "/".join(quote(part, safe="") for part in parts)


def _with_status(call: PutStatus) -> Object:
    kind, version = _GROUPS[call.kind]
    metadata = {
        "name": call.name, "namespace": call.namespace, "uid": call.uid,
        "resourceVersion": call.resource_version,
    }  # fmt: skip
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "status": call.status}


def _selector(labels: Mapping[str, str | None]) -> dict[str, str]:
    if not labels:
        return {}
    wanted = [key if value is None else f"{key}={value}" for key, value in sorted(labels.items())]
    return {"labelSelector": ",".join(wanted)}


def _last(call: Delete, said: Object) -> Object:
    """The deleted object; a server that has none left says only its name and uid."""
    if said.get("kind") != "Status":
        return said
    kind, version = _GROUPS[call.kind]
    metadata = {"name": call.name, "namespace": call.namespace, "uid": call.uid}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _why(code: int, said: Object | None) -> Denial:
    status = said or {}
    details = _mapping(status, "details")
    reason = str(status.get("reason", ""))
    if code == 404:
        return Denial.NOT_FOUND if reason == "NotFound" and details.get("name") else _BY_CODE[404]
    if code == 403 and _OVER_QUOTA in str(status.get("message", "")):
        return Denial.QUOTA
    causes = details.get("causes")
    for cause in causes if isinstance(causes, list) else []:
        if isinstance(cause, Mapping) and cause.get("reason") == "NamespaceTerminating":
            return Denial.TERMINATING
    return _BY_REASON.get(reason, _BY_CODE[code])


def _message(said: Object | None, body: bytes) -> str:
    message = (said or {}).get("message")
    return str(message) if message else body[:_SHOWN_MAX].decode(errors="replace").strip()


def _retry_after_ms(said: Object | None, headers: Mapping[str, str]) -> int | None:
    seconds = _mapping(said or {}, "details").get("retryAfterSeconds")
    text = str(seconds) if isinstance(seconds, int) else headers.get("Retry-After", "")
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(_RETRY_MAX_MS)):
        return None
    return min(int(text) * 1000, _RETRY_MAX_MS)


def _mapping(one: Object, key: str) -> Mapping[str, object]:
    found = one.get(key)
    return found if isinstance(found, Mapping) else {}


def _bytes(one: object) -> bytes:
    return json.dumps(one, default=_plain, separators=(",", ":")).encode()


def _plain(one: object) -> object:
    """The port's mappings and sequences need not be dictionaries and lists."""
    if isinstance(one, Mapping):
        return dict(one)
    if isinstance(one, tuple | frozenset | set):
        return list(one)
    raise TypeError(f"{one!r} is not JSON")
