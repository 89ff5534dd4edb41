"""
What is written down of a world while it happens, and what is found wrong with it: plain data.

Worlds fill it in and judges read it, so it holds no type of what is judged.

Spec: SIM-3.
"""

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import NamedTuple

__all__ = ["BriefNotes", "Complaint", "Notes"]

_LINES_KEPT = 1_000


class Complaint(NamedTuple):
    """A promise that was broken."""

    code: str
    about: str
    """The schedule or the task, where it is about one."""
    text: str

    def __str__(self) -> str:
        return f"{self.code}: {self.about} {self.text}"


@dataclass(slots=True)
class Notes:
    """What is written down in every world, whatever lives in it."""

    is_disturbed: bool = False
    """Whether anything went wrong from outside."""
    surprises: list[str] = field(default_factory=list)
    """Exceptions that no process should have let out."""
    counters: Counter[str] = field(default_factory=Counter)
    """How often each kind of fault and of recovery was met."""
    lines: list[str] = field(default_factory=list)
    """The log of the world; equal seeds give equal logs."""

    def log(self, at: int, who: str, what: str) -> None:
        self.add(f"{at} {who or '-'} {what}")

    def add(self, line: str) -> None:
        self.lines.append(line)

    def hit(self, name: str) -> None:
        self.counters[name] += 1

    def digest(self) -> str:
        return sha256("\n".join(self.lines).encode()).hexdigest()

    def everything(self) -> list[str]:
        """Everything that happened, for a person."""
        return self.lines


class BriefNotes(Notes):
    """Notes of a world that goes on for years: the log is kept as its digest only."""

    def __init__(self) -> None:
        super().__init__()
        self._hash = sha256()

    def add(self, line: str) -> None:
        self.lines.append(line)
        if len(self.lines) == _LINES_KEPT:
            self._hash.update("\n".join(self.lines).encode())
            self.lines.clear()

    def digest(self) -> str:
        self._hash.update("\n".join(self.lines).encode())
        self.lines.clear()
        return self._hash.hexdigest()
