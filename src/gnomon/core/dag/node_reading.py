"""
One node of a DAG: what it does, read from its object.

Spec: DAG-8 to DAG-11.
"""

import json
import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from gnomon.core.dag.document import At
from gnomon.core.dag.value import (
    ActionNode,
    CommandNode,
    HttpNode,
    Json,
    Node,
    NodeType,
    PythonNode,
    Secret,
)
from gnomon.errors import DefinitionError

__all__ = ["GRACE_MS", "HTTP_TIMEOUT_MS", "read_node"]

GRACE_MS = 10_000
HTTP_TIMEOUT_MS = 30_000
_DAY_MS = 24 * 3_600_000
_METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_SHELL = "/bin/sh"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_RESERVED_VARIABLES = re.compile(r"ENV|BASH_ENV|IFS|LD_.*|GNOMON_.*", re.ASCII)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*", re.ASCII)
_RESERVED_HEADERS = (
    "connection", "content-length", "host", "idempotency-key", "keep-alive", "proxy-authorization",
    "te", "trailer", "transfer-encoding", "upgrade",
)  # fmt: skip
_CALLABLE = re.compile(
    r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", re.ASCII
)


def read_node(at: At) -> Node:
    """A node, of whichever type it says it is."""
    entries = at.entries()
    if "type" not in entries:
        raise DefinitionError(
            "is missing", where=f"{at.path}.type", got=None, hint=f"write {', '.join(NodeType)}"
        )
    type_text = entries["type"].text()
    if type_text not in list(NodeType):
        raise entries["type"].refused("is no type of node", f"use {', '.join(NodeType)}")
    return _READERS[NodeType(type_text)](at)


def _read_command(at: At) -> CommandNode:
    found = at.table(
        required=("id", "type"), optional=("command", "shell", "cwd", "env", "timeout", "grace")
    )
    return CommandNode(
        node_id=found["id"].identifier(),
        arguments=_read_arguments(at, found),
        cwd=found["cwd"].text(least=1, most=4096) if "cwd" in found else None,
        env=_read_env(found["env"]) if "env" in found else {},
        timeout_ms=_read_timeout(found, 0),
        grace_ms=found["grace"].length_ms(least_ms=0, most_ms=_DAY_MS)
        if "grace" in found
        else GRACE_MS,
    )


def _read_arguments(at: At, found: Mapping[str, At]) -> tuple[str, ...]:
    if ("command" in found) == ("shell" in found):
        raise at.refused(
            "must have either a list `command` or a text `shell`",
            'write "command": ["program", "argument"] or "shell": "text"',
        )
    if "shell" in found:
        return (_SHELL, "-c", found["shell"].text(least=1))
    first, *rest = found["command"].items(least=1, most=1_000)
    return (first.text(least=1, most=4096), *(one.text() for one in rest))


def _read_env(at: At) -> dict[str, str | Secret]:
    entries = at.entries()
    for name, one in entries.items():
        if not _VARIABLE.fullmatch(name):
            raise DefinitionError(
                "is no name of a variable", where=one.path, got=name, hint="use letters and _"
            )
        if _RESERVED_VARIABLES.fullmatch(name):
            raise DefinitionError(
                "is a reserved variable", where=one.path, got=name,
                hint=f'set it in the command: ["env", "{name}=...", "program"]',
            )  # fmt: skip
    return {name: _read_secret(one) or one.text() for name, one in entries.items()}


def _read_http(at: At) -> HttpNode:
    found = at.table(
        required=("id", "type", "url"),
        optional=("method", "headers", "json", "body", "timeout", "expect"),
    )
    body = _read_body(at, found)
    headers: dict[str, str | Secret] = _read_headers(found["headers"]) if "headers" in found else {}
    if "json" in found and "content-type" not in map(str.lower, headers):
        headers["Content-Type"] = "application/json"
    return HttpNode(
        node_id=found["id"].identifier(),
        method=_read_method(found.get("method"), default="GET" if body is None else "POST"),
        url=_read_url(found["url"]),
        headers=headers,
        body=body,
        timeout_ms=_read_timeout(found, HTTP_TIMEOUT_MS),
        expect=_read_statuses(found["expect"]) if "expect" in found else (),
    )


def _read_method(at: At | None, *, default: str) -> str:
    if at is None:
        return default
    method = at.text()
    if method not in _METHODS:
        raise at.refused("is no method", f"use {', '.join(_METHODS)}")
    return method


def _read_url(at: At) -> str:
    """A URL with a host; whether it may be called is the executor's to say."""
    url = at.text(least=1, most=2048)
    hint = "write e.g. https://example.org/path"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018
    except ValueError as error:
        raise at.refused(f"is no URL ({error})", hint) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise at.refused("must be an http or https URL with a host", hint)
    if parts.username is not None or parts.password is not None:
        raise DefinitionError(
            "must not hold a user or password", where=at.path, got=parts.hostname,
            hint="write them in a header",
        )  # fmt: skip
    if not url.isascii() or not url.isprintable() or " " in url:
        raise at.refused("must be printable ASCII without spaces", "percent-encode the rest")
    return url


def _read_headers(at: At) -> dict[str, str | Secret]:
    headers: dict[str, str | Secret] = {}
    for name, one in at.entries().items():
        if not _HEADER.fullmatch(name) or name.lower() in _RESERVED_HEADERS:
            raise DefinitionError(
                "is no header that can be set here", where=one.path, got=name,
                hint="leave it out; the request brings its own",
            )  # fmt: skip
        headers[name] = _read_secret(one) or _read_header_value(one)
    return headers


def _read_header_value(at: At) -> str:
    value = at.text(most=8192)
    if not _HEADER_VALUE.fullmatch(value):
        raise at.refused("must be printable ASCII on one line", "encode the rest")
    return value


def _read_secret(at: At) -> Secret | None:
    """The name of a secret, where one stands in place of a text."""
    if not isinstance(at.value, Mapping):
        return None
    return Secret(at.table(required=("secret",), optional=())["secret"].identifier())


def _read_body(at: At, found: Mapping[str, At]) -> str | None:
    if "json" in found and "body" in found:
        raise at.refused("must not have both `json` and `body`", "keep one of the two")
    if "json" in found:
        return json.dumps(found["json"].value, ensure_ascii=False, separators=(",", ":"))
    return found["body"].text(most=1024 * 1024) if "body" in found else None


def _read_statuses(at: At) -> tuple[int, ...]:
    return tuple(sorted({one.whole(least=200, most=599) for one in at.items(least=1, most=100)}))


def _read_python(at: At) -> PythonNode:
    found = at.table(required=("id", "type", "callable"), optional=("arguments", "timeout"))
    name = found["callable"].text(most=500)
    match = _CALLABLE.fullmatch(name)
    if match is None:
        raise found["callable"].refused(
            "must name a function of a module", "write package.module:function"
        )
    arguments: dict[str, Json] = {}
    if "arguments" in found:
        arguments = {key: one.value for key, one in found["arguments"].entries().items()}
        for key in arguments:
            if not key.isidentifier():
                raise found["arguments"].refused("must have names that Python has", "rename them")
    return PythonNode(
        node_id=found["id"].identifier(),
        module=match[1],
        function=match[2],
        arguments=arguments,
        timeout_ms=_read_timeout(found, 0),
    )


def _read_action(at: At) -> ActionNode:
    found = at.table(required=("id", "type", "uses"), optional=("with", "timeout"))
    return ActionNode(
        node_id=found["id"].identifier(),
        uses=found["uses"].text(least=1, most=200),
        given=found["with"].value if "with" in found else None,
        timeout_ms=_read_timeout(found, 0),
    )


def _read_timeout(found: Mapping[str, At], default: int) -> int:
    if "timeout" not in found:
        return default
    return found["timeout"].length_ms(least_ms=1, most_ms=7 * _DAY_MS)


_READERS: Mapping[NodeType, Callable[[At], Node]] = {
    NodeType.COMMAND: _read_command,
    NodeType.HTTP: _read_http,
    NodeType.PYTHON: _read_python,
    NodeType.ACTION: _read_action,
}
