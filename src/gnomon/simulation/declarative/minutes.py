"""
What is due at this minute? Asked of every minute, one by one, with the standard library's zoneinfo.

A cron text is read as a person would: five fields of numbers, lists and ranges. A local time that a
clock change skips never comes; one that comes twice counts the first time only. Nothing of the core
is used, because its answers are what is judged here.

Spec: SIM-12.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from gnomon.simulation.kit.matcher import field_values, is_day, zone_info

__all__ = ["Minutes"]

_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_REMEMBERED = 64


class _Text(NamedTuple):
    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool


class Minutes:
    """Which of some cron texts match a minute, in one zone."""

    def __init__(self, zone: str, texts: Iterable[str]) -> None:
        self._zone = zone_info(zone)
        self._texts = [_read(text) for text in dict.fromkeys(texts)]
        self.due = lru_cache(_REMEMBERED)(self._due)

    def _due(self, minute_s: int) -> tuple[str, ...]:
        """The texts that match the minute which begins at this epoch second."""
        local = datetime.fromtimestamp(minute_s, self._zone)
        if local.fold or local.second:
            return ()
        minute, hour, month = local.minute, local.hour, local.month
        return tuple(
            one.text
            for one in self._texts
            if minute in one.minutes
            and hour in one.hours
            and month in one.months
            and is_day(local, one.days, one.weekdays, one.any_day, one.any_weekday)
        )


def _read(text: str) -> _Text:
    fields = text.split()
    minutes, hours, days, months, weekdays = (
        field_values(field, low, high) for field, (low, high) in zip(fields, _BOUNDS, strict=True)
    )
    return _Text(
        text, minutes, hours, days, months, weekdays, fields[2] == "*", fields[4] == "*"
    )  # fmt: skip
