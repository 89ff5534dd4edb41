"""
A million schedules in one call: `gnomon.batch`.

The recurrences are made and packed before the clock starts; what that costs is told beside the
figure. One pass asks about all instants of the cell, because some are dearer than others.
"""

from time import process_time

from benchmarks.harness.protocol import Answer
from benchmarks.harness.timing import Job
from benchmarks.time_core.cells import Cell
from benchmarks.time_core.corpus import POPULATION_SEED, draw_population
from gnomon.batch import NONE, Table
from gnomon.core.recurrence import cron

__all__ = ["batch_job"]


def batch_job(cell: Cell) -> Job:
    """The whole population in one table."""
    population = list(draw_population(cell.count, seed=POPULATION_SEED))
    began = process_time()
    recurrences = [cron(text, zone=zone) for text, zone in population]
    made = process_time()
    table = Table(recurrences)
    packed = process_time()

    def run() -> None:
        for instant in cell.instants:
            table.next_epochs(instant)

    def answers() -> list[Answer]:
        found = table.next_epochs(cell.instants[0])
        return [None if one == NONE else int(one) for one in found]

    return Job(
        run=run,
        operations=len(table) * len(cell.instants),
        answers=answers,
        facts={"make seconds": round(made - began, 2), "pack seconds": round(packed - made, 2)},
    )
