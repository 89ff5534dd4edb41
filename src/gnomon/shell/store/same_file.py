"""
Are the files of a store still those that were opened?

A process has its files open, and goes on with them when they are removed or when others take their
names: what it writes then is found by no later process, and a second owner may be at work on what
has the name now. So the device and the number of each file are compared with what the name leads
to, before a transaction and after each that has written.

Spec: LEDGER-28.
"""

import os
from collections.abc import Sequence

from gnomon.errors import StoreGoneError

__all__ = ["SameFile"]

_Identity = tuple[int, int]


class SameFile:
    """Files with the identities that they had when this was made; what is not there is left out."""

    def __init__(self, paths: Sequence[str]) -> None:
        found = {path: _identity(path) for path in map(os.path.abspath, paths)}
        self._known = {path: known for path, known in found.items() if known is not None}

    def check(self) -> None:
        """`StoreGoneError` when a name leads to another file, or to none."""
        for path, known in self._known.items():
            try:
                found = _identity(path)
            except OSError:  # nothing is known, and the store itself will say what is wrong
                continue
            if found != known:
                what = "was removed" if found is None else "was replaced by another file"
                raise StoreGoneError(
                    f"{what} while this process used it", where=path,
                    hint="put it back, see that no other process uses it, and start again",
                )  # fmt: skip


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
