"""
Patches of JSON: a merge patch (RFC 7396) and a list of operations (RFC 6902), on copies.

Only the operations that the port speaks of are known: `test`, `add`, `replace` and `remove`.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

__all__ = ["PatchError", "apply_operations", "copied", "merged"]

_T = TypeVar("_T")


class PatchError(Exception):
    """An operation names what is not there, or a test does not hold; nothing is changed."""


def copied(one: _T) -> _T:
    """A copy of JSON, in which nothing is shared with the original."""
    if isinstance(one, dict):
        return {key: copied(value) for key, value in one.items()}  # type: ignore[return-value]
    if isinstance(one, list):
        return [copied(value) for value in one]  # type: ignore[return-value]
    return one


def merged(target: object, patch: object) -> object:
    """`target` with what `patch` says; None takes away, a list replaces a list."""
    if not isinstance(patch, Mapping):
        return copied(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def apply_operations(target: object, operations: Sequence[Mapping[str, object]]) -> object:
    """A copy of `target` after all operations."""
    document = copied(target)
    for operation in operations:
        path = str(operation["path"])
        *above, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
        parent = document
        for part in above:
            parent = _child(parent, part, path)
        match operation["op"]:
            case "test":
                if _child(parent, last, path) != operation.get("value"):
                    raise PatchError(f"testing value {path} failed")
            case "add":
                _put(parent, last, operation.get("value"), path, is_new=True)
            case "replace":
                _child(parent, last, path)
                _put(parent, last, operation.get("value"), path, is_new=False)
            case "remove":
                _child(parent, last, path)
                _take(parent, last)
            case other:
                raise PatchError(f"unknown operation {other}")
    return document


def _child(parent: object, part: str, path: str) -> object:
    if isinstance(parent, dict) and part in parent:
        return parent[part]
    if isinstance(parent, list) and part.isdigit() and int(part) < len(parent):
        return parent[int(part)]
    raise PatchError(f"{path} is not there")


def _put(parent: object, part: str, value: object, path: str, *, is_new: bool) -> None:
    if isinstance(parent, dict):
        parent[part] = copied(value)
    elif isinstance(parent, list) and (part == "-" or part.isdigit()):
        at = len(parent) if part == "-" else int(part)
        if is_new:
            parent.insert(at, copied(value))
        else:
            parent[at] = copied(value)
    else:
        raise PatchError(f"{path} is not there")


def _take(parent: object, part: str) -> None:
    if isinstance(parent, dict):
        del parent[part]
    elif isinstance(parent, list):
        del parent[int(part)]
