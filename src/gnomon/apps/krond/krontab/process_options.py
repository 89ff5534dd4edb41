"""
What a job executes: `command` and the fields that say how its process is started.

Nothing is looked up here: whether there is such a user, program or directory is asked when the file
is loaded, on the machine where it is to run.

Spec: KRONTAB-13 to KRONTAB-15.
"""

import re
import shlex
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from gnomon.apps.krond.execution import GRACE, SHELL, Execution, Sink, SinkKind
from gnomon.apps.krond.krontab.draft import Draft, Piece
from gnomon.apps.krond.krontab.problem import Problems
from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.errors import DefinitionError

__all__ = ["RESERVED", "VARIABLE", "read_execution"]

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""What a variable may be called."""
RESERVED = re.compile(r"GNOMON_.*|LD_.*|BASH_ENV|ENV|IFS", re.ASCII)
"""Variables that krond sets, or that act on its own steps."""

_ACCOUNT = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,62}\$?|\d{1,10}", re.ASCII)
_OCTAL = re.compile(r"0?[0-7]{1,3}", re.ASCII)
_ANYTHING = ("true",)  # stands for a command that cannot be read, while the rest is looked at
_CAPTURE = Sink()
_LENGTH_MAX = timedelta(days=366)
_NEEDS_CARE = re.compile(r"['\"\\]")
_SINKS = "write inherit, discard, capture, syslog or file:/absolute/path"
_Value = TypeVar("_Value")


def read_execution(draft: Draft, problems: Problems) -> Execution | None:
    """What the draft says about its process; None when there is no command."""
    shell = _field(draft, "shell", _shell, "", problems)
    arguments = _arguments(draft, shell, problems)
    execution = Execution(
        arguments=arguments or _ANYTHING,
        shell=shell,
        user=_field(draft, "user", _account, "", problems),
        group=_field(draft, "group", _account, "", problems),
        cwd=_field(draft, "cwd", _absolute, "", problems),
        umask=_field(draft, "umask", _umask, None, problems),
        timeout=_field(draft, "timeout", _timeout, None, problems),
        grace=_field(draft, "grace", _grace, GRACE, problems),
        stdout=_field(draft, "stdout", _sink, _CAPTURE, problems),
        stderr=_field(draft, "stderr", _sink, _CAPTURE, problems),
        env=_env(draft, problems),
    )
    return execution if arguments else None


def _field(
    draft: Draft, name: str, read: Callable[[str], _Value], default: _Value, problems: Problems
) -> _Value:
    found = draft.pieces.get(name)
    if found:
        with problems.at(found[0], name):
            return read(found[0].text)
    return default


def _arguments(draft: Draft, shell: str, problems: Problems) -> tuple[str, ...]:
    pieces = draft.pieces.get("command", ())
    found: tuple[str, ...] = ()
    if pieces:
        with problems.at(pieces[0], "command"):
            found = _shell_text(pieces) if shell else _words(pieces)
    return found


def _shell_text(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    if len(pieces) > 1 or not pieces[0].text.strip():
        raise _refusal("must be one text for a shell", pieces[0].text, 'write command="..."')
    return (pieces[0].text,)


def _words(pieces: tuple[Piece, ...]) -> tuple[str, ...]:
    words: list[str] = []
    for piece in pieces:
        words += [piece.text] if piece.is_word else _split(piece.text)
    if not words or not words[0].strip():
        raise _refusal("must name a program", pieces[0].text, "write e.g. /usr/bin/backup")
    return tuple(words)


def _split(text: str) -> list[str]:
    if not _NEEDS_CARE.search(text):
        return text.split()
    try:
        return shlex.split(text)
    except ValueError as error:
        raise _refusal(
            f"cannot be split into words ({str(error).lower()})", text,
            "close the quote, or write shell=true to have a shell read it",
        ) from None  # fmt: skip


def _shell(text: str) -> str:
    if text in ("true", "false"):
        return SHELL if text == "true" else ""
    if text.startswith("/"):
        return text
    raise _refusal("must be true, false or the path of a shell", text, "write shell=true")


def _account(text: str) -> str:
    if _ACCOUNT.fullmatch(text):
        return text
    raise _refusal("is no name of an account", text, "write a name such as backup, or a number")


def _absolute(text: str) -> str:
    if text.startswith("/"):
        return text
    raise _refusal("must be an absolute path", text, "begin it with /")


def _umask(text: str) -> int:
    if _OCTAL.fullmatch(text):
        return int(text, 8)
    raise _refusal("must be three octal digits", text, "write e.g. 0027")


def _timeout(text: str) -> timedelta:
    return _length(text, timedelta(milliseconds=1))


def _grace(text: str) -> timedelta:
    return _length(text, timedelta(0))


def _length(text: str, least: timedelta) -> timedelta:
    length = parse_duration(text)
    if not least <= length <= _LENGTH_MAX or length % timedelta(milliseconds=1):
        reason = f"must lie between {format_duration(least)} and 366 days, in whole milliseconds"
        raise _refusal(reason, text, "write e.g. 10m")
    return length


def _sink(text: str) -> Sink:
    kind, colon, path = text.partition(":")
    if kind == SinkKind.FILE and path.startswith("/"):
        return Sink(SinkKind.FILE, path)
    if colon or kind not in list(SinkKind) or kind == SinkKind.FILE:
        raise _refusal("is no place for output", text, _SINKS)
    return Sink(SinkKind(kind))


def _env(draft: Draft, problems: Problems) -> tuple[tuple[str, str], ...]:
    if "env" not in draft.pieces:
        return ()
    found: dict[str, str] = {}
    for piece in draft.pieces["env"]:
        with problems.at(piece, "env"):
            name, value = _variable(piece.text)
            if name in found:
                raise _refusal(f"sets {name} twice", piece.text, "write it once")
            found[name] = value
    return tuple(sorted(found.items()))


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not VARIABLE.fullmatch(name):
        raise _refusal("must be NAME=value", text, "write e.g. env=MODE=prod")
    if RESERVED.fullmatch(name):
        raise _refusal("is a reserved variable", name, "set it in the command, with env")
    return name, value


def _refusal(reason: str, got: str, hint: str) -> DefinitionError:
    return DefinitionError(reason, where="field", got=got, hint=hint)
