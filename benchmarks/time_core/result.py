"""What a run found: the cells, the engines, the machine; and its form as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.harness.contender import Presence
from benchmarks.harness.machine import Machine
from benchmarks.harness.rounds import Measurement
from benchmarks.time_core.cells import Area, Settings
from benchmarks.time_core.targets import TARGETS, Times, judge

__all__ = ["Agreement", "Result", "count_agreements", "times_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How many of an engine's answers on the cells of `next` are Gnomon's."""

    engine: str
    utc_same: int = 0
    utc_all: int = 0
    zoned_same: int = 0
    zoned_all: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    taken_on: str
    extent: str
    settings: Settings
    machine: Machine
    presences: list[Presence]
    agreements: list[Agreement]
    measurements: dict[Area, list[Measurement]]

    @property
    def times(self) -> Times:
        return times_of(self.measurements)

    def to_json(self) -> dict[str, object]:
        """Everything, with the judgements, for a program to read."""
        times = self.times
        return {
            "benchmark": "time_core",
            "taken_on": self.taken_on,
            "extent": self.extent,
            "settings": asdict(self.settings),
            "machine": asdict(self.machine),
            "engines": [asdict(presence) for presence in self.presences],
            "agreement_with_gnomon": [asdict(agreement) for agreement in self.agreements],
            "targets": [asdict(judge(target, times)) for target in TARGETS],
            "cells": [
                {"area": area, **_cell_json(measurement)}
                for area, measurements in self.measurements.items()
                for measurement in measurements
            ],
        }


def times_of(measurements: dict[Area, list[Measurement]]) -> Times:
    """Nanoseconds by area and engine, then by the cell's label."""
    times: dict[tuple[Area, str], dict[str, float]] = {}
    for area, several in measurements.items():
        for one in several:
            if one.best is not None:
                label = one.cell.removeprefix(f"{area}: ")
                times.setdefault((area, one.engine), {})[label] = one.best.ns
    return times


def _cell_json(measurement: Measurement) -> dict[str, object]:
    cell: dict[str, object] = {"cell": measurement.cell, "engine": measurement.engine}
    if measurement.best is None:
        return cell | {"missing": measurement.missing}
    best = measurement.best
    timed = {"ns": round(best.ns, 2), "operations": best.operations, "rounds": measurement.rounds}
    return cell | timed | ({"facts": best.facts} if best.facts else {})


def count_agreements(engine: str, pairs: Sequence[tuple[str, bool]]) -> Agreement:
    """From (zone, same) for every answer."""
    utc = [same for zone, same in pairs if zone == "UTC"]
    zoned = [same for zone, same in pairs if zone != "UTC"]
    return Agreement(
        engine=engine,
        utc_same=sum(utc),
        utc_all=len(utc),
        zoned_same=sum(zoned),
        zoned_all=len(zoned),
    )
