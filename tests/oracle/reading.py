"""
What does a cron text say, read in the most obvious way?

A text becomes sets of values and plain questions about a date. There is no search, no bit mask
and no cleverness: each rule of the two dialects is one short function. Texts that the grammar
does not allow raise `Unreadable`. Nothing here is shared with `gnomon.core`.

It does not decide about clocks: `minute_scan` does.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

__all__ = ["Reading", "Unreadable", "matching_days", "read"]

DayRule = Callable[[date], bool]

_MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@midnight": "0 0 * * *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_TEXT_MAX = 1024


class Unreadable(ValueError):  # noqa: N818 - an answer of the judge, not one of Gnomon's errors
    """The text is not in the dialect's grammar, or no date can ever match it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """The values each field allows; `fixed` is false where minute or hour begins with `*`."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    months: frozenset[int]
    is_day: DayRule
    fixed: bool


@lru_cache(maxsize=20_000)
def read(text: str, dialect: str) -> Reading:
    """`text` read in `posix`, `standard` or `vixie`; raises `Unreadable`."""
    if len(text) > _TEXT_MAX:
        raise Unreadable("too long")
    if dialect == "standard":
        return _possible(_standard(text))
    if dialect == "vixie":
        return _possible(_vixie(text))
    assert dialect == "posix"
    return _possible(_posix(text))


@lru_cache(maxsize=20_000)
def matching_days(reading: Reading, year: int, month: int) -> tuple[int, ...]:
    """The days of one month on which the expression can match, in order."""
    if month not in reading.months:
        return ()
    return tuple(d for d in _days_of(year, month) if reading.is_day(date(year, month, d)))


def _posix(text: str) -> Reading:
    fields = _fields(text)
    for field in fields:
        if not re.fullmatch(r"\*|[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*", field):
            raise Unreadable(f"{field!r} is not in the posix grammar")
    if len(fields) != 5:
        raise Unreadable("not five fields")
    return _reading("0", *fields, sunday=6)


def _standard(text: str) -> Reading:
    fields = _fields(text)
    if len(fields) == 1 and fields[0].lower() in _MACROS:
        fields = _MACROS[fields[0].lower()].split()
    if len(fields) == 5:
        fields = ["0", *fields]
    if len(fields) != 6:
        raise Unreadable("not five or six fields")
    return _reading(*fields, sunday=7)


def _vixie(text: str) -> Reading:
    """crontab(5): five fields, no `a/n`, no days that depend on the month; `*/2` is a star too."""
    fields = _fields(text)
    if len(fields) == 1 and fields[0].lower() in _MACROS:
        fields = _MACROS[fields[0].lower()].split()
    if len(fields) != 5:
        raise Unreadable("not five fields")
    for field in fields:
        for item in field.split(","):
            if re.fullmatch(r"[^*-]+/.*", item):
                raise Unreadable(f"{item!r} has a step without a range")
    for item in (*fields[2].split(","), *fields[4].split(",")):
        if re.search(r"#|[0-9][LWlw]|^[A-Za-z]{3}[Ll]$|^[Ll][Ww]?$", item):
            raise Unreadable(f"{item!r} depends on the month")
    found = _standard(" ".join(fields))
    day, weekday = fields[2], fields[4]
    if not (day.startswith("*") or weekday.startswith("*")):
        return found
    in_month = _any_of(_day_of_month, day)
    in_week = _any_of(lambda item: _day_of_week(item, 7), weekday)
    return replace(found, is_day=lambda on: in_month(on) and in_week(on))


def _fields(text: str) -> list[str]:
    return [field for field in re.split("[ \t]+", text) if field]


def _reading(
    second: str, minute: str, hour: str, day: str, month: str, weekday: str, *, sunday: int
) -> Reading:
    in_month = _any_of(_day_of_month, day)
    in_week = _any_of(lambda item: _day_of_week(item, sunday), weekday)
    return Reading(
        seconds=_values(second, 0, 59, []),
        minutes=_values(minute, 0, 59, []),
        hours=_values(hour, 0, 23, []),
        months=_values(month, 1, 12, ["", *_MONTHS]),
        is_day=_day_rule(day, in_month, weekday, in_week),
        fixed=not (minute.startswith("*") or hour.startswith("*")),
    )


def _day_rule(day: str, in_month: DayRule, weekday: str, in_week: DayRule) -> DayRule:
    """Restricted means: the text is not exactly `*`. Two restricted fields are joined by OR."""
    if day == "*":
        return in_week
    if weekday == "*":
        return in_month
    return lambda on: in_month(on) or in_week(on)


def _day_of_month(item: str) -> DayRule:
    last = item.upper()
    if last == "L":
        return lambda on: (on + timedelta(days=1)).month != on.month
    if last == "LW":
        return lambda on: on.day == _last_workday(on.year, on.month)
    if found := re.fullmatch(r"([0-9]+)[Ww]", item):
        day = _number(found[1], 1, 31, [])
        return lambda on: on.day == _nearest_workday(on.year, on.month, day)
    values = _item(item, 1, 31, [])
    return lambda on: on.day in values


def _day_of_week(item: str, sunday: int) -> DayRule:
    if found := re.fullmatch(r"([0-9A-Za-z]+)#([0-9]+)", item):
        weekday, nth = _number(found[1], 0, sunday, _WEEKDAYS) % 7, _number(found[2], 1, 5, [])
        return lambda on: _weekday(on) == weekday and (on.day + 6) // 7 == nth
    if found := re.fullmatch(r"([0-9]+|[A-Za-z]{3})[Ll]", item):
        weekday = _number(found[1], 0, sunday, _WEEKDAYS) % 7
        return lambda on: _weekday(on) == weekday and (on + timedelta(days=7)).month != on.month
    values = {value % 7 for value in _item(item, 0, sunday, _WEEKDAYS)}
    return lambda on: _weekday(on) in values


def _any_of(rule_of: Callable[[str], DayRule], field: str) -> DayRule:
    if field == "*":
        return lambda on: True
    rules = [rule_of(item) for item in field.split(",")]
    return lambda on: any(rule(on) for rule in rules)


def _values(text: str, low: int, high: int, names: list[str]) -> frozenset[int]:
    """`*` alone, or a list of numbers and ranges, each with an optional step."""
    if text == "*":
        return frozenset(range(low, high + 1))
    return frozenset(value for item in text.split(",") for value in _item(item, low, high, names))


def _item(item: str, low: int, high: int, names: list[str]) -> range:
    body, slash, step_text = item.partition("/")
    if slash:
        return _stepped(body, step_text, low, high, names)
    first_text, dash, last_text = body.partition("-")
    first = _number(first_text, low, high, names)
    last = _number(last_text, low, high, names) if dash else first
    if high == 7 and last_text.lower() == "sun" and first > 0:
        last = 7  # a week that ends on Sunday
    if last < first:
        raise Unreadable(f"{item!r} runs backwards")
    return range(first, last + 1)


def _stepped(body: str, step_text: str, low: int, high: int, names: list[str]) -> range:
    """`*/n` from the field's first value, `a-b/n` within a range, `a/n` from a to the last."""
    end = 6 if high == 7 else high  # Sunday is the first day here, not the eighth
    step = _number(step_text, 1, end - low + 1, [])
    if body == "*":
        return range(low, end + 1, step)
    span = _item(body, low, high, names)
    if "-" in body:
        return span[::step]
    if span[0] > end:
        raise Unreadable(f"nothing follows {body}")
    return range(span[0], end + 1, step)


def _number(text: str, low: int, high: int, names: list[str]) -> int:
    if text and text.lower() in names:
        return names.index(text.lower())
    if not re.fullmatch("[0-9]+", text):
        raise Unreadable(f"{text!r} is not a number")
    value = int(text)
    if not low <= value <= high:
        raise Unreadable(f"{value} is not in {low}-{high}")
    return value


def _weekday(on: date) -> int:
    return on.isoweekday() % 7  # 0 = Sunday


def _days_of(year: int, month: int) -> range:
    return range(1, monthrange(year, month)[1] + 1)


@lru_cache(maxsize=4_096)
def _workdays(year: int, month: int) -> list[int]:
    return [d for d in _days_of(year, month) if 1 <= _weekday(date(year, month, d)) <= 5]


def _last_workday(year: int, month: int) -> int:
    return _workdays(year, month)[-1]


def _nearest_workday(year: int, month: int, day: int) -> int | None:
    """The Monday-Friday nearest to a day and in its month; None if the month has no such day."""
    if day not in _days_of(year, month):
        return None
    return min(_workdays(year, month), key=lambda workday: abs(workday - day))


def _possible(reading: Reading) -> Reading:
    """28 years without a missing leap day show every way a month can fall."""
    if not any(matching_days(reading, y, m) for y in range(2000, 2028) for m in range(1, 13)):
        raise Unreadable("no date can match")
    return reading
