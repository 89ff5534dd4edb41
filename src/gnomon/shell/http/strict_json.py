"""
Is this JSON that everybody reads alike? Bounded depth, no name twice, no endless numbers.

Parsers differ about names that come twice and about numbers beyond 64 bits, and a deep text can
exhaust a stack; so such texts are refused before anything is made of them.

Spec: HTTP-7.
"""

import json
import re

from gnomon.shell.http.problem import ProblemError

__all__ = ["DEPTH_MAX", "check_json"]

DEPTH_MAX = 32
_INT_MAX = 2**63
# A text that never ends is taken to the end at once: to look again from each quote would be slow.
_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def check_json(data: bytes) -> None:
    """Nothing when it can be read safely; otherwise the problem, with status 400."""
    if _depth(data) > DEPTH_MAX:
        raise ProblemError(400, f"the JSON is nested more than {DEPTH_MAX} deep")
    try:
        found = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object, parse_constant=_constant, parse_int=_int, parse_float=_float,
        )  # fmt: skip
    except UnicodeDecodeError:
        raise ProblemError(400, "the body must be JSON in UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ProblemError(400, f"the body is not JSON: {error.msg} at {where}") from None
    _check_texts(found)


def _depth(data: bytes) -> int:
    deepest = depth = 0
    for match in _STRUCTURE.finditer(data):
        first = match[0][0]
        if first in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in b"]}":
            depth -= 1
    return deepest


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            shown = json.dumps(name[:80])
            raise ProblemError(400, f"the JSON has the name {shown} twice in one object")
        found[name] = value
    return found


def _check_texts(value: object) -> None:
    """No store can keep the character NUL, or half of a pair of UTF-16."""
    match value:
        case str():
            if "\0" in value or not _is_unicode(value):
                raise ProblemError(400, "the JSON has a text with NUL or half a character")
        case list():
            for one in value:
                _check_texts(one)
        case dict():
            for name, one in value.items():
                _check_texts(name)
                _check_texts(one)


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _constant(text: str) -> None:
    raise ProblemError(400, f"{text} is not JSON")


def _int(text: str) -> int:
    if len(text) > 20 or not -_INT_MAX <= int(text) < _INT_MAX:
        raise ProblemError(400, f"the JSON has a number beyond 64 bits: {text[:24]}")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ProblemError(400, f"the JSON has a number that is too large: {text[:24]}")
    return value
