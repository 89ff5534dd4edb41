"""
What is measured: the areas, and the cells of each.

A cell is one workload with a name, the same for all engines. Parent and workers build the same
cells from the same settings, so only names travel between them.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["FULL", "QUICK", "Area", "Cell", "Settings", "cells_of", "tasks_label"]


class Area(StrEnum):
    """One question; every figure is nanoseconds of processor time for one event."""

    FORMULA = "formula"
    """One formula on one task: peers evaluate it alone, Gnomon all axioms."""
    TASKS = "tasks"
    """All axioms on many tasks."""
    CHECK = "check"
    """The same from JSON lines: reading, checking and judging."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How much of everything: `QUICK` for a first look, `FULL` for figures to keep."""

    rounds: int
    formula_events: int
    tasks: tuple[int, ...]
    tasks_events: int
    check_events: int


QUICK = Settings(
    rounds=3,
    formula_events=9_000,
    tasks=(10, 10_000),
    tasks_events=60_000,
    check_events=60_000,
)
FULL = Settings(
    rounds=9,
    formula_events=30_000,
    tasks=(10, 1_000, 10_000, 100_000),
    tasks_events=300_000,
    check_events=150_000,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One workload: so many events about so many tasks."""

    area: Area
    tasks: int
    events: int

    @property
    def label(self) -> str:
        return tasks_label(self.tasks)

    @property
    def name(self) -> str:
        return f"{self.area}: {self.label}"


def cells_of(settings: Settings) -> list[Cell]:
    """All cells in the order of their areas."""
    return [
        Cell(area=Area.FORMULA, tasks=1, events=settings.formula_events),
        *(Cell(area=Area.TASKS, tasks=n, events=settings.tasks_events) for n in settings.tasks),
        Cell(area=Area.CHECK, tasks=10_000, events=settings.check_events),
    ]


def tasks_label(count: int) -> str:
    return "1 task" if count == 1 else f"{count:,} tasks"
