"""
APScheduler 3: `CronTrigger.get_next_fire_time`, as aware datetimes.

It counts weekdays from Monday and joins the day fields by "and", so weekdays are spelled by name
and the expression that restricts both is left out. Its search is inclusive where the others are
strictly later.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from apscheduler.triggers.cron import CronTrigger

from benchmarks.time_core.engine import Engine
from benchmarks.time_core.engines.civil_datetime import aware, epoch_of, zone_of

__all__ = ["APSchedulerEngine", "spell_weekdays"]

_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


class APSchedulerEngine(Engine[datetime, datetime | None]):
    distributions = ("APScheduler",)
    reads_both_days_as_or = False

    def spell(self, text: str) -> str:
        return spell_weekdays(text)

    def instant(self, text: str, zone: str, epoch: int) -> datetime:
        return aware(epoch, zone)

    def epoch(self, zone: str, found: datetime | None) -> int | None:
        return epoch_of(found)

    def parse(self, text: str) -> object:
        return CronTrigger.from_crontab(text, zone_of("UTC"))

    def next_of(self, text: str, zone: str) -> Callable[[datetime], datetime | None]:
        trigger = CronTrigger.from_crontab(text, zone_of(zone))
        return partial(trigger.get_next_fire_time, None)

    def iterate(
        self, text: str, zone: str, after: datetime, count: int
    ) -> Sequence[datetime | None]:
        get_next_fire_time = CronTrigger.from_crontab(text, zone_of(zone)).get_next_fire_time
        found: list[datetime | None] = []
        previous: datetime | None = None
        now = after
        for _ in range(count):
            previous = get_next_fire_time(previous, now)
            if previous is None:
                break
            found.append(previous)
            now = previous
        return found


def spell_weekdays(text: str) -> str:
    """Weekdays by name; a range that begins on Sunday as a list, as the names begin on Monday."""
    *others, weekday = text.split()
    return " ".join([*others, ",".join(_spell_item(item) for item in weekday.split(","))])


def _spell_item(item: str) -> str:
    if item.startswith("*"):
        return item
    first, _, last = item.partition("-")
    if not last:
        return _NAMES[int(first)]
    if first != "0":
        return f"{_NAMES[int(first)]}-{_NAMES[int(last)]}"
    return ",".join(_NAMES[: int(last) + 1])
