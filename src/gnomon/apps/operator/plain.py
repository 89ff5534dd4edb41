"""
Plain JSON as it comes from a server: how to read it without trusting it, and its one text.

An object of Kubernetes may be of any shape where no schema keeps it; what is not what it should be
reads as nothing.
"""

import json
from collections.abc import Mapping
from hashlib import sha256

__all__ = ["at", "digest", "mapping", "number", "text", "things"]


def at(one: object, *path: str) -> object:
    """What stands at a path; None where there is nothing."""
    for part in path:
        if not isinstance(one, Mapping):
            return None
        one = one.get(part)
    return one


def mapping(one: object, *path: str) -> Mapping[str, object]:
    found = at(one, *path)
    return found if isinstance(found, Mapping) else {}


def text(one: object, *path: str) -> str:
    found = at(one, *path)
    return found if isinstance(found, str) else ""


def number(one: object, *path: str) -> int:
    found = at(one, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def things(one: object, *path: str) -> list[object]:
    """The entries of a list."""
    found = at(one, *path)
    return list(found) if isinstance(found, list | tuple) else []


def digest(*parts: object) -> str:
    """SHA-256 of parts as JSON with sorted keys: equal values have equal digests."""
    written = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(written.encode(errors="surrogatepass")).hexdigest()
