"""
When does a workflow do something by itself: when does a producer run, when does a consumer wake?

A producer has an interval or a cron expression in the zone of the workflow. It is kept as one text,
`every 5m` or `cron */5 * * * *`, so that two of them can be compared. The next run is counted from
the present instant, however many were missed: what was missed is one run.

A consumer asks with `wakeAt`, a hint of a script: it is brought within bounds that keep a workflow
from turning in circles and from sleeping for ever. What is no instant at all is brought to the
nearer bound, so that the consumer is called rather too early than never, and the author is told.

Spec: WHEN-1 to WHEN-3, FLOW-5, WAKE-1 to WAKE-4, WAKE-8.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from gnomon.apps.workflow.storable import storable
from gnomon.core.civil.duration import format_duration, parse_duration
from gnomon.core.civil.instant import parse_instant
from gnomon.core.recurrence import Cron, cron
from gnomon.errors import DefinitionError

__all__ = [
    "WAKE_MAX_MS",
    "WAKE_MIN_MS",
    "Wake",
    "next_run_ms",
    "read_schedule",
    "read_wake",
    "schedule_words",
]

INTERVAL_MIN = timedelta(seconds=1)
INTERVAL_MAX = timedelta(days=366)
WAKE_MIN_MS = 30_000
WAKE_MAX_MS = 24 * 3_600_000

_EVERY, _CRON = "every ", "cron "
_DAYS = re.compile(r"(\d{1,4})d", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_MS = timedelta(milliseconds=1)


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


class Wake(NamedTuple):
    """When a consumer is woken."""

    at_ms: int | None
    """Within bounds; None when it did not ask for it."""
    problem: str = ""
    """What is wrong with the wish; empty when nothing is."""


def read_wake(value: object, *, now_ms: int) -> Wake:
    """When to wake a consumer that has asked for this."""
    if value is None:
        return Wake(None)
    try:
        asked = parse_instant(value, where="wakeAt") if isinstance(value, str) else value
        if not isinstance(asked, datetime) or asked.utcoffset() is None:
            return _none(value, now_ms)
        asked_ms = (asked - _EPOCH) // _MS
    except (DefinitionError, ValueError, OverflowError):
        return _none(value, now_ms)
    return Wake(min(max(asked_ms, now_ms + WAKE_MIN_MS), now_ms + WAKE_MAX_MS))


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
    return parse_duration(schedule.removeprefix(_EVERY)) // _MS


def _words(seconds: int) -> str:
    parts = []
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return parts[0].removeprefix("1 ") if len(parts) == 1 else " ".join(parts)


def _none(value: object, now_ms: int) -> Wake:
    shown = storable(f"{value!r:.100}", most=200)
    return Wake(
        now_ms + WAKE_MIN_MS,
        f"wakeAt: must be an instant with an offset, got {shown}; it wakes in "
        f'{WAKE_MIN_MS // 1000} s; write e.g. "2026-03-01T09:00:00Z", or leave it out',
    )
