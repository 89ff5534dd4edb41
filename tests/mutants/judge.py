"""
Do the tests of a module notice that it was changed?

The tests beside a module are asked first, then all tests of its room, then those that reach it
from elsewhere. The mutant stands in a copy of the sources, so that nothing here is changed.
A mutant that runs on for ever is noticed too, since a suite that does not end is seen.
"""

import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

from tests.mutants.sites import Mutant

__all__ = ["ROOT", "Judge", "rooms_of"]

ROOT = Path(__file__).resolve().parents[2]
_PATIENCE_S = 900
_FURTHER = {
    "core/engine": ["tests/core", "tests/shell/worker/test_runtime.py", "tests/simulation"],
    "core": ["tests/core"],
    "shell/store": ["tests/shell/store", "tests/contract", "tests/shell"],
    "apps/workflow/http": ["tests/apps/workflow/http", "tests/apps/workflow"],
    "apps": [],
}
"""Tests that reach a room from elsewhere, by the beginning of its path; the first that fits."""


class Judge:
    """A copy of the sources in which one mutant at a time is tried."""

    def __init__(self) -> None:
        self._folder = Path(mkdtemp(prefix="gnomon-mutants-"))
        shutil.copytree(
            ROOT / "src",
            self._folder / "src",
            ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"),
        )
        compileall.compile_dir(str(self._folder / "src"), quiet=1)

    def close(self) -> None:
        shutil.rmtree(self._folder)

    def noticed_by(self, mutant: Mutant) -> str | None:
        """The tests that failed with the mutant in place; None when it survived them all."""
        path = self._folder / mutant.path
        source, times = path.read_text(), path.stat()
        path.write_text(mutant.applied(source))
        try:
            for tests in rooms_of(mutant.path):
                if self._fails(tests):
                    return " ".join(tests)
            return None
        finally:
            path.write_text(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def _fails(self, tests: list[str]) -> bool:
        command = [
            sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
            "-m", "not bulk", "--hypothesis-seed=0", "--no-header", *tests,
        ]  # fmt: skip
        inherited = {
            "PYTHONPATH": str(self._folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | inherited,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_PATIENCE_S,
            )
        except subprocess.TimeoutExpired:
            return True
        if done.returncode not in (0, 1, 2):
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.returncode != 0


def rooms_of(path: str) -> list[list[str]]:
    """The tests to ask about a module of the sources, in turn; each test only once."""
    inside = Path(path).relative_to("src/gnomon")
    return list(_in_turn(_rounds(inside)))


def _rounds(inside: Path) -> Iterator[list[Path]]:
    beside = ROOT / "tests" / inside.parent
    yield sorted(beside.glob(f"test_{inside.stem}.py"))
    yield sorted(beside.glob(f"test_{inside.stem}_*.py"))
    for folder in (beside, *beside.parents):
        if folder == ROOT / "tests" or folder.parent == ROOT / "tests":
            break
        yield _tests_in(folder)
    name = next((name for name in _FURTHER if inside.as_posix().startswith(name)), "")
    for further in _FURTHER.get(name, []):
        place = ROOT / further
        yield [place] if place.suffix else _tests_in(place)


def _in_turn(rounds: Iterator[list[Path]]) -> Iterator[list[str]]:
    asked: set[Path] = set()
    for files in rounds:
        fresh = [file for file in files if file not in asked]
        asked.update(fresh)
        if fresh:
            yield [file.relative_to(ROOT).as_posix() for file in fresh]


def _tests_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("test_*.py")) if folder.is_dir() else []
