"""
One run: environments, workers, the comparison of answers, then area after area.

Areas follow each other, so that the million schedules of the last one disturb no other; within an
area all engines are interleaved on every cell, round after round.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

from benchmarks.harness.contender import Presence, start_worker
from benchmarks.harness.machine import this_machine
from benchmarks.harness.process import Worker
from benchmarks.harness.protocol import Answer, Answers, Ask, Reply, Wish
from benchmarks.harness.rounds import Measurement, measure
from benchmarks.time_core.cells import FULL, QUICK, Area, Cell, Settings, cells_of
from benchmarks.time_core.result import Agreement, Result, count_agreements
from benchmarks.time_core.roster import GNOMON, ROSTER

__all__ = ["run"]

Progress = Callable[[str], None]

_WORKER = "benchmarks.time_core.worker"


def run(*, quick: bool, areas: Sequence[Area], progress: Progress) -> Result:
    """Measure the given areas with all engines that can be had."""
    settings = QUICK if quick else FULL
    extent = "quick" if quick else "full"
    cells = [cell for cell in cells_of(settings) if cell.area in areas]
    machine = this_machine()
    with ExitStack() as stack:
        workers: dict[str, Worker] = {}
        presences: list[Presence] = []
        for contender in ROSTER:
            started = start_worker(contender, _WORKER, extent, progress=progress)
            if isinstance(started, Worker):
                workers[contender.name] = stack.enter_context(started)
                versions = started.greeting.versions
                presences.append(Presence(name=contender.name, versions=versions))
            elif contender is GNOMON:
                raise SystemExit(f"gnomon itself does not start: {started}")
            else:
                progress(f"{contender.name} is left out: {started}")
                presences.append(Presence(name=contender.name, versions={}, missing=started))
        return Result(
            taken_on=datetime.now(UTC).date().isoformat(),
            extent=extent,
            settings=settings,
            machine=machine,
            presences=presences,
            agreements=_agreements(workers, cells, progress),
            measurements={
                area: _measure_area(area, workers, cells, settings, progress) for area in areas
            },
        )


def _measure_area(
    area: Area,
    workers: Mapping[str, Worker],
    cells: Iterable[Cell],
    settings: Settings,
    progress: Progress,
) -> list[Measurement]:
    def ask(engine: str, question: Ask) -> Reply:
        return workers[engine].ask(question)

    def tell(turn: int) -> None:
        progress(f"{area}: round {turn + 1} of {settings.rounds}")

    names = [cell.name for cell in cells if cell.area is area]
    return measure(
        names,
        list(workers),
        rounds=settings.rounds,
        seconds=settings.seconds,
        ask=ask,
        progress=tell,
    )


def _agreements(
    workers: Mapping[str, Worker], cells: Iterable[Cell], progress: Progress
) -> list[Agreement]:
    """What every engine answers on the cells of `next`, beside what Gnomon answers."""
    compared = [cell for cell in cells if cell.area is Area.NEXT]
    if GNOMON.name not in workers or not compared:
        return []
    progress("comparing answers")
    standard = {cell.name: _answers(workers[GNOMON.name], cell) for cell in compared}
    return [
        count_agreements(
            engine,
            [
                (cell.schedules[0][1], mine == theirs)
                for cell in compared
                for mine, theirs in zip(standard[cell.name], _answers(worker, cell), strict=False)
            ],
        )
        for engine, worker in workers.items()
        if engine != GNOMON.name
    ]


def _answers(worker: Worker, cell: Cell) -> list[Answer]:
    reply = worker.ask(Ask(wish=Wish.ANSWERS, cell=cell.name))
    return reply.values if isinstance(reply, Answers) else []
