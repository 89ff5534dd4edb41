"""
One run: environments, workers, populations, then area after area.

Within an area all engines are interleaved on every cell, round after round. Memory is the
exception: each of its figures comes from a process of its own, which did nothing else.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.contender import ROOT, Contender, Presence, start_worker
from benchmarks.harness.machine import this_machine
from benchmarks.harness.process import Worker
from benchmarks.harness.protocol import Ask, Failed, Reply, Timed
from benchmarks.harness.rounds import Measurement, measure
from benchmarks.ledger.cells import FULL, QUICK, Area, Cell, Settings, cells_of
from benchmarks.ledger.result import Result, over_rounds
from benchmarks.ledger.roster import GNOMON
from tests.postgres.server import find_binaries

__all__ = ["run"]

Progress = Callable[[str], None]

_WORKER = "benchmarks.ledger.worker"
_POPULATION = "benchmarks.ledger.population"


def run(
    *, quick: bool, areas: Sequence[Area], contenders: Sequence[Contender], progress: Progress
) -> Result:
    """Measure the areas with those engines that can be had, on files that are then removed."""
    settings, extent = (QUICK, "quick") if quick else (FULL, "full")
    machine = this_machine()
    # The environments of the peers have no PostgreSQL of their own.
    os.environ.setdefault("GNOMON_POSTGRES_BIN", str(find_binaries()))
    home = ROOT / ".bench"
    home.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="ledger-", dir=home) as name, ExitStack() as stack:
        workers, presences = _start_all(contenders, extent, name, stack, progress)
        cells = [cell for cell in cells_of(settings) if cell.area in areas]
        _populate(cells, Path(name), progress)

        def ask(engine: str, question: Ask) -> Reply:
            if question.cell.startswith(f"{Area.MEMORY}: "):
                return _ask_afresh(extent, name, question, progress)
            return workers[engine].ask(question)

        return Result(
            taken_on=datetime.now(UTC).date().isoformat(),
            extent=extent,
            settings=settings,
            machine=machine,
            presences=presences,
            measurements={
                area: _measure_area(area, list(workers), cells, settings, ask, progress)
                for area in areas
            },
        )


def _start_all(
    contenders: Sequence[Contender],
    extent: str,
    directory: str,
    stack: ExitStack,
    progress: Progress,
) -> tuple[Mapping[str, Worker], list[Presence]]:
    workers: dict[str, Worker] = {}
    presences: list[Presence] = []
    for contender in contenders:
        started = start_worker(contender, _WORKER, extent, directory, progress=progress)
        if isinstance(started, Worker):
            workers[contender.name] = stack.enter_context(started)
            presences.append(Presence(name=contender.name, versions=started.greeting.versions))
        elif contender is GNOMON:
            raise SystemExit(f"gnomon itself does not start: {started}")
        else:
            progress(f"{contender.name} is left out: {started}")
            presences.append(Presence(name=contender.name, versions={}, missing=started))
    return workers, presences


def _populate(cells: Sequence[Cell], directory: Path, progress: Progress) -> None:
    """Make the files that Gnomon opens in the areas with many schedules."""
    wanted = {cell.stored for cell in cells if cell.area in (Area.IDLE, Area.MEMORY)}
    for count in sorted(wanted):
        progress(f"storing {count:,} schedules")
        path = directory / f"population-{count}.db"
        command = [sys.executable, "-m", _POPULATION, str(count), str(path)]
        subprocess.run(command, cwd=ROOT, check=True)


def _ask_afresh(extent: str, directory: str, question: Ask, progress: Progress) -> Reply:
    started = start_worker(GNOMON, _WORKER, extent, directory, progress=progress)
    if not isinstance(started, Worker):
        return Failed(reason=started)
    with started as worker:
        return worker.ask(question)


def _measure_area(
    area: Area,
    engines: Sequence[str],
    cells: Sequence[Cell],
    settings: Settings,
    ask: Callable[[str, Ask], Reply],
    progress: Progress,
) -> list[Measurement]:
    rounds = settings.rounds[area]
    samples: dict[tuple[str, str], list[Timed]] = {}

    def ask_and_keep(engine: str, question: Ask) -> Reply:
        reply = ask(engine, question)
        if isinstance(reply, Timed):
            samples.setdefault((question.cell, engine), []).append(reply)
        return reply

    def tell(turn: int) -> None:
        progress(f"{area}: round {turn + 1} of {rounds}")

    measured = measure(
        [cell.name for cell in cells if cell.area is area],
        [GNOMON.name] if area is Area.MEMORY else engines,
        rounds=rounds,
        seconds=settings.seconds if area is Area.IDLE else 0.0,
        ask=ask_and_keep,
        progress=tell,
    )
    return [over_rounds(one, samples.get((one.cell, one.engine), [])) for one in measured]
