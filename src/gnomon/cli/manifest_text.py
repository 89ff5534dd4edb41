"""
Objects as YAML, for people and for `kubectl apply`, without a library.

Texts are written as JSON texts, which YAML reads as they are; numbers, truth values and keys stand
plain. Long texts are not folded, so that a line of a description is a line.
"""

import json
import re
from collections.abc import Iterator, Mapping

__all__ = ["as_yaml"]

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*", re.ASCII)
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def as_yaml(*documents: object) -> str:
    return "---\n".join("\n".join(_lines(one, 0)) + "\n" for one in documents)


def _lines(value: object, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            if isinstance(inner, Mapping | list) and inner:
                yield f"{indent}{_key(str(key))}:"
                yield from _lines(inner, depth + 1)
            else:
                yield f"{indent}{_key(str(key))}: {_scalar(inner)}"
    elif isinstance(value, list) and value:
        for inner in value:
            first, *rest = _lines(inner, depth + 1)
            yield f"{indent}- {first.lstrip()}"
            yield from rest
    else:
        yield f"{indent}{_scalar(value)}"


def _key(key: str) -> str:
    plain = _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS
    return key if plain else json.dumps(key)


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
