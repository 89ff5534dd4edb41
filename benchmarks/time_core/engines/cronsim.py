"""
cronsim: an iterator over aware datetimes.

It has no public way to ask a parsed object about another instant, so the adapter sets its `dt`,
which is less work than any way a user has. For a fixed time in a zone it keeps that `dt` naive, as
its constructor makes it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice

from cronsim import CronSim

from benchmarks.time_core.engine import Engine
from benchmarks.time_core.engines.civil_datetime import aware, epoch_of

__all__ = ["CronSimEngine"]


class CronSimEngine(Engine[datetime, datetime]):
    distributions = ("cronsim",)

    def __init__(self) -> None:
        self._any_instant = aware(0, "UTC")

    def instant(self, text: str, zone: str, epoch: int) -> datetime:
        return aware(epoch, zone)

    def epoch(self, zone: str, found: datetime) -> int | None:
        return epoch_of(found)

    def parse(self, text: str) -> object:
        return CronSim(text, self._any_instant)

    def next_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        return self._search(text, zone, reverse=False)

    def first(self, text: str, zone: str, after: datetime) -> datetime:
        found: datetime = next(CronSim(text, after))
        return found

    def latest_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        return self._search(text, zone, reverse=True)

    def iterate(self, text: str, zone: str, after: datetime, count: int) -> Sequence[datetime]:
        return list(islice(CronSim(text, after), count))

    def _search(self, text: str, zone: str, *, reverse: bool) -> Callable[[datetime], datetime]:
        sim = CronSim(text, aware(0, zone), reverse)
        if sim.fixup_tz is None:

            def search(instant: datetime) -> datetime:
                sim.dt = instant
                found: datetime = next(sim)
                return found
        else:

            def search(instant: datetime) -> datetime:
                sim.dt = instant.replace(tzinfo=None)
                found: datetime = next(sim)
                return found

        return search
