"""
Which days of a year match a `DayRule`.

The answer depends on the year only through its kind (see `civil.calendar`), so there are fourteen
answers to a rule, each computed when first asked for and shared by every expression with that rule.
A year's answer is an integer whose bit `d` stands for the day of the year `d`, counted from 0.

Spec: CRON-6 to CRON-10.
"""

from functools import lru_cache
from weakref import WeakValueDictionary

from gnomon.core.civil.calendar import DAY, KINDS, month_lengths
from gnomon.core.cron.expression import (
    LAST_DAY,
    LAST_WORKDAY,
    DayRule,
    last_weekday_bit,
    nearest_workday_bit,
    nth_weekday_bit,
)

__all__ = [
    "FAR",
    "UNKNOWN",
    "WaitTable",
    "can_match",
    "fill_waits",
    "wait_table",
    "year_days",
    "year_mask",
]

FAR = 255
"""In a wait table: no match in the rest of the year, or none within 253 days."""
UNKNOWN = 254
"""In a wait table: this kind of year has not been filled in."""

_RULES_MAX = 16_384
_TABLES: "WeakValueDictionary[DayRule, WaitTable]" = WeakValueDictionary()
_COUNTDOWN = bytes(range(UNKNOWN - 1, -1, -1))
# For each set of weekdays, the weekly pattern over six weeks, which cover any month.
_WEEKS = [sum(mask << 7 * week for week in range(6)) for mask in range(128)]
_PLAIN_DAY = (1 << 32) - 1
_PLAIN_WEEKDAY = (1 << 7) - 1


@lru_cache(_RULES_MAX)
def year_mask(rule: DayRule, kind: int) -> int:
    """The matching days of a year of this kind."""
    weekday, leap = divmod(kind, 2)
    mask = start = 0
    for month, length in enumerate(month_lengths(bool(leap)), 1):
        if rule.month >> month & 1:
            mask |= _month_mask(rule, weekday, length) << start
        start += length
        weekday = (weekday + length) % 7
    return mask


class WaitTable(bytearray):
    """
    By `DAY_KEY`, how many days to wait for a match: 0 on a match, or `FAR`, or `UNKNOWN`.

    One table serves all expressions with the rule, while there are any; `fill_waits` fills it in,
    kind by kind, when a kind of year is first met.
    """

    __slots__ = ("__weakref__",)


def wait_table(rule: DayRule) -> WaitTable:
    """The table of a rule, shared by those who need it."""
    table = _TABLES.get(rule)
    if table is None:
        table = _TABLES.setdefault(rule, WaitTable(bytes([UNKNOWN]) * (KINDS << 9)))
    return table


def fill_waits(table: WaitTable, rule: DayRule, kind: int) -> None:
    """Fill in the days of one kind of year, and the day after its last."""
    matches = [second // DAY for second in year_days(rule, kind)]
    length = 365 + kind % 2
    if (beyond := _first_of_next_year(rule, kind)) is not None:
        matches.append(length + beyond)
    parts, reached = [], 0
    for match in matches:
        run = match - reached + 1
        parts.append(b"\xff" * (run - UNKNOWN) + _COUNTDOWN[-run:])
        reached += run
    waits = b"".join(parts)[: length + 1].ljust(512, b"\xff")
    table[kind << 9 : (kind + 1) << 9] = waits


def _first_of_next_year(rule: DayRule, kind: int) -> int | None:
    """The first match of the year after; None when it is far or depends on more than the kind."""
    weekday, leap = divmod(kind, 2)
    following = (weekday + 365 + leap) % 7 * 2
    # After a leap year comes a common one; after a common year either may come.
    firsts = {year_days(rule, kind)[:1] for kind in range(following, following + 2 - leap)}
    first = firsts.pop()
    return first[0] // DAY if first and not firsts else None


@lru_cache(_RULES_MAX)
def year_days(rule: DayRule, kind: int) -> tuple[int, ...]:
    """The matching days of a year, as seconds since its beginning."""
    digits = f"{year_mask(rule, kind):b}"[::-1]
    return tuple([day * DAY for day, digit in enumerate(digits) if digit == "1"])


def can_match(rule: DayRule) -> bool:
    """Whether any year has a matching day."""
    return any(year_mask(rule, kind) for kind in range(KINDS))


def _month_mask(rule: DayRule, weekday: int, length: int) -> int:
    """The matching days of a month that begins on `weekday`; bit 0 is its first day."""
    whole = (1 << length) - 1
    days = (rule.day & _PLAIN_DAY) >> 1 & whole
    weekdays = _WEEKS[rule.weekday & _PLAIN_WEEKDAY] >> weekday & whole
    if rule.day > _PLAIN_DAY:
        days |= _special_days(rule.day, weekday, length)
    if rule.weekday > _PLAIN_WEEKDAY:
        weekdays |= _special_weekdays(rule.weekday, weekday, length)
    return days | weekdays if rule.either else days & weekdays


def _special_days(day_field: int, weekday: int, length: int) -> int:
    mask = 0
    if day_field & LAST_DAY:
        mask |= 1 << length - 1
    if day_field & LAST_WORKDAY:
        mask |= 1 << _nearest_workday(length, weekday, length) - 1
    for day in range(1, length + 1):
        if day_field & nearest_workday_bit(day):
            mask |= 1 << _nearest_workday(day, weekday, length) - 1
    return mask


def _nearest_workday(day: int, weekday: int, length: int) -> int:
    match (weekday + day - 1) % 7:
        case 6:  # Saturday: the Friday before, or the Monday after when that is another month
            return day - 1 if day > 1 else day + 2
        case 0:  # Sunday: the Monday after, or the Friday before
            return day + 1 if day < length else day - 2
        case _:
            return day


def _special_weekdays(weekday_field: int, weekday: int, length: int) -> int:
    mask = 0
    for wanted in range(7):
        first = (wanted - weekday) % 7
        for nth, day in enumerate(range(first, length, 7), 1):
            if weekday_field & nth_weekday_bit(wanted, nth):
                mask |= 1 << day
        if weekday_field & last_weekday_bit(wanted):
            mask |= 1 << first + (length - 1 - first) // 7 * 7
    return mask
