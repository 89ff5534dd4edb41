"""
Zone data: the bytes of a TZif file, as a list of offset changes.

The files come from the installed `tzdata` package and from nowhere else, so that two hosts with the
same version agree about every local time. They are read through `importlib.resources` and treated
as constants: the only input of the core that is not an argument.

A TZif file lists the transitions of the past and ends with a rule, in the notation of the TZ
environment variable, for the years after the last one. `transitions` expands that rule to the
horizon, so that nothing downstream knows about it. (RFC 9636 describes the format.)

Spec: ZONE-1, ZONE-4.
"""

import re
import struct
from functools import lru_cache
from importlib import import_module, resources

from gnomon.core.civil.calendar import (
    DAY,
    YEAR_LAST,
    civil_from_days,
    days_from_civil,
    is_leap,
    month_lengths,
    weekday,
)

__all__ = [
    "Course", "course_of_rule", "course_of_zone", "last_rule", "read_zone", "transitions",
    "tzdata_version", "zone_names",
]  # fmt: skip

_HEADER = struct.Struct(">4sc15x6l")
_NAME = r"(?:<[^>]+>|[A-Za-z]+)"
_TIME = r"[-+]?[\d:]+"
_RULE = re.compile(
    rf"{_NAME}(?P<standard>{_TIME})"
    rf"(?:{_NAME}(?P<summer>{_TIME})?,(?P<begin>[^,/]+)(?:/(?P<begin_time>{_TIME}))?"
    rf",(?P<end>[^,/]+)(?:/(?P<end_time>{_TIME}))?)?"
)
_TWO_O_CLOCK = 7_200

Course = tuple[int, list[tuple[int, int]]]
"""An offset, and each later change as (instant, new offset)."""


@lru_cache(1)
def zone_names() -> frozenset[str]:
    """Every zone of the installed data."""
    return frozenset((resources.files("tzdata") / "zones").read_text("utf-8").split())


@lru_cache(1)
def tzdata_version() -> str:
    """The version of the zone data, such as `2026a`."""
    return str(import_module("tzdata").IANA_VERSION)


def read_zone(name: str) -> bytes:
    """The TZif bytes of a name out of `zone_names()`."""
    assert name in zone_names()
    return (resources.files("tzdata") / "zoneinfo").joinpath(*name.split("/")).read_bytes()


def last_rule(data: bytes) -> str:
    """The rule for the years after the last change that a file lists."""
    return _parse(data)[2]


def course_of_zone(data: bytes, since: int) -> Course:
    """The offset at `since`, and each later change, up to the horizon."""
    return _course(*transitions(data), since)


def course_of_rule(rule: str, since: int) -> Course:
    """The same for a zone that has always gone by a rule."""
    changes = _expand(rule, since=since - 2 * 366 * DAY)
    return _course(changes[0][1], changes, since)


def _course(offset: int, changes: list[tuple[int, int]], since: int) -> Course:
    later = []
    for at, new in changes:
        if at <= since:
            offset = new
        else:
            later.append((at, new))
    return offset, later


def transitions(data: bytes) -> Course:
    """The first offset, and each later change as (instant, new offset), up to the horizon."""
    first, changes, rule = _parse(data)
    last = changes[-1][0] if changes else -(1 << 60)
    changes += [change for change in _expand(rule, since=last) if change[0] > last]
    offset, effective = first, []
    for at, new in changes:
        if new != offset:  # an entry may change only the zone's abbreviation
            effective.append((at, new))
            offset = new
    return first, effective


def _parse(data: bytes) -> tuple[int, list[tuple[int, int]], str]:
    # The first block has 32-bit times, for old readers; the second repeats it with 64 bits.
    start = _HEADER.size + _block_size(data, 0, time_size=4)
    _, _, _, _, _, times, types, _ = _HEADER.unpack_from(data, start)
    body = start + _HEADER.size
    instants = struct.unpack_from(f">{times}q", data, body)
    kinds = data[body + 8 * times : body + 9 * times]
    table = body + 9 * times
    offsets = [struct.unpack_from(">l", data, table + 6 * index)[0] for index in range(types)]
    rule = data[body + _block_size(data, start, time_size=8) :].decode("ascii").strip("\n")
    return offsets[0], [(at, offsets[kind]) for at, kind in zip(instants, kinds, strict=True)], rule


def _block_size(data: bytes, start: int, *, time_size: int) -> int:
    magic, _, is_ut, is_std, leaps, times, types, chars = _HEADER.unpack_from(data, start)
    assert magic == b"TZif"
    return int(
        times * (time_size + 1) + types * 6 + chars + leaps * (time_size + 4) + is_std + is_ut
    )


def _expand(rule: str, *, since: int) -> list[tuple[int, int]]:
    """The changes that a TZ rule makes, from the year of `since` to the end of the tables."""
    parts = _RULE.fullmatch(rule)
    assert parts, rule
    standard = -_seconds(parts["standard"])
    if parts["begin"] is None:
        return [(since + 1, standard)]
    summer = -_seconds(parts["summer"]) if parts["summer"] else standard + 3_600
    begin_time = _seconds(parts["begin_time"]) if parts["begin_time"] else _TWO_O_CLOCK
    end_time = _seconds(parts["end_time"]) if parts["end_time"] else _TWO_O_CLOCK
    changes = []
    for year in range(max(1969, civil_from_days(since // DAY)[0]), YEAR_LAST + 2):
        changes.append((_rule_day(parts["begin"], year) * DAY + begin_time - standard, summer))
        changes.append((_rule_day(parts["end"], year) * DAY + end_time - summer, standard))
    return sorted(changes)


def _seconds(text: str) -> int:
    hours, minutes, seconds, *_ = [int(part) for part in text.lstrip("+-").split(":")] + [0, 0]
    total = hours * 3_600 + minutes * 60 + seconds
    return -total if text.startswith("-") else total


def _rule_day(text: str, year: int) -> int:
    """`M3.2.0` is the second Sunday of March; `J60` never counts a leap day; `59` does."""
    if text.startswith("M"):
        month, week, day = (int(part) for part in text[1:].split("."))
        first = days_from_civil(year, month, 1)
        found = first + (day - weekday(first)) % 7 + 7 * (week - 1)
        return found if found < first + month_lengths(is_leap(year))[month - 1] else found - 7
    start = days_from_civil(year, 1, 1)
    if text.startswith("J"):
        number = int(text[1:])
        return start + number - 1 + (is_leap(year) and number >= 60)
    return start + int(text)
