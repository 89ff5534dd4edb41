"""
The size of the house in numbers that a newcomer feels: rooms, words that two things share, repeats.

`python -m tests.tidy.measures` prints them; `test_measures` holds each of them down.
"""

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeGuard

from tests.tidy.tree import ROOT, all_files, parse, relative, source_files

__all__ = ["ADDED", "actorless_lines", "importers", "measures", "repeated_places"]

ADDED = ("apps/operator", "shell/kubernetes", "simulation/operator")
"""Rooms that the redesign adds to the house; it is measured without them."""

REPEAT = 6
"""Lines that must be alike, one after the other, before two places count as a repeat."""

_ACTORLESS = re.compile(
    r"\b(?:some(?:body|one)|no(?:body| one)|who(?:so|m)?ever|who does(?: not|n't))\b",
    re.IGNORECASE,
)
_TEXT = {".py", ".md", ".toml", ".sql", ".yaml"}
_OF_A_PACKAGE = {"__init__", "__main__"}
_HOLDERS = {"tests/tidy/measures.py", "STYLE.md"}  # They must spell the words out.


def measures() -> dict[str, int]:
    """Every figure, by its name."""
    modules = _modules()
    names = Counter(path.stem for path in modules if path.stem not in _OF_A_PACKAGE)
    classes = list(_public_classes())
    shared = Counter(name for name, _ in classes)
    return {
        "modules": len(modules),
        "lines": sum(len(_lines(path)) for path in modules),
        "modules with a single importer": sum(len(of) == 1 for of in importers().values()),
        "basenames of several modules": sum(count > 1 for count in names.values()),
        "names of several public classes": sum(count > 1 for count in shared.values()),
        "lines of the largest class": max(length for _, length in classes),
        "pairs of places with the same six lines": repeated_places(),
        "lines without an actor": len(actorless_lines()),
        "lines kept from the formatter": sum(
            line.rstrip().endswith("# fmt: skip")
            for path in source_files("src")
            for line in _lines(path)
        ),
    }


def importers() -> dict[str, set[str]]:
    """Which modules of the house import each of them; a package stands for its own `__init__`."""
    known = {_dotted(path): path for path in _modules()}
    found: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for target in _imports(path):
            if target in found and target != name:
                found[target].add(name)
    return {name: by for name, by in found.items() if known[name].stem not in _OF_A_PACKAGE}


def repeated_places() -> int:
    """Pairs of places, in two modules or in one, that share six or more lines of code."""
    seen: defaultdict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path in _modules():
        lines = list(_code_lines(path))
        for at in range(len(lines) - REPEAT + 1):
            seen[tuple(lines[at : at + REPEAT])].append((path, at))
    shared = {
        (one, other)
        for places in seen.values()
        for index, one in enumerate(places)
        for other in places[index + 1 :]
    }
    # A run of ten alike lines holds five windows; only the first of them starts a pair.
    return sum(
        ((one[0], one[1] - 1), (other[0], other[1] - 1)) not in shared for one, other in shared
    )


def actorless_lines() -> list[str]:
    """Lines whose actor has no name, as `path:line`."""
    return [
        f"{relative(path)}:{number}"
        for path in all_files()
        if path.suffix in _TEXT and relative(path) not in _HOLDERS
        for number, line in enumerate(_lines(path), 1)
        if _ACTORLESS.search(line)
    ]


@cache
def _modules() -> tuple[Path, ...]:
    home = ROOT / "src" / "gnomon"
    added = [home / room for room in ADDED]
    return tuple(
        path
        for path in source_files("src/gnomon")
        if not any(path.is_relative_to(room) for room in added)
    )


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())


def _code_lines(path: Path) -> Iterator[str]:
    """What stands in the lines, without imports, `__all__`, comments and docstrings."""
    left_out: set[int] = set()
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node) or _is_names(node):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for token in tokenize.generate_tokens(io.StringIO("\n".join(_lines(path)) + "\n").readline):
        if token.type == tokenize.COMMENT and token.line.strip() == token.string:
            left_out.add(token.start[0])
    for number, line in enumerate(_lines(path), 1):
        if number not in left_out and line.strip():
            yield line.strip()


def _is_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_names(node: ast.AST) -> TypeGuard[ast.Assign]:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
    )


def _public_classes() -> Iterator[tuple[str, int]]:
    for path in _modules():
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


if __name__ == "__main__":
    for figure, value in measures().items():
        print(f"{value:8,}  {figure}")
