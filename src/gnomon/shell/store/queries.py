"""
The statements of a store, by name.

A file of SQL holds blocks that begin with `-- name: NAME`; everything else about it is plain SQL,
so that it can be read, run and explained without Python.
"""

import re
import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

__all__ = ["migrations", "named", "statements"]

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_MIGRATION = re.compile(r"(\d{4})_(\w+)\.sql")


@cache
def named(file: str, package: str = __package__) -> dict[str, str]:
    """The statements of a file of a package; without one, of this."""
    _, *parts = _NAME.split(_read(file, package))
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


@cache
def migrations(family: str, package: str = __package__) -> tuple[str, ...]:
    """The scripts `0001_FAMILY.sql`, `0002_FAMILY.sql` and so on, in order."""
    names = sorted(entry.name for entry in (files(package) / "sql").iterdir())
    found = [
        match for name in names if (match := _MIGRATION.fullmatch(name)) and match[2] == family
    ]
    assert [int(match[1]) for match in found] == list(range(1, len(found) + 1)), names
    return tuple(_read(match[0], package) for match in found)


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one; a trigger is one statement."""
    pending = ""
    for part in re.split(r"(?<=;)", script):
        pending += part
        if sqlite3.complete_statement(pending):
            yield pending.strip()
            pending = ""


def _read(file: str, package: str) -> str:
    return (files(package) / "sql" / file).read_text(encoding="utf-8")
