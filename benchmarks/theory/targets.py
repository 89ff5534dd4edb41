"""What was promised about the speed of the monitor, and whether a run keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.harness.verdict import Verdict, verdict_of
from benchmarks.theory.cells import Area, tasks_label
from benchmarks.theory.roster import GNOMON

__all__ = ["TARGETS", "Figures", "Judgement", "Target", "judge"]

Figures = Mapping[tuple[Area, str], Mapping[str, float]]
"""Nanoseconds for an event by the cell's label, for each area and engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Events a second; `must` is the promise, `aim` what is hoped for."""

    title: str
    area: Area
    cell: str
    must: float
    aim: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    target: Target
    value: float | None
    verdict: Verdict


TARGETS = (
    Target(
        title="all axioms, 10,000 tasks, in process",
        area=Area.TASKS,
        cell=tasks_label(10_000),
        must=1_000_000,
        aim=2_000_000,
    ),
    Target(
        title="all axioms, 10,000 tasks, from JSON lines",
        area=Area.CHECK,
        cell=tasks_label(10_000),
        must=150_000,
        aim=250_000,
    ),
)


def judge(target: Target, figures: Figures) -> Judgement:
    """The value that a run gives for a target, and what it amounts to."""
    ns = figures.get((target.area, GNOMON.name), {}).get(target.cell)
    value = None if ns is None else 1e9 / ns
    verdict = verdict_of(value, must=target.must, aim=target.aim, more_is_better=True)
    return Judgement(target=target, value=value, verdict=verdict)
