"""
When does a producer run next, and how is that said?

A schedule is an interval or a cron expression in the zone of the workflow. It is kept as one text,
`every 5m` or `cron */5 * * * *`, so that two of them can be compared. The next run is counted from
the present instant, however many were missed: what was missed is one run.

Spec: WHEN-1 to WHEN-3, FLOW-5.
"""

import re
from datetime import timedelta

from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.recurrence import Cron, cron
from gnomon.errors import DefinitionError

__all__ = ["next_run_ms", "read_schedule", "schedule_words"]

INTERVAL_MIN = timedelta(seconds=1)
INTERVAL_MAX = timedelta(days=366)

_EVERY, _CRON = "every ", "cron "
_DAYS = re.compile(r"(\d{1,4})d", re.ASCII)
_SECOND = timedelta(seconds=1)


def read_schedule(
    *, interval: str | timedelta | None = None, cron_text: str | None = None, zone: str, where: str
) -> str:
    """The text of a schedule; an interval goes before a cron expression."""
    if interval is not None:
        return f"{_EVERY}{format_duration(_interval(interval, where=where))}"
    if cron_text is None:
        raise DefinitionError(
            "must have a schedule", where=where, got=None,
            hint='write interval="5m" or cron="*/5 * * * *"',
        )  # fmt: skip
    _cron(cron_text, zone)  # whatever is wrong with it is said now
    return f"{_CRON}{cron_text}"


def next_run_ms(schedule: str, *, zone: str, now_ms: int) -> int | None:
    """The next run after now; None when there is none."""
    if schedule.startswith(_EVERY):
        return now_ms + _length_ms(schedule)
    found = _cron(schedule.removeprefix(_CRON), zone).next_epoch(now_ms // 1000)
    return None if found is None else found * 1000


def schedule_words(schedule: str, *, zone: str) -> str:
    """`Checks every 5 minutes`, or what a cron expression says in English."""
    if schedule.startswith(_EVERY):
        return f"Checks every {_words(_length_ms(schedule) // 1000)}"
    text = _cron(schedule.removeprefix(_CRON), zone).describe()
    return text if zone == "UTC" else f"{text} ({zone})"


def _interval(value: str | timedelta, *, where: str) -> timedelta:
    if isinstance(value, str):
        days = _DAYS.fullmatch(value)
        value = timedelta(days=int(days[1])) if days else parse_duration(value, where=where)
    if not isinstance(value, timedelta) or not INTERVAL_MIN <= value <= INTERVAL_MAX:
        raise DefinitionError(
            "must be an interval from a second to a year", where=where, got=value,
            hint='write e.g. interval="5m"',
        )  # fmt: skip
    if value % _SECOND:
        raise DefinitionError(
            "must be whole seconds", where=where, got=value, hint='write e.g. interval="90s"'
        )
    return value


def _cron(text: str, zone: str) -> Cron:
    return cron(text, zone=zone)


def _length_ms(schedule: str) -> int:
    return parse_duration(schedule.removeprefix(_EVERY)) // timedelta(milliseconds=1)


def _words(seconds: int) -> str:
    parts = []
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return parts[0].removeprefix("1 ") if len(parts) == 1 else " ".join(parts)
