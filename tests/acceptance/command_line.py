"""The command line as a person uses it: in this process for many cases, in its own for a few."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO

import click

from gnomon.cli import main
from gnomon.shell.clock import SystemClock

__all__ = ["NOW", "Done", "commands_of", "gnomon", "gnomon_process"]

NOW = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
"""What the clock says in this process: the day before Europe's clocks go forward."""


class StoppedClock(SystemClock):
    """Only the reading is stopped: what waits, waits."""

    def now_ms(self) -> int:
        return int(NOW.timestamp() * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def commands_of(group: click.Command) -> dict[str, click.Command]:
    """The commands of a group, also those that are imported when they are called; else none."""
    if not isinstance(group, click.Group):
        return {}
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def gnomon(*arguments: str) -> Done:
    """Run the program in this process, with the clock stopped at `NOW`."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = main(list(arguments), clock=StoppedClock())
    return Done(code=code, out=out.getvalue(), err=err.getvalue())


def gnomon_process(*arguments: str, environment: Mapping[str, str] | None = None) -> Done:
    """Run `python -m gnomon` as it is shipped."""
    done = subprocess.run(
        [sys.executable, "-m", "gnomon", *arguments],
        env=os.environ | dict(environment or {}), check=False, capture_output=True, text=True,
    )  # fmt: skip
    return Done(code=done.returncode, out=done.stdout, err=done.stderr)
