"""
Which test holds which clause: the two sides of the specification, read from their files.

Clauses are the lines `- **ID** ...` of docs/spec; a retired one reads `- ~~ID~~ ...`. Tests are
read by their syntax tree and not by running them, so that a partial run cannot pretend.

`python -m tests.tidy.matrix [PREFIX]` prints the matrix.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tidy.tree import ROOT, all_files, parse, relative, source_files

__all__ = ["ID", "Clause", "Mark", "by_number", "clauses", "marks"]

ID = re.compile(r"[A-Z]+-?\d+")
_LIVE = re.compile(rf"^- \*\*({ID.pattern})\*\*")
_MARKS = ("clause", "pytest.mark.clause")
_RETIRED = re.compile(rf"^- ~~({ID.pattern})~~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A promise, where it stands, and whether it still holds."""

    id: str
    page: str
    retired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A test that names a clause."""

    id: str
    test: str


def clauses() -> list[Clause]:
    """The clauses of every page of docs/spec, in order."""
    pages = [path for path in all_files() if path.parent == ROOT / "docs" / "spec"]
    return [clause for page in pages if page.suffix == ".md" for clause in _clauses_of(page)]


def marks() -> list[Mark]:
    """Every use of `@clause(...)` below tests."""
    return [mark for path in source_files("tests") for mark in _marks_of(path)]


def by_number(identifier: str) -> tuple[str, int]:
    """Sorts CRON-2 before CRON-10."""
    name = identifier.rstrip("0123456789")
    return name, int(identifier[len(name) :])


def _clauses_of(page: Path) -> Iterator[Clause]:
    in_example = False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            in_example = not in_example
        if in_example:
            continue
        if found := _LIVE.match(line) or _RETIRED.match(line):
            yield Clause(id=found[1], page=relative(page), retired="~~" in found[0])


def _marks_of(path: Path) -> Iterator[Mark]:
    in_decorators = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for call in _clause_calls(node.decorator_list):
                in_decorators.add(call)
                yield from _marks_in(call, f"{relative(path)}::{node.name}")
    # The others stand in `pytestmark` or in a table of cases, and count for the file.
    for call in _clause_calls([parse(path)]):
        if call not in in_decorators:
            yield from _marks_in(call, relative(path))


def _clause_calls(trees: Iterable[ast.AST]) -> Iterator[ast.Call]:
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in _MARKS:
            yield node


def _marks_in(call: ast.Call, test: str) -> Iterator[Mark]:
    for argument in call.args:
        if isinstance(argument, ast.Constant):
            yield Mark(id=str(argument.value), test=test)


def main(prefix: str = "") -> None:
    tests: dict[str, dict[str, None]] = {}
    for mark in marks():
        tests.setdefault(mark.id, {})[mark.test] = None
    shown = [clause for clause in clauses() if clause.id.startswith(prefix)]
    for clause in sorted(shown, key=lambda clause: by_number(clause.id)):
        state = " (retired)" if clause.retired else ""
        print(f"{clause.id:<10} {clause.page}{state}")
        for test in tests.get(clause.id, {}):
            print(f"{'':<10} {test}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
