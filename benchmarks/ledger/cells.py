"""
What is measured: the areas, and the cells of each.

A cell is one workload with a name, the same for all engines. Parent and workers build the same
cells from the same settings, so only names travel between them.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "COLD",
    "FULL",
    "HOURLY",
    "QUICK",
    "ZONES",
    "Area",
    "Cell",
    "Settings",
    "cells_of",
    "stored_label",
    "workers_label",
]

COLD = ", definitions not in memory"
HOURLY = "0 * * * *"
ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo")
"""What is due at once is hourly, and lies in these zones in turn."""


class Area(StrEnum):
    """One question. The order is the order of measurement: what fills the disk comes last."""

    FIRE = "fire"
    """Wall-clock nanoseconds for one period, from due to finished."""
    WORKERS = "workers"
    """The same for many more periods, shared by workers that are processes of their own."""
    LATENESS = "lateness"
    """Nanoseconds from nominal to the start of the callback, the 99th percentile."""
    IDLE = "idle"
    """Nanoseconds of processor time for a look that finds nothing."""
    MEMORY = "memory"
    """Resident bytes of a worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How much of everything: `QUICK` for a first look, `FULL` for figures to keep."""

    rounds: dict[Area, int]
    seconds: float
    """How long one sample of an idle tick lasts."""
    due: int
    sizes: tuple[int, ...]
    shared: int
    """Periods that become due at once for several workers."""
    fires: int
    """Periods that run in each of the two passes before a worker's memory is read."""


QUICK = Settings(
    rounds={Area.FIRE: 4, Area.WORKERS: 2, Area.LATENESS: 2, Area.IDLE: 5, Area.MEMORY: 1},
    seconds=0.02,
    due=1_000,
    shared=10_000,
    sizes=(10_000, 100_000),
    fires=10_500,
)
FULL = Settings(
    rounds={Area.FIRE: 10, Area.WORKERS: 6, Area.LATENESS: 5, Area.IDLE: 15, Area.MEMORY: 2},
    seconds=0.05,
    due=1_000,
    shared=10_000,
    sizes=(10_000, 100_000, 1_000_000),
    fires=10_500,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One workload: so many schedules are stored, and so many periods become due."""

    area: Area
    label: str
    stored: int
    due: int = 0
    is_cold: bool = False
    """Whether the worker sees the schedules for the first time."""
    workers: int = 1

    @property
    def name(self) -> str:
        return f"{self.area}: {self.label}"


def cells_of(settings: Settings) -> list[Cell]:
    """All cells in the order of their areas."""
    return [
        *_due_cells(Area.FIRE, settings),
        *(_workers_cell(settings, count) for count in (1, 2)),
        *_due_cells(Area.LATENESS, settings),
        *_stored_cells(Area.IDLE, settings.sizes),
        *_stored_cells(Area.MEMORY, (settings.sizes[0], settings.sizes[-1]), settings.fires),
    ]


def stored_label(count: int) -> str:
    return f"{count:,} stored"


def workers_label(due: int, workers: int) -> str:
    return f"{due:,} due, {workers} worker{'s' if workers > 1 else ''}"


def _workers_cell(settings: Settings, workers: int) -> Cell:
    due = settings.shared
    label = workers_label(due, workers)
    return Cell(area=Area.WORKERS, label=label, stored=due, due=due, workers=workers)


def _due_cells(area: Area, settings: Settings) -> list[Cell]:
    label, due = f"{settings.due:,} due", settings.due
    return [
        Cell(area=area, label=label, stored=due, due=due),
        Cell(area=area, label=label + COLD, stored=due, due=due, is_cold=True),
    ]


def _stored_cells(area: Area, sizes: tuple[int, ...], due: int = 0) -> list[Cell]:
    return [Cell(area=area, label=stored_label(count), stored=count, due=due) for count in sizes]
