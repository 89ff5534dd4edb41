"""
Who is measured: an engine with its adapter, what its environment holds, and what to know about it.

A contender without requirements runs on the interpreter of the benchmark; any other in an
environment of its own. One that cannot be had is reported with the reason, never fatal.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.environment import Unavailable, provide_environment
from benchmarks.harness.process import Worker, WorkerLostError
from benchmarks.harness.protocol import ProtocolError

__all__ = ["ROOT", "Contender", "Presence", "start_worker"]

ROOT = Path(__file__).resolve().parents[2]
_PINS = ROOT / "benchmarks"
_ENVIRONMENTS = ROOT / ".bench" / "venvs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An engine in one mode; `entry` is the `module:factory` of its adapter."""

    name: str
    entry: str
    environment: str = ""
    requirements: tuple[str, ...] = ()
    pins: str = "constraints.txt"
    """The file of versions; one of its own where two versions of a library are measured."""
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """An engine that took part, with its versions; or the reason why it did not."""

    name: str
    versions: dict[str, str]
    missing: str | None = None


def start_worker(
    contender: Contender, module: str, *arguments: str, progress: Callable[[str], None]
) -> Worker | str:
    """`python -m module entry argument ...` for an engine; or in one line why there is none."""
    python = _interpreter(contender, progress)
    if isinstance(python, Unavailable):
        return python.reason
    command: Sequence[str] = [python, "-m", module, contender.entry, *arguments]
    try:
        return Worker(command, directory=ROOT)
    except (OSError, WorkerLostError, ProtocolError) as error:
        return str(error)


def _interpreter(contender: Contender, progress: Callable[[str], None]) -> str | Unavailable:
    if not contender.requirements:
        return sys.executable
    environment = provide_environment(
        contender.environment,
        contender.requirements,
        constraints=_PINS / contender.pins,
        under=_ENVIRONMENTS,
        progress=progress,
    )
    return environment if isinstance(environment, Unavailable) else str(environment.python)
