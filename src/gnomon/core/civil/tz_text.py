"""
Which zone of the database does a `TZ` text such as `CET-1CEST,M3.5.0,M10.5.0/3` name?

POSIX writes a zone as the rule it goes by now. Only a zone of the database that goes by the same
rule, from the year before `now` on, is what the text says. Of several, an offset without a place
goes first, then the same abbreviations, then the shortest name. Summer time without dates is that
of the United States, as in the C library.

Spec: ZONE-5.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from gnomon.core.civil.tzif import (
    course_of_rule,
    course_of_zone,
    last_rule,
    read_zone,
    zone_names,
)

__all__ = ["TZ_TEXT_MAX", "zone_of_tz_text"]

TZ_TEXT_MAX = 100
"""The longest text that is read, in characters."""

_NAME = r"([A-Za-z]{3,16}|<[A-Za-z0-9+-]{3,16}>)"
_TIME = r"[+-]?\d{1,3}(?::[0-5]\d){0,2}"
_DAY = r"(?:M(?:[1-9]|1[0-2])\.[1-5]\.[0-6]|J?\d{1,3})"
_DATES = rf"(,{_DAY}(?:/{_TIME})?,{_DAY}(?:/{_TIME})?)"
_TEXT = re.compile(rf"{_NAME}{_TIME}(?:{_NAME}(?:{_TIME})?{_DATES}?)?", re.ASCII)
_DATES_OF_THE_C_LIBRARY = ",M3.2.0,M11.1.0"
_YEAR_S = 366 * 86_400


_Names = tuple[str, str | None]


class _Rule(NamedTuple):
    names: _Names
    text: str


class _Named(NamedTuple):
    zone: str
    names: _Names


def zone_of_tz_text(text: str, now: int) -> str | None:
    """A zone that has these local times from the year before `now` on; None if there is none."""
    rule = _read(text)
    if rule is None:
        return None
    since = now - now % _YEAR_S - _YEAR_S
    offset, changes = course_of_rule(rule.text, since)
    found = _zones(since).get((offset, tuple(changes)), ())
    if "UTC" in [name for name, _ in found]:
        return "UTC"
    ranked = [
        (bool(changes) or not name.startswith("Etc/"), names != rule.names, len(name), name)
        for name, names in found
    ]
    return min(ranked)[-1] if ranked else None


@lru_cache(1)
def _zones(since: int) -> dict[tuple[int, tuple[tuple[int, int], ...]], list[_Named]]:
    """The zones of the database by their local times from `since` on."""
    found: dict[tuple[int, tuple[tuple[int, int], ...]], list[_Named]] = {}
    for name in zone_names():
        data = read_zone(name)
        offset, changes = course_of_zone(data, since)
        rule = _read(last_rule(data))
        assert rule is not None, name
        found.setdefault((offset, tuple(changes)), []).append(_Named(name, rule.names))
    return found


def _read(text: str) -> _Rule | None:
    parts = _TEXT.fullmatch(text) if len(text) <= TZ_TEXT_MAX else None
    if parts is None:
        return None
    standard, summer, dates = parts.groups()
    lacks_dates = summer is not None and dates is None
    names = _bare(standard), None if summer is None else _bare(summer)
    return _Rule(names, text + _DATES_OF_THE_C_LIBRARY if lacks_dates else text)


def _bare(name: str) -> str:
    return name.strip("<>")
