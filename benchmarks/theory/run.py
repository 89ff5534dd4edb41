"""One run: environments, workers, then all engines interleaved on every cell, round after round."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from benchmarks.harness.contender import Presence, start_worker
from benchmarks.harness.machine import Machine, this_machine
from benchmarks.harness.process import Worker
from benchmarks.harness.protocol import Ask, Reply
from benchmarks.harness.rounds import Measurement, measure
from benchmarks.theory.cells import FULL, QUICK, Area, cells_of
from benchmarks.theory.roster import GNOMON, ROSTER
from benchmarks.theory.targets import TARGETS, Figures, judge

__all__ = ["Result", "run"]

Progress = Callable[[str], None]

_WORKER = "benchmarks.theory.worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a run found: the cells, the engines, the machine."""

    taken_on: str
    extent: str
    machine: Machine
    presences: list[Presence]
    measurements: list[Measurement]

    @property
    def figures(self) -> Figures:
        found: dict[tuple[Area, str], dict[str, float]] = {}
        for one in self.measurements:
            area, _, label = one.cell.partition(": ")
            if one.best is not None:
                found.setdefault((Area(area), one.engine), {})[label] = one.best.ns
        return found

    def to_json(self) -> dict[str, object]:
        """Everything, with the judgements, for a program to read."""
        return {
            "benchmark": "theory",
            "taken_on": self.taken_on,
            "extent": self.extent,
            "machine": asdict(self.machine),
            "engines": [asdict(presence) for presence in self.presences],
            "targets": [asdict(judge(target, self.figures)) for target in TARGETS],
            "cells": [asdict(one) for one in self.measurements],
        }


def run(*, quick: bool, progress: Progress) -> Result:
    """Measure all cells with all engines that can be had."""
    settings, extent = (QUICK, "quick") if quick else (FULL, "full")
    machine = this_machine()
    with ExitStack() as stack:
        workers, presences = _start_all(extent, stack, progress)

        def ask(engine: str, question: Ask) -> Reply:
            return workers[engine].ask(question)

        measurements = measure(
            [cell.name for cell in cells_of(settings)],
            list(workers),
            rounds=settings.rounds,
            seconds=0.0,
            ask=ask,
            progress=lambda turn: progress(f"round {turn + 1} of {settings.rounds}"),
        )
    return Result(
        taken_on=datetime.now(UTC).date().isoformat(),
        extent=extent,
        machine=machine,
        presences=presences,
        measurements=measurements,
    )


def _start_all(
    extent: str, stack: ExitStack, progress: Progress
) -> tuple[Mapping[str, Worker], list[Presence]]:
    workers: dict[str, Worker] = {}
    presences: list[Presence] = []
    for contender in ROSTER:
        started = start_worker(contender, _WORKER, extent, progress=progress)
        if isinstance(started, Worker):
            workers[contender.name] = stack.enter_context(started)
            presences.append(Presence(name=contender.name, versions=started.greeting.versions))
        elif contender is GNOMON:
            raise SystemExit(f"gnomon itself does not start: {started}")
        else:
            progress(f"{contender.name} is left out: {started}")
            presences.append(Presence(name=contender.name, versions={}, missing=started))
    return workers, presences
