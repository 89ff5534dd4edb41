"""
Gnomon: integers in and out, and the same with aware datetimes.

`next_of` hands over the function that the recurrence itself keeps, as the peers hand over theirs.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice

from benchmarks.harness.protocol import Answer
from benchmarks.harness.timing import Job
from benchmarks.harness.worker import Unsupported
from benchmarks.time_core.cells import Cell
from benchmarks.time_core.engine import Engine
from benchmarks.time_core.engines.civil_datetime import aware, epoch_of
from gnomon.core.cron.dialect import DIALECTS
from gnomon.core.cron.parse import parse
from gnomon.core.recurrence import cron
from gnomon.errors import MissingExtraError

__all__ = ["GnomonDatetimeEngine", "GnomonEngine"]

_STANDARD = DIALECTS["standard"]


class GnomonEngine(Engine[int, int | None]):
    distributions = ("gnomon", "numpy")

    def instant(self, text: str, zone: str, epoch: int) -> int:
        return epoch

    def epoch(self, zone: str, found: int | None) -> Answer:
        return found

    def parse(self, text: str) -> object:
        return parse(text, _STANDARD)

    def next_of(self, text: str, zone: str) -> Callable[[int], int | None]:
        return cron(text, zone=zone).next_epoch

    def latest_of(self, text: str, zone: str) -> Callable[[int], int | None]:
        return cron(text, zone=zone).latest_epoch

    def iterate(self, text: str, zone: str, after: int, count: int) -> Sequence[int | None]:
        return list(islice(cron(text, zone=zone).iterate_epochs(after), count))

    def batch_job(self, cell: Cell) -> Job | None:
        try:
            from benchmarks.time_core.engines.gnomon_batch import batch_job
        except MissingExtraError as error:
            raise Unsupported(str(error)) from error
        return batch_job(cell)

    def decide_job(self, cell: Cell) -> Job:
        from benchmarks.time_core.engines.gnomon_decision import decide_job

        return decide_job(cell)


class GnomonDatetimeEngine(Engine[datetime, datetime | None]):
    distributions = ("gnomon",)

    def instant(self, text: str, zone: str, epoch: int) -> datetime:
        return aware(epoch, zone)

    def epoch(self, zone: str, found: datetime | None) -> Answer:
        return epoch_of(found)

    def parse(self, text: str) -> object:
        raise Unsupported("it parses as the integer engine does")

    def next_of(self, text: str, zone: str) -> Callable[[datetime], datetime | None]:
        return cron(text, zone=zone).next_after

    def latest_of(self, text: str, zone: str) -> Callable[[datetime], datetime | None]:
        return cron(text, zone=zone).latest_at

    def batch_job(self, cell: Cell) -> Job | None:
        raise Unsupported("the batch is made of integers")

    def iterate(
        self, text: str, zone: str, after: datetime, count: int
    ) -> Sequence[datetime | None]:
        return list(islice(cron(text, zone=zone).iterate(after), count))
