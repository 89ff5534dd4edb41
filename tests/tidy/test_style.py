"""
What STYLE.md asks for and no linter can say.

The two tables of exceptions are ratchets: an entry may shrink or go, and a test says when it can.
"""

import ast
import re
from pathlib import Path

import pytest

from tests.tidy.tree import all_files, docstring, parse, relative, source_files

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60

LONG_MODULES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}

EMPTY_NAMES = {"base", "common", "helpers", "manager", "misc", "models", "types", "utils"}

OTHER_WORDS = {
    r"misfir\w*": "missed",
    r"fire times?": "nominal or chosen instant",
    r"jobs?": "schedule or run",
    r"tasks?": "schedule or run",
    r"triggers?": "recurrence or run",
}
"""Words of other systems, and the word for it here; see docs/glossary.md."""

# Joined, so that this file does not hold what it looks for.
REGISTRIES = ["".join(parts) for parts in (
    ("pypi", r"\.", "org"), ("python", "hosted"), ("npm", r"js\."), ("crates", r"\.", "io"),
    ("index", "-url"), ("find", "-links"),
)]  # fmt: skip
MACHINES = [f"(?<![\\w.])/{name}" for name in (
    "work" + "/", "tmp/" + "venv", "ro" + r"ot\b", "home" + r"/\w", "Users" + r"/\w",
)]  # fmt: skip

SOURCES = source_files("src")
CORE = source_files("src/gnomon/core")
OF_DAGS = source_files("src/gnomon/core/dag")
"""These have the words of the document that they read."""
CODE = source_files("src", "tests", "benchmarks", "examples")


@pytest.mark.parametrize("path", CODE, ids=relative)
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert docstring(path)


@pytest.mark.parametrize("path", [path for path in CORE if path.stem != "__init__"], ids=relative)
def test_every_module_of_the_core_names_its_clauses(path: Path) -> None:
    assert re.search(r"^Spec: \S", docstring(path), re.MULTILINE)


@pytest.mark.parametrize("path", CODE, ids=relative)
def test_a_module_can_be_read_in_one_sitting(path: Path) -> None:
    assert _line_count(path) <= LONG_MODULES.get(relative(path), MODULE_LINES_MAX)


@pytest.mark.parametrize("path", CODE, ids=relative)
def test_a_function_can_be_read_at_a_glance(path: Path) -> None:
    lengths = _function_lengths(path)

    long = {name: length for name, length in lengths.items() if length > FUNCTION_LINES_MAX}
    assert {name: n for name, n in long.items() if n > LONG_FUNCTIONS.get(name, 0)} == {}


def test_no_exception_is_larger_than_it_needs_to_be() -> None:
    modules = {relative(path): _line_count(path) for path in CODE}
    functions = {name: length for path in CODE for name, length in _function_lengths(path).items()}

    assert {name: modules.get(name) for name in LONG_MODULES} == LONG_MODULES
    assert {name: functions.get(name) for name in LONG_FUNCTIONS} == LONG_FUNCTIONS


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_no_module_has_a_name_that_says_nothing(path: Path) -> None:
    assert EMPTY_NAMES.isdisjoint(Path(relative(path)).with_suffix("").parts)


@pytest.mark.parametrize("path", [path for path in CORE if path not in OF_DAGS], ids=relative)
def test_the_core_uses_one_word_for_one_thing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(rf"\b(?:{'|'.join(OTHER_WORDS)})\b", re.IGNORECASE)

    assert pattern.findall(text) == []


@pytest.mark.parametrize("path", source_files("tests"), ids=relative)
def test_the_name_of_a_test_is_a_sentence(path: Path) -> None:
    names = [
        node.name
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")
    ]

    assert [name for name in names if len(name.split("_")) < 4 or "_should_" in name] == []


@pytest.mark.parametrize("patterns", [REGISTRIES, MACHINES], ids=["registry", "machine"])
def test_no_file_names_a_registry_or_a_path_of_one_machine(patterns: list[str]) -> None:
    pattern = re.compile("|".join(patterns))
    found = [
        f"{relative(path)}: {match[0]}"
        for path in all_files()
        for match in pattern.finditer(path.read_text(encoding="utf-8", errors="replace"))
    ]

    assert found == []


def _line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _function_lengths(path: Path) -> dict[str, int]:
    return {
        f"{relative(path)}::{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(parse(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
