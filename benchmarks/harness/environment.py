"""
A virtual environment per peer, made once and found again until what should be in it changes.

The directory's name carries a digest of the interpreter, the requirements and the pins, so a
changed pin makes a new environment and an interrupted installation (no mark) is begun again.
Packages are asked for by name only: where they come from is the installer's own configuration. What
cannot be installed is reported, never fatal.
"""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Environment", "Unavailable", "environment_name", "provide_environment"]

_MARK = "complete"
_INSTALL_SECONDS_MAX = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """An interpreter that sees the wanted packages."""

    python: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why there is no such environment, in one line."""

    reason: str


def provide_environment(
    name: str,
    requirements: Sequence[str],
    *,
    constraints: Path,
    under: Path,
    progress: Callable[[str], None],
) -> Environment | Unavailable:
    """The cached environment of that name, made first if need be."""
    pins = constraints.read_text(encoding="utf-8")
    directory = under / environment_name(name, requirements, pins)
    environment = Environment(python=directory / "bin" / "python")
    mark = directory / _MARK
    if mark.exists():
        return environment
    progress(f"making the environment of {name}")
    shutil.rmtree(directory, ignore_errors=True)
    install = [str(environment.python), "-m", "pip", "install", "--quiet", "--no-input"]
    install += ["--disable-pip-version-check", "--constraint", str(constraints), *requirements]
    for command in ([sys.executable, "-m", "venv", str(directory)], install):
        problem = _run(command)
        if problem is not None:
            return Unavailable(reason=problem)
    mark.touch()
    return environment


def environment_name(name: str, requirements: Sequence[str], pins: str) -> str:
    """The name with a digest of everything that decides what is inside."""
    essence = "\n".join([sys.version, *requirements, pins])
    return f"{name}-{hashlib.sha256(essence.encode()).hexdigest()[:12]}"


def _run(command: Sequence[str]) -> str | None:
    """None when the command succeeded, else the last line it wrote."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS_MAX
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"
