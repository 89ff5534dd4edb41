"""
croniter: `get_next` from a start time, as aware datetimes. Its float mode takes the same time.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from croniter import croniter

from benchmarks.time_core.engine import Engine
from benchmarks.time_core.engines.civil_datetime import aware, epoch_of

__all__ = ["CroniterEngine"]


class CroniterEngine(Engine[datetime, datetime]):
    distributions = ("croniter",)

    def __init__(self) -> None:
        self._any_instant = aware(0, "UTC")

    def instant(self, text: str, zone: str, epoch: int) -> datetime:
        return aware(epoch, zone)

    def epoch(self, zone: str, found: datetime) -> int | None:
        return epoch_of(found)

    def parse(self, text: str) -> object:
        return croniter(text, self._any_instant)

    def next_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        return partial(croniter(text, aware(0, zone)).get_next, datetime)

    def first(self, text: str, zone: str, after: datetime) -> datetime:
        found: datetime = croniter(text, after).get_next(datetime)
        return found

    def latest_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        return partial(croniter(text, aware(0, zone)).get_prev, datetime)

    def iterate(self, text: str, zone: str, after: datetime, count: int) -> Sequence[datetime]:
        get_next = croniter(text, after).get_next
        return [get_next(datetime) for _ in range(count)]
