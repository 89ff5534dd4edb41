"""
Problems as text: where, what is wrong, the line with a caret under the place, and what to write.

    error: site.kron:3:16: @win: must be a duration, got '2x'
      0 2 * * * @win(after,2x) name=backup command=/usr/bin/backup
                           ^
    hint: write e.g. 90s, 15m, 1h30m or 500ms

Spec: KRONTAB-5.
"""

from collections.abc import Sequence

from gnomon.apps.krond.krontab.problem import Problem
from gnomon.errors.excerpt import excerpt
from gnomon.errors.root import printable

__all__ = ["report"]


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
