"""
The pictures of the four lives, drawn from their tables of steps.

`python -m tests.tidy.states` writes them into the pages; a test beside each table compares them.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.declarative import task
from gnomon.apps.workflow import phase
from gnomon.core.ledger import lifecycle
from gnomon.shell.worker import held_run
from tests.tidy.markdown import blocks
from tests.tidy.tree import ROOT

__all__ = ["LIVES", "Life", "shown"]

_DOCS = ROOT / "docs"


class Life(NamedTuple):
    """One table of steps, and where its picture stands."""

    page: Path
    place: int
    """Which of the pictures of the page it is."""
    steps: Mapping[tuple[StrEnum, StrEnum], StrEnum]
    begins: Sequence[str]
    ends: str = ""

    def drawn(self) -> str:
        """The picture; several events between two states share an arrow."""
        arrows: dict[tuple[StrEnum, StrEnum], list[str]] = {}
        for (before, event), after in self.steps.items():
            arrows.setdefault((before, after), []).append(event.value)
        lines = [f"[*] --> {begin}" for begin in self.begins]
        lines += [f"{before} --> {to}: {', '.join(some)}" for (before, to), some in arrows.items()]
        lines += [f"{self.ends} --> [*]"] if self.ends else []
        return "\n    ".join(["stateDiagram-v2", *lines])


LIVES = {
    "period": Life(
        _DOCS / "explanation" / "life-of-a-period.md", 0, lifecycle.STEPS,  # type: ignore[arg-type]
        ["planned: open"], "done",
    ),
    "held run": Life(
        _DOCS / "explanation" / "life-of-a-period.md", 1, held_run.STEPS,  # type: ignore[arg-type]
        ["ready", "blocked", "running: adopted"], "gone",
    ),
    "task": Life(
        _DOCS / "reference" / "scheduler.md", 0, task.STEPS,  # type: ignore[arg-type]
        ["AwaitingRun: initialize"],
    ),
    "run of a workflow": Life(
        _DOCS / "explanation" / "workflows.md", 0, phase.STEPS,  # type: ignore[arg-type]
        ["preparing"], "committed",
    ),
}  # fmt: skip


def shown(life: Life) -> str:
    """The picture that the page has."""
    pictures = [block.text for block in blocks(life.page) if block.language == "mermaid"]
    return pictures[life.place].strip()


def _write(life: Life) -> None:
    text = life.page.read_text(encoding="utf-8")
    found = list(re.finditer(r"```mermaid\n(.*?)\n```", text, re.DOTALL))[life.place]
    text = f"{text[: found.start(1)]}{life.drawn()}{text[found.end(1) :]}"
    life.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for one in LIVES.values():
        _write(one)
        sys.stdout.write(f"written: {one.page.relative_to(ROOT)}\n")
