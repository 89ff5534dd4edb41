"""
What is executed when a job runs: a program or a shell text, and the circumstances it runs in.

An `Execution` is a value that no machine has been asked about: the launcher that starts it finds
out whether there is such a user, program or directory. As JSON it is the target of a schedule, so
that the ledger keeps it with the definition; what is not set is left out of it, and equal
executions have equal targets.

Spec: KRONTAB-4.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.schedule_record import canonical
from gnomon.errors import DefinitionError

__all__ = ["GRACE", "SHELL", "Execution", "Sink", "SinkKind", "read_target", "write_target"]

SHELL = "/bin/sh"
GRACE = timedelta(seconds=10)
"""How long after TERM comes KILL."""


class SinkKind(StrEnum):
    """Where what a job prints goes."""

    CAPTURE = "capture"
    """To krond, which keeps the newest, up to a limit."""
    INHERIT = "inherit"
    """To where krond itself prints."""
    DISCARD = "discard"
    FILE = "file"
    """To the end of a file."""
    SYSLOG = "syslog"


@dataclass(frozen=True, slots=True)
class Sink:
    """One output of a job."""

    kind: SinkKind = SinkKind.CAPTURE
    path: str = ""
    """For a file only, where it is absolute."""

    def __str__(self) -> str:
        return f"file:{self.path}" if self.kind is SinkKind.FILE else self.kind.value


_CAPTURE = Sink()


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A process to start, as the author of a job wrote it."""

    arguments: tuple[str, ...]
    """The program and its arguments; one text when a shell reads it."""
    shell: str = ""
    """The shell that reads the text; empty when the program is started without one."""
    user: str = ""
    """Empty for the user of krond."""
    group: str = ""
    """Empty for the group of the user."""
    cwd: str = ""
    """Empty for the home of the user."""
    umask: int | None = None
    timeout: timedelta | None = None
    grace: timedelta = GRACE
    stdout: Sink = _CAPTURE
    stderr: Sink = _CAPTURE
    env: tuple[tuple[str, str], ...] = ()
    """Names and values, in the order of the names."""

    def __post_init__(self) -> None:
        assert self.arguments
        assert not self.shell or len(self.arguments) == 1
        assert self.env == tuple(sorted(dict(self.env).items()))

    @property
    def argv(self) -> tuple[str, ...]:
        """What is handed to the system."""
        return (self.shell, "-c", *self.arguments) if self.shell else self.arguments


def write_target(execution: Execution) -> str:
    """The execution as the target of a schedule."""
    record: dict[str, object] = (
        {"shell": execution.arguments[0]} if execution.shell
        else {"command": list(execution.arguments)}
    )  # fmt: skip
    optional: dict[str, object] = {
        "interpreter": "" if execution.shell == SHELL else execution.shell,
        "user": execution.user,
        "group": execution.group,
        "cwd": execution.cwd,
        "umask": "" if execution.umask is None else f"{execution.umask:04o}",
        "timeout": "" if execution.timeout is None else format_duration(execution.timeout),
        "grace": "" if execution.grace == GRACE else format_duration(execution.grace),
        "stdout": "" if execution.stdout == _CAPTURE else str(execution.stdout),
        "stderr": "" if execution.stderr == _CAPTURE else str(execution.stderr),
        "env": dict(execution.env),
    }
    return canonical(record | {key: value for key, value in optional.items() if value})


def read_target(target: str) -> Execution:
    """The execution that a target describes."""
    try:
        record = json.loads(target)
        return _read(record)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DefinitionError(
            f"must describe what krond executes ({error})", where="target", got=target,
            hint="load the krontab file again",
        ) from error  # fmt: skip


def _read(record: Mapping[str, object]) -> Execution:
    shell = str(record.get("interpreter", SHELL)) if "shell" in record else ""
    command = [record["shell"]] if shell else record["command"]
    env = record.get("env", {})
    umask, timeout = record.get("umask"), record.get("timeout")
    if not isinstance(command, list) or not isinstance(env, dict):
        raise TypeError("a list and an object are needed")
    return Execution(
        arguments=tuple(str(part) for part in command),
        shell=shell,
        user=str(record.get("user", "")),
        group=str(record.get("group", "")),
        cwd=str(record.get("cwd", "")),
        umask=None if umask is None else int(str(umask), 8),
        timeout=None if timeout is None else parse_duration(str(timeout)),
        grace=parse_duration(str(record["grace"])) if "grace" in record else GRACE,
        stdout=_sink(str(record.get("stdout", _CAPTURE))),
        stderr=_sink(str(record.get("stderr", _CAPTURE))),
        env=tuple(sorted((str(name), str(value)) for name, value in env.items())),
    )


def _sink(text: str) -> Sink:
    kind, _, path = text.partition(":")
    return Sink(SinkKind(kind), path)
