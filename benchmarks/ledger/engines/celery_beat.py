"""
Celery beat: its `Scheduler`, asked to tick until every entry has been sent once, to a broker in
memory.

Nothing is stored, claimed or recorded, and no worker runs what was sent: it is the rate at which
beat can send at all. Each tick sends one entry and looks at all of them.
"""

from datetime import timedelta
from pathlib import Path

from celery import Celery
from celery.beat import Scheduler
from celery.schedules import schedule

from benchmarks.harness.meter import Meter
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.ledger.cells import Area, Cell
from benchmarks.ledger.engine import fire_facts

__all__ = ["CeleryBeatEngine"]

_HOUR = 3600


class CeleryBeatEngine:
    distributions: tuple[str, ...] = ("celery", "kombu")

    def __init__(self, directory: Path) -> None:
        self._app = Celery("bench", broker="memory://", set_as_current=False)

        @self._app.task(name="nothing", ignore_result=True)  # type: ignore[untyped-decorator]
        def nothing() -> None:
            """Does nothing."""

    def job(self, cell: Cell) -> Job:
        if cell.is_cold or cell.area is not Area.FIRE:
            raise Unsupported("only its rate of sending is measured")
        meter, facts = Meter(), dict[str, float]()

        def run() -> None:
            beat = self._beat(cell.due)
            with meter.running():
                while sum(entry.total_run_count for entry in beat.schedule.values()) < cell.due:
                    for _ in range(cell.due):
                        beat.tick()
            facts.update(fire_facts(meter, cell))

        return Job(run=run, operations=cell.due, answers=list, facts=facts, clock=meter.read)

    def _beat(self, due: int) -> Scheduler:
        beat = Scheduler(app=self._app, lazy=True)
        past = self._app.now() - timedelta(seconds=2 * _HOUR)
        beat.schedule = {
            f"hourly-{number:04d}": beat.Entry(
                name=f"hourly-{number:04d}", task="nothing", schedule=schedule(_HOUR),
                last_run_at=past, app=self._app,
            )
            for number in range(due)
        }  # fmt: skip
        return beat
