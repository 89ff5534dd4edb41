"""
Huey: `SqliteHuey`, with tasks that are scheduled for an instant.

Its consumer looks at the schedule once a second from one thread and works from others, which poll.
Here one thread does what they do, without the waiting: read what is due, enqueue it, take each from
the queue, execute it. That favours it, and is why its lateness is not measured. A task that returns
nothing stores no result, and there is nothing to advance: its periodic tasks are not stored at all.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from huey import SqliteHuey  # type: ignore[import-not-found]
from huey.api import Task  # type: ignore[import-not-found]

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engine import fire_facts

__all__ = ["HueyEngine"]

_PEER_MAX = 10_000
_TICKS = 100
_AWAY = timedelta(hours=1)


class HueyEngine:
    distributions: tuple[str, ...] = ("huey",)

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def job(self, cell: Cell) -> Job:
        if cell.is_cold:
            raise Unsupported("it keeps no definitions in memory")
        match cell.area:
            case Area.FIRE:
                return self._fire_job(cell)
            case Area.IDLE if cell.stored <= _PEER_MAX:
                return self._idle_job(cell)
        raise Unsupported("its consumer looks once a second")

    def _fire_job(self, cell: Cell) -> Job:
        meter, facts = Meter(), dict[str, float]()
        calls = 0
        huey = self._open(cell)

        def nothing() -> None:
            nonlocal calls
            calls += 1

        task = huey.task()(nothing)

        def run() -> None:
            nonlocal calls
            calls = 0
            _fill(huey, [task.s() for _ in range(cell.due)], at=datetime.now(UTC) - _AWAY)
            with meter.running():
                for one in huey.read_schedule():
                    huey.enqueue(one)
                while (one := huey.dequeue()) is not None:
                    huey.execute(one)
            assert calls == cell.due, calls
            facts.update(fire_facts(meter, cell))

        return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=meter.read)

    def _idle_job(self, cell: Cell) -> Job:
        huey = self._open(cell)
        task = huey.task()(_nothing)
        _fill(huey, [task.s() for _ in range(cell.stored)], at=datetime.now(UTC) + _AWAY)

        def run() -> None:
            for _ in range(_TICKS):
                assert not huey.read_schedule()

        return Job(run=run, operations=_TICKS, answers=list)

    def _open(self, cell: Cell) -> SqliteHuey:
        return SqliteHuey("bench", filename=str(self._directory / f"huey-{cell.area}.db"))


def _nothing() -> None:
    """Does nothing."""


def _fill(huey: SqliteHuey, tasks: Iterable[Task], *, at: datetime) -> None:
    """Schedule them in one transaction, with the statement of its storage."""
    rows = []
    for task in tasks:
        task.eta = at.replace(tzinfo=None)  # it takes naive datetimes in UTC
        rows.append((huey.storage.name, huey.serialize_task(task), at.timestamp()))
    with huey.storage.db(commit=True) as cursor:
        cursor.executemany("insert into schedule (queue, data, timestamp) values (?, ?, ?)", rows)
