"""
What is timed: the areas, and the cells of each.

A cell is one workload with a name, the same for all engines. Parent and workers build the same
cells from the same settings, so only names travel between them.
"""

from dataclasses import dataclass
from enum import StrEnum

from benchmarks.time_core.corpus import (
    DENSE,
    SPARSE,
    TYPICAL,
    ZONES,
    Schedule,
    draw_instants,
    draw_texts,
)

__all__ = ["FULL", "QUICK", "Area", "Cell", "Decision", "Settings", "cells_of"]


class Area(StrEnum):
    """One question about cost. The order is the order of measurement: the million comes last."""

    PARSE = "parse"
    FIRST = "first"
    NEXT = "next"
    DISTINCT = "distinct"
    LATEST = "latest"
    ITERATE = "iterate"
    SPARSE = "sparse"
    DECIDE = "decide"
    BATCH = "batch"


class Decision(StrEnum):
    """The cells of `decide`: the floor, the integer path, the record, and all of it from texts."""

    HASH = "one sha256"
    INTEGER = "integer path"
    INTEGER_AVOIDING = "integer path, avoiding three times of day"
    RECORD = "Decider.decide(), with its record"
    WHOLE = "decide() from texts"
    WHOLE_AVOIDING = "decide() from texts, avoiding three times of day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How much of everything: `QUICK` for a first look, `FULL` for figures to keep."""

    rounds: int
    seconds: float
    zones: tuple[str, ...]
    instants: int
    texts: int
    fresh_texts: int
    population: int
    sample: int


QUICK = Settings(
    rounds=4,
    seconds=0.006,
    zones=ZONES[:2],
    instants=64,
    texts=100,
    fresh_texts=5_000,
    population=100_000,
    sample=100,
)
FULL = Settings(
    rounds=7,
    seconds=0.015,
    zones=ZONES,
    instants=128,
    texts=300,
    fresh_texts=20_000,
    population=1_000_000,
    sample=300,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One workload: schedules, the instants asked about, and how many occurrences are wanted."""

    area: Area
    label: str
    schedules: tuple[Schedule, ...] = ()
    instants: tuple[int, ...] = ()
    count: int = 1

    @property
    def name(self) -> str:
        return f"{self.area}: {self.label}"


def cells_of(settings: Settings) -> list[Cell]:
    """All cells in the order of their areas."""
    return [
        *_parse_cells(settings),
        *_first_cells(settings),
        *_each(Area.NEXT, TYPICAL, settings, instants=draw_instants(settings.instants, seed=12)),
        *_distinct_cells(settings),
        *_each(Area.LATEST, TYPICAL, settings, instants=draw_instants(settings.instants, seed=14)),
        *_each(Area.ITERATE, DENSE, settings, instants=draw_instants(1, seed=15), count=1000),
        *_each(Area.SPARSE, SPARSE, settings, instants=draw_instants(1, seed=16), count=15),
        *(Cell(area=Area.DECIDE, label=decision.value) for decision in Decision),
        _batch_cell(settings),
    ]


def _parse_cells(settings: Settings) -> list[Cell]:
    """Each typical expression by itself, and random ones together, as each is seen once."""
    typical = [Cell(area=Area.PARSE, label=text, schedules=((text, "UTC"),)) for text in TYPICAL]
    texts = draw_texts(settings.texts, seed=10)
    drawn = tuple((text, "UTC") for text in texts)
    return [*typical, Cell(area=Area.PARSE, label=f"{len(texts)} random", schedules=drawn)]


def _each(
    area: Area,
    texts: tuple[str, ...],
    settings: Settings,
    *,
    instants: list[int],
    count: int = 1,
) -> list[Cell]:
    """A cell for every expression in every zone."""
    return [
        Cell(
            area=area,
            label=f"{text} {zone}",
            schedules=((text, zone),),
            instants=tuple(instants),
            count=count,
        )
        for text in texts
        for zone in settings.zones
    ]


def _first_cells(settings: Settings) -> list[Cell]:
    """So many expressions that none comes twice while anything could be remembered of it."""
    texts = draw_texts(settings.fresh_texts, seed=11)
    instants = tuple(draw_instants(len(texts), seed=11))
    return [
        Cell(
            area=Area.FIRST,
            label=f"ever new {zone}",
            schedules=tuple((text, zone) for text in texts),
            instants=instants,
            count=settings.texts,
        )
        for zone in settings.zones
    ]


def _distinct_cells(settings: Settings) -> list[Cell]:
    """Many schedules, each asked once per pass, so that nothing stays warm for long."""
    texts = draw_texts(settings.texts, seed=13)
    instants = tuple(draw_instants(len(texts), seed=13))
    return [
        Cell(
            area=Area.DISTINCT,
            label=f"{len(texts)} random {zone}",
            schedules=tuple((text, zone) for text in texts),
            instants=instants,
        )
        for zone in settings.zones
    ]


def _batch_cell(settings: Settings) -> Cell:
    """`count` schedules for an engine with a batch; a sample of them for one without."""
    return Cell(
        area=Area.BATCH,
        label=f"{settings.population:,} mixed",
        instants=tuple(draw_instants(8, seed=17)),
        count=settings.population,
    )
