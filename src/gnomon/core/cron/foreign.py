"""
What an element means that another cron reads, in the words of the dialect that refused it.

Names, full or short, ranges that wrap around, 7 for Sunday and steps mean the same wherever they
are read. Quartz counts weekdays from 1 for Sunday, and for the `H` of Jenkins any value is right.
Following what is said here gives the schedule that was meant; where that cannot be, nothing is
said.

Spec: CRON-13, CRON-18.
"""

import re
from collections.abc import Sequence

from gnomon.core.cron.dialect import MONTH_NAMES, WEEKDAY_NAMES, Dialect, FieldRule, Role

__all__ = ["is_jenkins", "jenkins_values", "name_of_weekday", "quartz_weekdays", "translated"]

_ELEMENT = re.compile(
    r"(\*|[A-Za-z]{3,9}|\d{1,3})(?:-([A-Za-z]{3,9}|\d{1,3}))?(?:/(\d{1,3}))?", re.ASCII
)
_JENKINS = re.compile(r"H(?:\((\d{1,2})-(\d{1,2})\))?(?:/(\d{1,2}))?", re.ASCII)
_QUARTZ_WEEKDAY = re.compile(r"([1-7])(?:-([1-7]))?(L|#[1-5]|/[1-7])?", re.ASCII)
_FULL_NAMES = {
    Role.MONTH: (
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    ),
    Role.WEEKDAY: (
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ),
}  # fmt: skip
_SHORT_NAMES = {
    Role.MONTH: {value: name for name, value in MONTH_NAMES.items()},
    Role.WEEKDAY: {value: name for name, value in WEEKDAY_NAMES.items()},
}
_JENKINS_DAY_MAX = 28
_ANY = 7  # as good as any other value


def translated(element: str, rule: FieldRule, dialect: Dialect) -> str:
    """The element as this dialect writes it; empty when no cron reads it in this field."""
    parts = _ELEMENT.fullmatch(element)
    if parts is None:
        return ""
    low_text, high_text, step_text = parts.groups()
    step = int(step_text or 1)
    low, high = _bounds(low_text, high_text, step_text, rule)
    span = rule.high - rule.low + 1
    if low < 0 or high < 0 or not 1 <= step <= span:
        return ""
    if step_text is not None:
        end = high if low <= high else high + span
        values = {rule.low + (value - rule.low) % span for value in range(low, end + 1, step)}
        return ",".join(map(str, sorted(values)))
    is_word = bool(rule.names) and low_text.isalpha()
    return ",".join(
        _text(first, rule, is_word=is_word)
        if first == last
        else f"{_text(first, rule, is_word=is_word)}-{_text(last, rule, is_word=is_word)}"
        for first, last in _pieces(low, high, rule)
    )


def is_jenkins(element: str) -> bool:
    return _JENKINS.fullmatch(element) is not None


def jenkins_values(element: str, rule: FieldRule) -> str:
    """Values that `H` could stand for, as far apart as it asks for; empty when it asks too much."""
    parts = _JENKINS.fullmatch(element)
    assert parts is not None
    top = _JENKINS_DAY_MAX if rule.role is Role.DAY else rule.high
    low, high = int(parts[1] or rule.low), int(parts[2] or top)
    step = int(parts[3] or high - low + 1)
    if not rule.low <= low <= high <= rule.high or not 1 <= step <= high - low + 1:
        return ""
    return ",".join(map(str, range(low + _ANY % step, high + 1, step)))


def quartz_weekdays(field: str) -> str:
    """A weekday field of Quartz, counted from 0 for Sunday; the same when nothing is counted."""
    return ",".join(_of_quartz(element) for element in field.split(","))


def name_of_weekday(value: int) -> str:
    return _SHORT_NAMES[Role.WEEKDAY][value % 7]


def _of_quartz(element: str) -> str:
    parts = _QUARTZ_WEEKDAY.fullmatch(element)
    if parts is None:
        return "6" if element == "L" else element
    high = "" if parts[2] is None else f"-{int(parts[2]) - 1}"
    return f"{int(parts[1]) - 1}{high}{parts[3] or ''}"


def _bounds(
    low_text: str, high_text: str | None, step_text: str | None, rule: FieldRule
) -> tuple[int, int]:
    if low_text == "*":
        return (-1, -1) if high_text else (rule.low, rule.high)
    low = _value(low_text, rule)
    if rule.role is Role.WEEKDAY and low == 7:  # a week that begins on Sunday
        low = 0
        high_text = "0" if high_text == "7" else high_text
    if high_text is None:
        return low, low if step_text is None else rule.high
    high = _value(high_text, rule)
    return low, 7 if high == 0 < low and high_text.isalpha() and rule.low == 0 else high


def _pieces(low: int, high: int, rule: FieldRule) -> Sequence[tuple[int, int]]:
    if low <= high <= rule.high:
        return [(low, high)]
    if high == 7 and rule.role is Role.WEEKDAY:
        return [(0, 6)] if low <= 1 else [(low, 6), (0, 0)]
    return [(low, rule.high), (rule.low, high)]


def _value(text: str, rule: FieldRule) -> int:
    """The value of a number or of a name, full or short; -1 when it is neither."""
    if text.isdecimal():
        value, top = int(text), 7 if rule.role is Role.WEEKDAY else rule.high
        return value if rule.low <= value <= top else -1
    names = _FULL_NAMES.get(rule.role, ())
    found = [place for place, name in enumerate(names) if name.startswith(text.lower())]
    return rule.low + found[0] if found else -1


def _text(value: int, rule: FieldRule, *, is_word: bool) -> str:
    return _SHORT_NAMES[rule.role][value] if is_word else str(value)
