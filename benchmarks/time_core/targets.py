"""
What was promised about speed, and whether a run keeps it.

A target is about a ratio, or about nanoseconds per result; `must` is the promise, `aim` what is
hoped for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.harness.ratio import compare
from benchmarks.harness.verdict import Verdict, verdict_of
from benchmarks.time_core.cells import Area, Decision
from benchmarks.time_core.roster import GNOMON

__all__ = ["TARGETS", "Judgement", "Measure", "Target", "Times", "judge"]

Times = Mapping[tuple[Area, str], Mapping[str, float]]
"""Nanoseconds by cell label, for each area and engine."""


class Measure(StrEnum):
    TIMES_FASTER = "x faster"
    NANOSECONDS = "ns each"
    HASHES = "x one sha256"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`peer` is whom a ratio is to, `cell` what nanoseconds are of; each measure needs its own."""

    title: str
    area: Area
    measure: Measure
    must: float
    aim: float
    peer: str = ""
    cell: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    target: Target
    value: float | None
    verdict: Verdict


TARGETS = (
    Target(
        title="next, integers, to cronsim",
        area=Area.NEXT,
        measure=Measure.TIMES_FASTER,
        peer="cronsim",
        must=25,
        aim=60,
    ),
    Target(
        title="next, integers, to croniter",
        area=Area.NEXT,
        measure=Measure.TIMES_FASTER,
        peer="croniter",
        must=90,
        aim=250,
    ),
    Target(
        title="next, integers, to croniter-rs in float mode",
        area=Area.NEXT,
        measure=Measure.TIMES_FASTER,
        peer="croniter-rs-float",
        must=2.5,
        aim=2.5,
    ),
    Target(
        title="iterate 1000, to cronsim",
        area=Area.ITERATE,
        measure=Measure.TIMES_FASTER,
        peer="cronsim",
        must=80,
        aim=100,
    ),
    Target(
        title="parse without cache, to cronsim",
        area=Area.PARSE,
        measure=Measure.TIMES_FASTER,
        peer="cronsim",
        must=4,
        aim=6,
    ),
    Target(
        title="batch of a million mixed schedules",
        area=Area.BATCH,
        measure=Measure.NANOSECONDS,
        cell="1,000,000 mixed",
        must=35,
        aim=25,
    ),
    Target(
        title="decision, integer path",
        area=Area.DECIDE,
        measure=Measure.HASHES,
        must=4.5,
        aim=4.5,
    ),
)


def judge(target: Target, times: Times) -> Judgement:
    """The value that a run gives for a target, and what it amounts to."""
    value = _value(target, times)
    verdict = verdict_of(
        value,
        must=target.must,
        aim=target.aim,
        more_is_better=target.measure is Measure.TIMES_FASTER,
    )
    return Judgement(target=target, value=value, verdict=verdict)


def _value(target: Target, times: Times) -> float | None:
    subject = times.get((target.area, GNOMON.name), {})
    match target.measure:
        case Measure.TIMES_FASTER:
            comparison = compare(subject, times.get((target.area, target.peer), {}))
            return None if comparison is None else comparison.ratio
        case Measure.NANOSECONDS:
            return subject.get(target.cell)
        case Measure.HASHES:
            floor, path = subject.get(Decision.HASH), subject.get(Decision.INTEGER)
            return None if floor is None or path is None else path / floor
