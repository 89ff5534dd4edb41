"""
croniter-rs: croniter's interface in Rust, in its two modes.

It drops the zone: given an aware datetime it searches the wall clock and answers without a zone, so
gaps and folds do not exist for it. It is the bar for speed. The float mode gets wall-clock seconds,
computed beforehand, so that it searches the same calendar; reattaching the zone to its answers is
left out of its time. Iterating over the object is faster than its `get_next_n`.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice

from croniter_rs import croniter

from benchmarks.time_core.engine import Engine
from benchmarks.time_core.engines.civil_datetime import aware, epoch_of, zone_of

__all__ = ["CroniterRsDatetimeEngine", "CroniterRsFloatEngine"]


class CroniterRsDatetimeEngine(Engine[datetime, datetime]):
    distributions = ("croniter-rs",)

    def instant(self, text: str, zone: str, epoch: int) -> datetime:
        return aware(epoch, zone)

    def epoch(self, zone: str, found: datetime) -> int | None:
        return epoch_of(found.replace(tzinfo=zone_of(zone)))

    def parse(self, text: str) -> object:
        return croniter(text, 0.0)

    def next_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        return partial(croniter(text, 0.0).get_next, datetime)

    def first(self, text: str, zone: str, after: datetime) -> datetime:
        found: datetime = croniter(text, after).get_next(datetime)
        return found

    def latest_of(self, text: str, zone: str) -> Callable[[datetime], datetime]:
        return partial(croniter(text, 0.0).get_prev, datetime)

    def iterate(self, text: str, zone: str, after: datetime, count: int) -> Sequence[datetime]:
        return list(islice(croniter(text, after, datetime), count))


class CroniterRsFloatEngine(Engine[float, float]):
    distributions = ("croniter-rs",)

    def instant(self, text: str, zone: str, epoch: int) -> float:
        return aware(epoch, zone).replace(tzinfo=UTC).timestamp()

    def epoch(self, zone: str, found: float) -> int | None:
        return epoch_of(aware(int(found), "UTC").replace(tzinfo=zone_of(zone)))

    def parse(self, text: str) -> object:
        return croniter(text, 0.0)

    def next_of(self, text: str, zone: str) -> Callable[[float], float]:
        return partial(croniter(text, 0.0).get_next, float)

    def first(self, text: str, zone: str, after: float) -> float:
        found: float = croniter(text, after).get_next(float)
        return found

    def latest_of(self, text: str, zone: str) -> Callable[[float], float]:
        return partial(croniter(text, 0.0).get_prev, float)

    def iterate(self, text: str, zone: str, after: float, count: int) -> Sequence[float]:
        return list(islice(croniter(text, after, float), count))
