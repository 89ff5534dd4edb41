"""
Which periods are owed? Asked of every minute, one by one, with the standard library's zoneinfo.

The matcher reads the record of a schedule as a person would, and not through Gnomon: cron fields
are lists, ranges and steps of numbers; an interval runs both ways from its anchor; one instant is
itself. Local times follow the real clock, in gaps and folds (the policy `civil`), which is what
worlds use. It imports nothing of the core.

Spec: SIM-4.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib import resources
from zoneinfo import ZoneInfo

__all__ = ["field_values", "is_day", "length_ms", "owed", "zone_info"]

_MINUTE = 60
_UNITS = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_BOUNDS = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


def owed(record: Mapping[str, object], first: int, last: int) -> list[int]:
    """Every nominal instant from `first` to `last`, both included, within the schedule's bounds."""
    start, end = record.get("start_at"), record.get("end_at")
    first = first if start is None else max(first, _instant(str(start)))
    last = last if end is None else min(last, _instant(str(end)))
    if record.get("once") is not None:
        at = _instant(str(record["once"]))
        return [at] if first <= at <= last else []
    if record.get("every") is not None:
        step = length_ms(str(record["every"])) // 1000
        anchor = 0 if record.get("anchor") is None else _instant(str(record["anchor"]))
        return [at for at in range(first, last + 1) if (at - anchor) % step == 0]
    text, zone = str(record["cron_expr"]), str(record.get("timezone", "UTC"))
    return [at for at in _by_minutes(text, zone, first, last) if first <= at <= last]


def length_ms(text: str) -> int:
    """A length such as 1m30s, in milliseconds."""
    parts = re.findall(r"(\d+)(ms|h|m|s)", text)
    return sum(int(number) * _UNITS[unit] for number, unit in parts)


def _by_minutes(text: str, zone: str, first: int, last: int) -> list[int]:
    fields = text.split()
    fields = ["0", *fields] if len(fields) == 5 else fields
    second, minute, hour, day, month, weekday = (
        field_values(field, low, high) for field, (low, high) in zip(fields, _BOUNDS, strict=True)
    )
    found = []
    local_zone = zone_info(zone)
    for start in range(first // _MINUTE * _MINUTE, last + 1, _MINUTE):
        local = datetime.fromtimestamp(start, local_zone)
        days = is_day(local, day, weekday, fields[3] == "*", fields[5] == "*")
        if local.minute in minute and local.hour in hour and local.month in month and days:
            found += [start + extra for extra in sorted(second)]
    return found


def is_day(
    local: datetime, day: frozenset[int], weekday: frozenset[int], any_day: bool, any_weekday: bool
) -> bool:
    in_month, in_week = local.day in day, local.isoweekday() % 7 in weekday
    if any_day or any_weekday:
        return in_month and in_week
    return in_month or in_week


@lru_cache(maxsize=512)
def field_values(field: str, low: int, high: int) -> frozenset[int]:
    values: set[int] = set()
    for item in field.split(","):
        body, _, step = item.partition("/")
        first, _, last = ("*", "", "") if body == "*" else body.partition("-")
        begin = low if first == "*" else int(first)
        end = high if first == "*" else int(last or first)
        values.update(range(begin, end + 1, int(step or 1)))
    return frozenset(values)


@lru_cache(maxsize=64)
def zone_info(name: str) -> ZoneInfo:
    # From the package and not from the host, whose files may be of another version.
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


@lru_cache(maxsize=1_024)
def _instant(text: str) -> int:
    at = datetime.fromisoformat(text).astimezone(UTC)
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
