"""
What a decision costs: one hash as the floor, the integer path, and the whole with its record.

All cells decide the same periods, the midnights of five years in a zone with daylight saving time,
in a window of one hour. The floor hashes the seeds of these periods, encoded beforehand, without
a call between the loop and the hash. What is avoided are three times of five minutes each, a
quarter of the window.
"""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import assert_never

from benchmarks.harness.protocol import Answer
from benchmarks.harness.timing import Job
from benchmarks.time_core.cells import Cell, Decision
from gnomon.core.civil.instant import format_instant
from gnomon.core.decision import Decider, decide, parse_constraint, parse_window
from gnomon.core.recurrence import cron

__all__ = ["decide_job"]

_IDENTITY = "prod/db-backup"
_ZONE = "Europe/Berlin"
_WINDOW = "after,1h"
_AVOID = "between=00:00-00:04,00:20-00:24,00:40-00:44"
_NIGHTS_AFTER = 1_767_225_600  # 2026-01-01T00:00:00Z
_NIGHTS = 1826


def decide_job(cell: Cell) -> Job:
    """The cell of `decide` with that label."""
    nights = cron("0 0 * * *", zone=_ZONE).iterate_epochs(_NIGHTS_AFTER)
    nominals = list(islice(nights, _NIGHTS))
    window, avoid = parse_window(_WINDOW), parse_constraint(_AVOID)
    free = Decider(identity=_IDENTITY, zone=_ZONE, window=window)
    avoiding = Decider(identity=_IDENTITY, zone=_ZONE, window=window, avoid=avoid)
    match Decision(cell.label):
        case Decision.HASH:
            return _hash_job(nominals)
        case Decision.INTEGER:
            return _job(free.choose, nominals)
        case Decision.INTEGER_AVOIDING:
            return _job(avoiding.choose, nominals)
        case Decision.RECORD:
            return _job(free.decide, nominals)
        case Decision.WHOLE:
            return _job(partial(_decide_from_texts, avoid=None), nominals)
        case Decision.WHOLE_AVOIDING:
            return _job(partial(_decide_from_texts, avoid=_AVOID), nominals)
        case other:
            assert_never(other)


def _hash_job(nominals: list[int]) -> Job:
    seeds = [f"{_IDENTITY}\n{format_instant(nominal)}\n".encode() for nominal in nominals]

    def run() -> None:
        for seed in seeds:
            sha256(seed).digest()

    return Job(run=run, operations=len(seeds), answers=_no_answers)


def _job(ask: Callable[[int], object], nominals: list[int]) -> Job:
    def run() -> None:
        for nominal in nominals:
            ask(nominal)

    return Job(run=run, operations=len(nominals), answers=_no_answers)


def _decide_from_texts(nominal: int, *, avoid: str | None) -> object:
    return decide(identity=_IDENTITY, nominal_at=nominal, zone=_ZONE, window=_WINDOW, avoid=avoid)


def _no_answers() -> list[Answer]:
    return []
