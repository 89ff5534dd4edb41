"""
What was promised about speed, lateness and memory, and whether a run keeps it.

A share and a ratio are of rates on the wall clock; growth is of bytes. `must` is the promise, `aim`
what is hoped for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.harness.verdict import Verdict, verdict_of
from benchmarks.ledger.cells import FULL, Area, stored_label, workers_label
from benchmarks.ledger.roster import (
    APSCHEDULER,
    APSCHEDULER_INTERVAL,
    APSCHEDULER_POSTGRES,
    APSCHEDULER_POSTGRES_INTERVAL,
    GNOMON,
    GNOMON_POSTGRES,
    PGQUEUER,
    PGQUEUER_500,
    PROCRASTINATE,
    RAW,
    RAW_POSTGRES,
)

__all__ = ["TARGETS", "Figures", "Judgement", "Measure", "Target", "judge"]

Figures = Mapping[tuple[Area, str], Mapping[str, float]]
"""The figure of each cell by its label, for each area and engine; what it counts is the area's."""

_DUE = f"{FULL.due:,} due"
_LEAST, _MOST = stored_label(FULL.sizes[0]), stored_label(FULL.sizes[-1])


class Measure(StrEnum):
    RATE = "x its rate"
    MILLISECONDS = "ms"
    GROWTH = "x the time"
    MEGABYTES = "MB more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    `engine` is who is judged, `peer` whom a rate is compared to, `cell` what is judged, `to` what
    growth starts at, or the cell of the peer where it is another.
    """

    title: str
    area: Area
    measure: Measure
    must: float
    aim: float
    cell: str
    engine: str = GNOMON.name
    peer: str = ""
    to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    target: Target
    value: float | None
    verdict: Verdict


TARGETS = (
    Target(
        title="full fire, to the bare statements",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        peer=RAW.name,
        must=0.15,
        aim=0.30,
    ),
    Target(
        title="full fire, to APScheduler 3",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        peer=APSCHEDULER.name,
        must=40,
        aim=80,
    ),
    Target(
        title="full fire, to APScheduler 3 on intervals",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        peer=APSCHEDULER_INTERVAL.name,
        must=40,
        aim=80,
    ),
    Target(
        title="lateness, p99 of 1,000 due at one second",
        area=Area.LATENESS,
        measure=Measure.MILLISECONDS,
        cell=_DUE,
        must=40,
        aim=40,
    ),
    Target(
        title="idle tick, a million to 10,000 schedules",
        area=Area.IDLE,
        measure=Measure.GROWTH,
        cell=_MOST,
        to=_LEAST,
        must=1.3,
        aim=1.3,
    ),
    Target(
        title="resident memory, a million to 10,000 schedules",
        area=Area.MEMORY,
        measure=Measure.MEGABYTES,
        cell=_MOST,
        to=_LEAST,
        must=32,
        aim=32,
    ),
    Target(
        title="PostgreSQL: full fire, to the bare statements",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        peer=RAW_POSTGRES.name,
        must=0.40,
        aim=0.60,
    ),
    Target(
        title="PostgreSQL: full fire, to APScheduler 3",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        peer=APSCHEDULER_POSTGRES.name,
        must=18,
        aim=18,
    ),
    Target(
        title="PostgreSQL: full fire, to APScheduler 3 on intervals",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        peer=APSCHEDULER_POSTGRES_INTERVAL.name,
        must=18,
        aim=18,
    ),
    Target(
        title="PostgreSQL: full fire, to Procrastinate",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        peer=PROCRASTINATE.name,
        must=30,
        aim=30,
    ),
    Target(
        title="PostgreSQL: full fire, to PgQueuer's dequeue and log",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        peer=PGQUEUER.name,
        must=1,
        aim=1.1,
    ),
    Target(
        title="PostgreSQL: full fire, to PgQueuer's dequeue and log by 500",
        area=Area.FIRE,
        measure=Measure.RATE,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        peer=PGQUEUER_500.name,
        must=1,
        aim=1.1,
    ),
    Target(
        title="PostgreSQL: two workers, to one",
        area=Area.WORKERS,
        measure=Measure.RATE,
        cell=workers_label(FULL.shared, 2),
        engine=GNOMON_POSTGRES.name,
        peer=GNOMON_POSTGRES.name,
        to=workers_label(FULL.shared, 1),
        must=1,
        aim=1.6,
    ),
    Target(
        title="PostgreSQL: lateness, p99 of 1,000 due at one second",
        area=Area.LATENESS,
        measure=Measure.MILLISECONDS,
        cell=_DUE,
        engine=GNOMON_POSTGRES.name,
        must=250,
        aim=120,
    ),
    Target(
        title="PostgreSQL: idle tick, a million to 10,000 schedules",
        area=Area.IDLE,
        measure=Measure.GROWTH,
        cell=_MOST,
        engine=GNOMON_POSTGRES.name,
        to=_LEAST,
        must=1.3,
        aim=1.3,
    ),
)


def judge(target: Target, figures: Figures) -> Judgement:
    """The value that a run gives for a target, and what it amounts to."""
    value = _value(target, figures)
    more_is_better = target.measure is Measure.RATE
    verdict = verdict_of(value, must=target.must, aim=target.aim, more_is_better=more_is_better)
    return Judgement(target=target, value=value, verdict=verdict)


def _value(target: Target, figures: Figures) -> float | None:
    cells = figures.get((target.area, target.engine), {})
    found, start = cells.get(target.cell), cells.get(target.to)
    if found is None:
        return None
    match target.measure:
        case Measure.RATE:
            other = figures.get((target.area, target.peer), {}).get(target.to or target.cell)
            return None if other is None else other / found
        case Measure.MILLISECONDS:
            return found / 1e6
        case Measure.GROWTH:
            return None if start is None else found / start
        case Measure.MEGABYTES:
            return None if start is None else (found - start) / 1e6
