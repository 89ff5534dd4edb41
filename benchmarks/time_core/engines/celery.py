"""
celery: `crontab.remaining_delta`, which is what its beat asks, and the sum of its two parts.

It joins the day fields by "and", so the expression that restricts both is left out.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo

from celery.schedules import crontab

from benchmarks.time_core.engine import Engine
from benchmarks.time_core.engines.civil_datetime import aware, epoch_of, zone_of

__all__ = ["CeleryEngine"]


class CeleryEngine(Engine[datetime, datetime]):
    distributions = ("celery",)
    reads_both_days_as_or = False

    def __init__(self) -> None:
        self._any_instant = aware(0, "UTC")

    def instant(self, text: str, zone: str, epoch: int) -> datetime:
        return aware(epoch, zone)

    def epoch(self, zone: str, found: datetime) -> int | None:
        return epoch_of(found)

    def parse(self, text: str) -> object:
        minute, hour, day, month, weekday = text.split()
        return crontab(minute, hour, weekday, day, month, nowfun=self._now)

    def next_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        minute, hour, day, month, weekday = text.split()
        schedule = crontab(minute, hour, weekday, day, month, nowfun=self._now)
        return _search(schedule, zone_of(zone))

    def iterate(self, text: str, zone: str, after: datetime, count: int) -> Sequence[datetime]:
        search = self.next_of(text, zone)
        found: list[datetime] = []
        for _ in range(count):
            after = search(after)
            found.append(after)
        return found

    def _now(self) -> datetime:
        return self._any_instant


def _search(schedule: crontab, zone: tzinfo) -> Callable[[datetime], datetime]:
    remaining_delta = schedule.remaining_delta

    def search(instant: datetime) -> datetime:
        last, delta, _ = remaining_delta(instant, zone)
        found: datetime = last + delta
        return found

    return search
