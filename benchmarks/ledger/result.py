"""What a run found: the cells, the engines, the machine; and its form as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from benchmarks.harness.contender import Presence
from benchmarks.harness.machine import Machine
from benchmarks.harness.protocol import Timed
from benchmarks.harness.rounds import Measurement
from benchmarks.ledger.cells import Area, Settings
from benchmarks.ledger.targets import TARGETS, Figures, judge

__all__ = ["Result", "label_of", "over_rounds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    taken_on: str
    extent: str
    settings: Settings
    machine: Machine
    presences: list[Presence]
    measurements: dict[Area, list[Measurement]]

    @property
    def figures(self) -> Figures:
        found: dict[tuple[Area, str], dict[str, float]] = {}
        for area, several in self.measurements.items():
            for one in several:
                if one.best is not None:
                    found.setdefault((area, one.engine), {})[label_of(area, one)] = one.best.ns
        return found

    def facts(self, area: Area, engine: str) -> dict[str, dict[str, float]]:
        """What was measured beside the figures, by the cell's label."""
        return {
            label_of(area, one): one.best.facts
            for one in self.measurements.get(area, [])
            if one.engine == engine and one.best is not None
        }

    def to_json(self) -> dict[str, object]:
        """Everything, with the judgements, for a program to read."""
        figures = self.figures
        return {
            "benchmark": "ledger",
            "taken_on": self.taken_on,
            "extent": self.extent,
            "settings": asdict(self.settings),
            "machine": asdict(self.machine),
            "engines": [asdict(presence) for presence in self.presences],
            "targets": [asdict(judge(target, figures)) for target in TARGETS],
            "cells": [
                {"area": area, **_cell_json(measurement)}
                for area, measurements in self.measurements.items()
                for measurement in measurements
            ],
        }


def over_rounds(measurement: Measurement, samples: Sequence[Timed]) -> Measurement:
    """
    The best round of a cell, with what must not be taken from that round alone.

    The least processor time may be another round's, and a tail is told by its worst round too.
    """
    best = measurement.best
    if best is None:
        return measurement
    facts = dict(best.facts)
    if "processor us" in facts:
        facts["processor us"] = min(sample.facts["processor us"] for sample in samples)
    if "p99 ms" in facts:
        facts["worst p99 ms"] = max(sample.facts["p99 ms"] for sample in samples)
        facts["dropped"] = sum(sample.facts["dropped"] for sample in samples)
    return replace(measurement, best=replace(best, facts=facts))


def label_of(area: Area, measurement: Measurement) -> str:
    return measurement.cell.removeprefix(f"{area}: ")


def _cell_json(measurement: Measurement) -> dict[str, object]:
    cell: dict[str, object] = {"cell": measurement.cell, "engine": measurement.engine}
    best = measurement.best
    if best is None:
        return cell | {"missing": measurement.missing}
    return cell | {"figure": round(best.ns, 2), "rounds": measurement.rounds, "facts": best.facts}
