"""
A cell on an engine, made ready to run: the loops that are timed.

All engines go through the same loops. An engine is not timed on a schedule it reads differently by
design.
"""

from collections.abc import Callable
from itertools import cycle, islice
from typing import TypeVar, assert_never

from benchmarks.harness.protocol import Answer
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.time_core.cells import Area, Cell, Settings
from benchmarks.time_core.corpus import POPULATION_SEED, draw_population, restricts_both_days
from benchmarks.time_core.engine import Engine

__all__ = ["prepare"]

InstantT = TypeVar("InstantT")
FoundT = TypeVar("FoundT")


def prepare(engine: Engine[InstantT, FoundT], cell: Cell, settings: Settings) -> Job:
    """Everything up to the first timed operation."""
    _refuse_other_meanings(engine, cell)
    match cell.area:
        case Area.PARSE:
            return _parse_job(engine, cell)
        case Area.FIRST:
            return _first_job(engine, cell)
        case Area.NEXT | Area.DISTINCT:
            return _search_job(engine, cell, engine.next_of)
        case Area.LATEST:
            return _search_job(engine, cell, engine.latest_of)
        case Area.ITERATE | Area.SPARSE:
            return _iterate_job(engine, cell)
        case Area.BATCH:
            return engine.batch_job(cell) or _sample_job(engine, cell, settings)
        case Area.DECIDE:
            return engine.decide_job(cell)
        case _:
            assert_never(cell.area)


def _refuse_other_meanings(engine: Engine[InstantT, FoundT], cell: Cell) -> None:
    if engine.reads_both_days_as_or or cell.area is Area.PARSE:
        return
    if any(restricts_both_days(text) for text, _ in cell.schedules):
        raise Unsupported("it joins the two day fields by 'and', which is another question")


def _parse_job(engine: Engine[InstantT, FoundT], cell: Cell) -> Job:
    texts = [engine.spell(text) for text, _ in cell.schedules]
    parse = engine.parse

    def run() -> None:
        for text in texts:
            parse(text)

    return Job(run=run, operations=len(texts), answers=list)


def _first_job(engine: Engine[InstantT, FoundT], cell: Cell) -> Job:
    """From text to one occurrence, another text each time: asked once and forgotten."""
    questions: list[tuple[str, str, InstantT]] = []
    for (given, zone), epoch in zip(cell.schedules, cell.instants, strict=True):
        text = engine.spell(given)
        questions.append((text, zone, engine.instant(text, zone, epoch)))
    first = engine.first
    endless = cycle(questions)

    def run() -> None:
        for text, zone, instant in islice(endless, cell.count):
            first(text, zone, instant)

    def answers() -> list[Answer]:
        some = questions[: cell.count]
        return [engine.epoch(zone, first(text, zone, instant)) for text, zone, instant in some]

    return Job(run=run, operations=cell.count, answers=answers)


def _search_job(
    engine: Engine[InstantT, FoundT],
    cell: Cell,
    search_of: Callable[[str, str], Callable[[InstantT], FoundT]],
) -> Job:
    """One schedule at every instant, or each schedule at its own."""
    questions: list[tuple[Callable[[InstantT], FoundT], InstantT]] = []
    zones: list[str] = []
    schedules = [(engine.spell(text), zone) for text, zone in cell.schedules]
    searches = [search_of(text, zone) for text, zone in schedules]
    for index, epoch in enumerate(cell.instants):
        text, zone = schedules[index % len(schedules)]
        questions.append((searches[index % len(schedules)], engine.instant(text, zone, epoch)))
        zones.append(zone)

    def run() -> None:
        for search, instant in questions:
            search(instant)

    def answers() -> list[Answer]:
        found = [search(instant) for search, instant in questions]
        return [engine.epoch(zone, one) for zone, one in zip(zones, found, strict=True)]

    return Job(run=run, operations=len(questions), answers=answers)


def _iterate_job(engine: Engine[InstantT, FoundT], cell: Cell) -> Job:
    (given, zone), *_ = cell.schedules
    text = engine.spell(given)
    after = engine.instant(text, zone, cell.instants[0])
    iterate, count = engine.iterate, cell.count

    def run() -> None:
        iterate(text, zone, after, count)

    def answers() -> list[Answer]:
        return [engine.epoch(zone, one) for one in iterate(text, zone, after, count)]

    return Job(run=run, operations=count, answers=answers)


def _sample_job(engine: Engine[InstantT, FoundT], cell: Cell, settings: Settings) -> Job:
    """The first schedules of the population, one by one, at the first of its instants."""
    sample = tuple(islice(draw_population(cell.count, seed=POPULATION_SEED), settings.sample))
    at = (cell.instants[0],) * len(sample)
    several = Cell(area=cell.area, label=cell.label, schedules=sample, instants=at)
    return _search_job(engine, several, engine.next_of)
