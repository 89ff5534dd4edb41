"""
How a problem is said on the command line: `error: ...`, and `hint: ...` when there is one.

A wrong cron expression is shown below the error, with a caret under the place. Text that comes from
outside is made printable first, so that a message is one line and cannot command the terminal.

Spec: CLI-3 to CLI-5.
"""

import errno

import click

from gnomon.errors import (
    DefinitionError,
    IncompatibleStateError,
    InvalidCronExpressionError,
    KrontabError,
    MissingExtraError,
    StoreError,
)
from gnomon.errors.discretion import discreet
from gnomon.errors.excerpt import excerpt
from gnomon.errors.root import LocatedError

__all__ = [
    "RemoteError",
    "describe_problem",
    "printable",
    "remote_problem",
    "store_problem",
    "system_problem",
    "usage_problem",
]

_SHOWN_MAX = 100
_WITH_EXPRESSION = ("next", "describe", "schedule upsert", "schedule diff")
"""The commands that take a cron expression."""
_HINTS = {
    errno.EADDRINUSE: "stop what listens there, or choose another port",
    errno.ENOSPC: "make room on the disk; what was written before is as it was",
}


class RemoteError(Exception):
    """What a service said, or that it said nothing; `code` is the exit code."""

    def __init__(self, message: str, *, hint: str, code: int) -> None:
        self.hint = hint
        self.code = code
        super().__init__(message)


def describe_problem(error: DefinitionError | LocatedError) -> str:
    """The lines to print for an error in what a user wrote."""
    if isinstance(error, KrontabError):
        return error.report
    place = subject = ""
    if isinstance(error, LocatedError):
        place, subject, error = f"{error.place}: ", error.subject, error.error
    if isinstance(error, InvalidCronExpressionError):
        expression = _cut(error.expression)
        message = f'Invalid cron expression "{expression}": {error.field} field {error.reason}'
        shown = excerpt(error.expression, error.position) if error.expression else ""
        return _lines(place + message, shown, error.hint)
    message = str(error).removesuffix(f"; {error.hint}").removeprefix(f"{subject}: ")
    return _lines(place + message, "", error.hint)


def usage_problem(error: click.UsageError) -> str:
    """The lines to print for arguments that the program does not take."""
    message = error.format_message()
    command = "gnomon" if error.ctx is None else error.ctx.command_path
    # A shell takes an expression apart, and makes a list of files of its stars.
    if message.startswith("Got unexpected extra argument") and command.endswith(_WITH_EXPRESSION):
        return _lines(message, "", 'put the expression in quotes, e.g. "0 3 * * *"')
    return _lines(message, "", f"see {command} --help")


def system_problem(error: OSError) -> str:
    """The lines to print for a file that cannot be read and the like; a note of it is the hint."""
    place = f"{error.filename}: " if error.filename else ""
    hint = " ".join(getattr(error, "__notes__", ())) or _HINTS.get(error.errno or 0, "")
    return _lines(f"{place}{error.strerror or error}", "", hint)


def store_problem(error: StoreError | IncompatibleStateError | MissingExtraError) -> str:
    """The lines to print for an error of the store, or of what is installed."""
    if isinstance(error, MissingExtraError):
        message, _, hint = str(error).partition("; ")
        return _lines(message, "", hint)
    return _lines(f"{error.where}: {error.reason}", "", error.hint)


def remote_problem(error: RemoteError) -> str:
    """The lines to print for what a service said."""
    return _lines(str(error), "", error.hint)


def printable(text: str) -> str:
    """The text with everything that does not print written as an escape."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def _lines(message: str, excerpt: str, hint: str) -> str:
    lines = [f"error: {printable(discreet(message))}"]
    if excerpt:
        lines.append(excerpt)
    if hint:
        lines.append(f"hint: {printable(discreet(hint))}")
    return "\n".join(lines) + "\n"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 3]}..."
