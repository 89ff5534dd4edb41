"""
What a target says about a process: a command, and the circumstances it runs in.

`{"command": ["prog", "arg"]}` names a program and its arguments, and no shell reads them;
`{"shell": "text"}` is for a shell to read, which `interpreter` may name. `cwd`, `env`, `timeout`
and `grace` may stand beside, and as whom it runs (`user`, `group`, `umask`) and where its output
goes (`stdout`, `stderr`). The environment is built from nothing, so that a run does not depend on
who started the worker.

Spec: LAUNCH-5, LAUNCH-6, LAUNCH-13, LAUNCH-15.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from gnomon.core.civil.duration import parse_duration
from gnomon.core.civil.instant import format_instant
from gnomon.errors import DefinitionError
from gnomon.ports import Claim

__all__ = [
    "CAPTURE",
    "DISCARD",
    "FILE",
    "INHERIT",
    "SYSLOG",
    "Command",
    "environment",
    "find_program",
    "missing_program_hint",
    "parse_command",
]

CAPTURE, INHERIT, DISCARD, SYSLOG = "capture", "inherit", "discard", "syslog"
FILE = "file:"
"""Before the path of a file."""
GRACE_MS = 10_000
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SHELL = "/bin/sh"
_KEYS = (
    "command", "shell", "interpreter", "cwd", "env", "timeout", "grace", "user", "group", "umask",
    "stdout", "stderr",
)  # fmt: skip
_OUTPUTS = (CAPTURE, INHERIT, DISCARD, SYSLOG)
_RESERVED = ("ENV", "BASH_ENV", "IFS")
_RESERVED_PREFIXES = ("LD_", "GNOMON_")
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A process to start."""

    arguments: tuple[str, ...]
    """The program and its arguments."""
    cwd: str | None
    env: Mapping[str, str]
    timeout_ms: int
    """0 for none."""
    grace_ms: int
    """How long after TERM comes KILL."""
    shell: str = SHELL
    """The shell that the process finds in its environment."""
    user: str = ""
    """Empty for the user of the worker."""
    group: str = ""
    """Empty for the group of the user."""
    umask: int | None = None
    stdout: str = CAPTURE
    stderr: str = CAPTURE


@lru_cache(4096)
def parse_command(target: str) -> Command:
    """The command that a target describes."""
    try:
        record = json.loads(target)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise DefinitionError(
            "must describe a command", where="target", got=target,
            hint='write {"command": ["program", "argument"]} or {"shell": "text"}',
        )  # fmt: skip
    for key in record:
        if key not in _KEYS:
            raise DefinitionError(
                "is not a known key", where="target", got=key, hint=f"use {', '.join(_KEYS)}"
            )
    cwd = record.get("cwd")
    shell = _text(record.get("interpreter", SHELL), where="target.interpreter")
    return Command(
        arguments=_read_arguments(record, shell),
        cwd=None if cwd is None else _text(cwd, where="target.cwd"),
        env=_read_env(record.get("env")),
        timeout_ms=_read_duration(record, "timeout", 0, least_ms=1),
        grace_ms=_read_duration(record, "grace", GRACE_MS, least_ms=0),
        shell=shell,
        user=_text(record.get("user", ""), where="target.user"),
        group=_text(record.get("group", ""), where="target.group"),
        umask=_read_umask(record.get("umask")),
        stdout=_read_sink(record, "stdout"),
        stderr=_read_sink(record, "stderr"),
    )


def environment(claim: Claim, command: Command, *, home: str, user: str) -> dict[str, str]:
    """Everything that the process finds in its environment."""
    return {
        "PATH": PATH,
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": command.shell,
        "LANG": "C.UTF-8",
        "TZ": claim.schedule.decider.zone,
        **command.env,
        "GNOMON_SCHEDULE": claim.schedule.schedule_id,
        "GNOMON_PERIOD": format_instant(claim.nominal),
        "GNOMON_KEY": claim.key,
        "GNOMON_ATTEMPT": str(claim.launches),
    }


def find_program(name: str, *, cwd: str, path: str) -> str | None:
    """The absolute path of a program that can be run; None when there is none."""
    if os.sep in name:
        program = Path(cwd, name)
        return str(program) if _can_be_run(program) else None
    for place in path.split(os.pathsep):
        program = Path(cwd, place, name)
        with contextlib.suppress(OSError):  # a place that the user cannot enter is passed over
            if _can_be_run(program):
                return str(program)
    return None


def missing_program_hint(name: str, *, cwd: str, path: str) -> str:
    """What to do about a program that cannot be found or run, by the way it was named."""
    if os.sep not in name:
        return f"install it, or write its full path; PATH is {path}"
    program = Path(cwd, name)
    if program.is_file():
        return f"let its user run it: chmod +x {program}"
    return f"install it there, or write where it is; there is no {program}"


def _can_be_run(program: Path) -> bool:
    return program.is_file() and os.access(program, os.X_OK, effective_ids=True)


def _read_arguments(record: Mapping[str, object], interpreter: str) -> tuple[str, ...]:
    command, shell = record.get("command"), record.get("shell")
    if isinstance(shell, str) and command is None and interpreter:
        return (interpreter, "-c", _text(shell, where="target.shell"))
    if isinstance(command, list) and command and shell in (None, False):
        arguments = tuple(_text(one, where="target.command") for one in command)
        if arguments[0]:
            return arguments
    raise DefinitionError(
        "must have either a list `command` or a text `shell`", where="target", got=dict(record),
        hint='write {"command": ["program", "argument"]} or {"shell": "text"}',
    )  # fmt: skip


def _read_env(found: object) -> dict[str, str]:
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise DefinitionError(
            "must be a table of texts",
            where="target.env",
            got=found,
            hint='write {"NAME": "value"}',
        )
    for name in found:
        if not name or "=" in name:
            raise DefinitionError(
                "is no name of a variable", where="target.env", got=name, hint="use letters and _"
            )
        # These act on the shell that waits for the release, or say what only the ledger knows.
        if name in _RESERVED or name.startswith(_RESERVED_PREFIXES):
            raise DefinitionError(
                "is a reserved variable", where="target.env", got=name,
                hint=f'set it in the command: ["env", "{name}=...", "program"]',
            )  # fmt: skip
    return {
        _text(name, where="target.env"): _text(value, where=f"target.env.{name}")
        for name, value in found.items()
    }


def _read_umask(found: object) -> int | None:
    if found is None:
        return None
    text = _text(found, where="target.umask")
    if text and len(text) <= 4 and all(one in "01234567" for one in text):
        return int(text, 8) & 0o777
    raise DefinitionError(
        "must be octal digits", where="target.umask", got=text, hint="write e.g. 0027"
    )


def _read_sink(record: Mapping[str, object], key: str) -> str:
    where = f"target.{key}"
    text = _text(record.get(key, CAPTURE), where=where)
    if text in _OUTPUTS or (text.startswith(FILE) and len(text) > len(FILE)):
        return text
    raise DefinitionError(
        "is no place for output", where=where, got=text,
        hint=f"write one of {', '.join(_OUTPUTS)}, or file:PATH",
    )  # fmt: skip


def _read_duration(record: Mapping[str, object], key: str, default: int, *, least_ms: int) -> int:
    found, where = record.get(key), f"target.{key}"
    if found is None:
        return default
    length_ms = parse_duration(_text(found, where=where), where=where) // _MS
    if length_ms < least_ms:
        raise DefinitionError("is too short", where=where, got=found, hint="write e.g. 5m")
    return length_ms


def _text(found: object, *, where: str) -> str:
    if isinstance(found, str) and "\0" not in found:
        try:
            os.fsencode(found)
        except UnicodeEncodeError:
            pass
        else:
            return found
    raise DefinitionError(
        "must be text that a program can be given", where=where, got=found, hint='write "..."'
    )
