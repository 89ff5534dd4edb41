"""
Problems: what is wrong in a file, each with its line and column, and how that is said.

Reading goes on after a problem, so that all of them are told at once. An error keeps the file from
being used; a warning is something that can be meant and probably is not. A report says where, what
is wrong, the line with a caret under the place, and what to write:

    error: site.kron:3:16: @win: must be a duration, got '2x'
      0 2 * * * @win(after,2x) name=backup command=/usr/bin/backup
                           ^
    hint: write e.g. 90s, 15m, 1h30m or 500ms

Spec: KRONTAB-5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gnomon.apps.krond.krontab.draft import Piece
from gnomon.errors import DefinitionError, InvalidCronExpressionError
from gnomon.errors.excerpt import excerpt
from gnomon.errors.root import printable, shown

__all__ = ["Problem", "Problems", "Severity", "report"]


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong at one place."""

    line: int
    column: int
    where: str
    """The modifier or field, as its author calls it."""
    reason: str
    got: str | None = None
    """What stands there; None when something is missing."""
    hint: str = ""
    severity: Severity = Severity.ERROR

    @property
    def message(self) -> str:
        """One line: where, what is wrong, and what was got."""
        got = "" if self.got is None else f", got {shown(self.got)}"
        return f"{self.where}: {self.reason}{got}"

    def to_json(self) -> dict[str, str | int | None]:
        return {
            "line": self.line,
            "column": self.column,
            "severity": self.severity.value,
            "where": self.where,
            "reason": self.reason,
            "got": self.got,
            "hint": self.hint,
        }


class Problems:
    """What has been found so far."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def error(
        self, piece: Piece, where: str, reason: str, *, hint: str, got: str | None = None
    ) -> None:
        self._add(piece, where, reason, got, hint, Severity.ERROR)

    def warn(
        self, piece: Piece, where: str, reason: str, *, hint: str, got: str | None = None
    ) -> None:
        self._add(piece, where, reason, got, hint, Severity.WARNING)

    def at(self, piece: Piece, where: str) -> "_Noting":
        """Note the error that is raised meanwhile, if one is, and go on."""
        return _Noting(self, piece, where)

    def _add(
        self, piece: Piece, where: str, reason: str, got: str | None, hint: str, severity: Severity
    ) -> None:
        problem = Problem(
            line=piece.line, column=piece.column, where=where, reason=reason, got=got, hint=hint,
            severity=severity,
        )  # fmt: skip
        self.found.append(problem)


class _Noting(NamedTuple):
    """While one piece is looked at."""

    problems: Problems
    piece: Piece
    where: str

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> bool:
        if not isinstance(error, DefinitionError):
            return False
        piece, reason, got = self.piece, error.reason, self.piece.text
        if isinstance(error, InvalidCronExpressionError):
            field = "" if error.field == "expression" else f"{error.field} field "
            piece = piece._replace(column=piece.column + error.position)
            self.problems.error(piece, self.where, f"{field}{reason}", hint=error.hint)
        else:
            self.problems.error(piece, self.where, reason, got=got, hint=error.hint)
        return True


def report(file: str, text: str, problems: Sequence[Problem]) -> str:
    """The problems of one file, one below the other."""
    lines = text.split("\n")
    return "".join(_block(file, lines, problem) for problem in problems)


def _block(file: str, lines: Sequence[str], problem: Problem) -> str:
    place = f"{printable(file)}:{problem.line}:{problem.column}"
    parts = [f"{problem.severity}: {place}: {problem.message}"]
    line = lines[problem.line - 1] if problem.line <= len(lines) else ""
    if line.strip():
        parts.append(excerpt(line.rstrip("\r"), problem.column - 1))
    if problem.hint:
        parts.append(f"hint: {problem.hint}")
    return "\n".join(parts) + "\n"
