"""
A JSON document, and where in it one is.

A document is taken apart in steps, and each step knows its path, so that every error can name the
place: `nodes[2].command[0]: must be text, got 5`. What no author means is refused everywhere in
it, although JSON allows it: a name twice in one object, numbers that no machine has, deep nesting.

Spec: DAG-3, DAG-4.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.dag.value import Json
from gnomon.core.identifier import ID
from gnomon.errors import DefinitionError

__all__ = ["DEPTH_MAX", "TEXT_MAX", "At", "read_document"]

TEXT_MAX = 1024 * 1024
"""Bytes of one document."""
DEPTH_MAX = 32
ROOT = "dag"
"""How the document as a whole is named."""

_INTEGER_MAX = 2**63 - 1
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class At:
    """A value of a document, and its path from the root."""

    value: Json
    path: str = ""

    def refused(self, reason: str, hint: str) -> DefinitionError:
        return DefinitionError(reason, where=self.path or ROOT, got=self.value, hint=hint)

    def table(self, *, required: Iterable[str], optional: Iterable[str]) -> "dict[str, At]":
        """The values of an object by name, when it has these names and no others."""
        needed, known = list(required), [*required, *optional]
        found = self.entries()
        for name, one in found.items():
            if name not in known:
                raise DefinitionError(
                    "is not a known key", where=one.path, got=name, hint=f"use {', '.join(known)}"
                )
        for name in needed:
            if name not in found:
                raise DefinitionError(
                    "is missing", where=_below(self.path, name), got=None,
                    hint=f"every object here has {', '.join(needed)}",
                )  # fmt: skip
        return found

    def entries(self) -> "dict[str, At]":
        """The values of an object by name, whatever they are."""
        if not isinstance(self.value, Mapping):
            raise self.refused("must be an object", "write { ... }")
        return {name: At(one, _below(self.path, name)) for name, one in self.value.items()}

    def items(self, *, most: int, least: int = 0) -> "list[At]":
        """The values of a list."""
        if not isinstance(self.value, list):
            raise self.refused("must be a list", "write [ ... ]")
        if not least <= len(self.value) <= most:
            raise DefinitionError(
                f"must have {least} to {most} entries", where=self.path, got=len(self.value),
                hint="split it" if len(self.value) > most else "write at least one",
            )  # fmt: skip
        return [At(one, f"{self.path}[{index}]") for index, one in enumerate(self.value)]

    def text(self, *, least: int = 0, most: int = 65_536) -> str:
        """Text that a program can be given: without NUL."""
        if not isinstance(self.value, str):
            raise self.refused("must be text", 'write "..."')
        if "\0" in self.value or not least <= len(self.value) <= most:
            raise self.refused(
                f"must be {least} to {most} characters without NUL", "shorten or mend it"
            )
        return self.value

    def identifier(self) -> str:
        found = self.text(most=200)
        if not ID.fullmatch(found):
            raise self.refused(
                "must be 1 to 200 letters, digits, dots, underscores or hyphens",
                "begin with a letter or digit, e.g. nightly-report",
            )
        return found

    def whole(self, *, least: int, most: int) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.refused("must be a whole number", f"write e.g. {least}")
        if not least <= self.value <= most:
            raise self.refused(f"must lie between {least} and {most}", f"write e.g. {least}")
        return self.value

    def length_ms(self, *, least_ms: int, most_ms: int) -> int:
        """A duration such as `90s`."""
        found = parse_duration(self.text(most=64), where=self.path) // _MS
        if not least_ms <= found <= most_ms:
            low, high = (
                format_duration(timedelta(milliseconds=one)) for one in (least_ms, most_ms)
            )
            raise self.refused(f"must lie between {low} and {high}", "write e.g. 5m")
        return found


def read_document(text: str) -> At:
    """The document as a whole, when it is one that can be meant."""
    if len(text) > TEXT_MAX or len(text.encode(errors="replace")) > TEXT_MAX:
        raise DefinitionError(
            f"must have at most {TEXT_MAX} bytes", where=ROOT, got=f"{len(text)} characters",
            hint="keep large data elsewhere, and name it in the DAG",
        )  # fmt: skip
    try:
        root: Json = json.loads(text, object_pairs_hook=_table, parse_constant=_no_number)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise DefinitionError(
            f"is not JSON ({error})", where=ROOT, got=text, hint="write one JSON object"
        ) from None
    _check(At(root))
    return At(root)


class _Table(dict[str, Json]):
    """An object, which remembers a name that stood in it twice."""

    __slots__ = ("repeated",)
    repeated: str | None


def _table(pairs: list[tuple[str, Json]]) -> _Table:
    table = _Table(pairs)
    table.repeated = None
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        table.repeated = next(name for index, name in enumerate(names) if name in names[:index])
    return table


def _no_number(text: str) -> Json:
    raise ValueError(f"{text} is no number")


def _check(root: At) -> None:
    """Refuse what no document may have, wherever it stands."""
    level = [root]
    for _ in range(DEPTH_MAX + 1):
        level = [inner for one in level for inner in _checked(one)]
        if not level:
            return
    raise _too_deep(level[0].path)


def _checked(at: At) -> list[At]:
    """What is inside a value that is fine itself."""
    match at.value:
        case _Table() as table:
            if table.repeated is not None:
                raise DefinitionError(
                    "stands twice in one object", where=_below(at.path, table.repeated),
                    got=table.repeated, hint="keep one of the two",
                )  # fmt: skip
            for name in table:
                _check_text(At(name, at.path))
            return list(at.entries().values())
        case list() as items:
            return [At(one, f"{at.path}[{index}]") for index, one in enumerate(items)]
        case str():
            _check_text(at)
        case bool() | None:
            pass
        case number:
            assert isinstance(number, int | float)
            if not math.isfinite(number) or abs(number) > _INTEGER_MAX:
                raise at.refused("is too large a number", "write it as text")
    return []


def _check_text(at: At) -> None:
    try:
        str(at.value).encode()
    except UnicodeEncodeError:
        raise at.refused("has half of a character", "mend the \\u escapes") from None


def _too_deep(path: str = ROOT) -> DefinitionError:
    return DefinitionError(
        f"is nested deeper than {DEPTH_MAX} levels", where=path, got="more", hint="flatten it"
    )


def _below(path: str, name: str) -> str:
    step = name if _PLAIN.fullmatch(name) else f"[{json.dumps(name)}]"
    return f"{path}.{step}" if path and not step.startswith("[") else f"{path}{step}"
