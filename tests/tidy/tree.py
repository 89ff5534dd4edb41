"""The files of the project as the tidiness tests see them: in order, without what is made."""

import ast
import os
from functools import cache
from pathlib import Path

__all__ = ["ROOT", "all_files", "docstring", "markdown_files", "parse", "relative", "source_files"]

ROOT = Path(__file__).resolve().parents[2]

_KEPT_HIDDEN = {".ci"}
_MADE = {"build", "dist", "__pycache__"}
_LEFT = (".cover", ".git")  # of a linked worktree, .git is a file


@cache
def all_files() -> tuple[Path, ...]:
    """Every file that belongs to the project."""
    found = []
    for directory, names, files in os.walk(ROOT):
        names[:] = sorted(name for name in names if not _is_made(name))
        found += [Path(directory, name) for name in sorted(files) if not name.startswith(_LEFT)]
    return tuple(found)


def source_files(*folders: str) -> list[Path]:
    """The Python files below these folders of the project."""
    roots = [ROOT / folder for folder in folders]
    return [
        path
        for path in all_files()
        if path.suffix == ".py" and any(path.is_relative_to(root) for root in roots)
    ]


def markdown_files() -> list[Path]:
    return [path for path in all_files() if path.suffix == ".md"]


def relative(path: Path) -> str:
    """The path as it is shown: from the root of the project, with forward slashes."""
    return path.relative_to(ROOT).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def docstring(path: Path) -> str:
    return ast.get_docstring(parse(path)) or ""


def _is_made(name: str) -> bool:
    hidden = name.startswith(".") and name not in _KEPT_HIDDEN
    return hidden or name in _MADE or name.endswith(".egg-info")
