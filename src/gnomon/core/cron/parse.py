"""
Text to `Expression`: one reader for all dialects.

The reader splits and looks up; it never backtracks, and its work grows with the length of the text,
which is limited. When something is wrong it raises `InvalidCronExpressionError`, whose cause is the
`FieldParseError` of the field; `diagnosis` finds the words.

Nothing is cached: reading costs less than most caches would.

Spec: POSIX-1 to POSIX-16, CRON-1 to CRON-17.
"""

from typing import NoReturn

from gnomon.core.cron.days import can_match
from gnomon.core.cron.diagnosis import (
    Complaint,
    complain_of_element,
    complain_of_field_count,
    complain_of_macro,
    complain_of_never,
    complain_of_text,
)
from gnomon.core.cron.dialect import Dialect, FieldRule, Role
from gnomon.core.cron.expression import (
    LAST_DAY,
    LAST_WORKDAY,
    ON_THE_MINUTE,
    DayRule,
    Expression,
    last_weekday_bit,
    nearest_workday_bit,
    nth_weekday_bit,
)
from gnomon.errors import FieldParseError, InvalidCronExpressionError

__all__ = ["TEXT_MAX", "parse"]

TEXT_MAX = 1024
"""The longest text that is read, in characters."""

_TOO_LARGE = 100  # for every field

# A day up to the 28th exists in every month; only beyond that can an expression match nothing.
_DAYS_OF_EVERY_MONTH = (1 << 29) - 2


def parse(text: str, dialect: Dialect) -> Expression:
    """The expression that `text` writes in `dialect`."""
    fields = _split(text, dialect)
    second_mask, shift = ON_THE_MINUTE, len(fields) - 5
    if shift == 1 and dialect.seconds is not None:
        second, *fields = fields
        second_mask = dialect.seconds.whole.get(second) or _field(
            second, dialect.seconds, 0, text, dialect
        )
    if len(fields) != 5:
        _refuse(text, complain_of_field_count(text, fields, dialect))
    minute, hour, day, month, weekday = fields
    at_minute, at_hour, on_day, in_month, on_weekday = dialect.fields
    days = DayRule(
        on_day.whole.get(day) or _field(day, on_day, 2 + shift, text, dialect),
        in_month.whole.get(month) or _field(month, in_month, 3 + shift, text, dialect),
        on_weekday.whole.get(weekday) or _field(weekday, on_weekday, 4 + shift, text, dialect),
        "*" not in (day, weekday)
        and not (dialect.star_prefix_is_free and "*" in (day[0], weekday[0])),
    )
    if not days.day & _DAYS_OF_EVERY_MONTH and not days.either and not can_match(days):
        _refuse(text, complain_of_never(text, fields, 2 + shift, dialect))
    return Expression(
        text,
        dialect.name,
        second_mask,
        at_minute.whole.get(minute) or _field(minute, at_minute, shift, text, dialect),
        at_hour.whole.get(hour) or _field(hour, at_hour, 1 + shift, text, dialect),
        days,
        minute[0] == "*" or hour[0] == "*",
    )


def _split(text: str, dialect: Dialect) -> list[str]:
    if not isinstance(text, str) or len(text) > TEXT_MAX:
        _refuse(text, complain_of_text(text, TEXT_MAX))
    # In printable ASCII the only white space is the blank; a tab is the one exception allowed.
    if not (text.isascii() and text.isprintable()):
        text_without_tabs = text.replace("\t", " ")
        if not (text_without_tabs.isascii() and text_without_tabs.isprintable()):
            _refuse(text, complain_of_text(text, TEXT_MAX))
    fields = text.split()
    if len(fields) == 1 and fields[0][0] == "@":
        macro = dialect.macros.get(fields[0].lower())
        if macro is None:
            _refuse(text, complain_of_macro(text, fields[0], dialect))
        return macro.split()
    return fields


def _field(text: str, rule: FieldRule, index: int, whole: str, dialect: Dialect) -> int:
    """The mask of a field that is more than a star or a single value."""
    mask, single = 0, rule.single
    for element in text.split(","):
        found = single.get(element) or _range(element, rule) or _element(element, rule, dialect)
        if not found:
            elements = text.split(",")
            _refuse(whole, complain_of_element(whole, index, elements, element, rule, dialect))
        mask |= found
    return mask


def _range(text: str, rule: FieldRule) -> int:
    """The mask of a plain range; 0 for anything that needs a closer look."""
    low_text, _, high_text = text.partition("-")
    low, high = rule.values.get(low_text), rule.values.get(high_text, -1)
    if low is None or not low <= high <= rule.high:
        return 0
    return (2 << high) - (1 << low)


def _element(text: str, rule: FieldRule, dialect: Dialect) -> int:
    """The mask of any element that the dialect allows; 0 when it is wrong."""
    body, slash, step_text = text.partition("/")
    step = 1
    if slash:
        step = _number(step_text)
        if not dialect.steps or not 1 <= step <= rule.high - rule.low + 1:
            return 0
        if body == "*":
            return _stepped(rule.low, rule.high, step)
        if not dialect.bare_steps and "-" not in body:
            return 0
    low_text, dash, high_text = body.partition("-")
    low = _value(low_text, rule)
    if low < 0:
        return _month_day(text, rule) if dialect.month_days else 0
    # A single value with a step runs to the end of the field.
    high = _value(high_text, rule) if dash else rule.high if slash else low
    if high == 0 < low and rule.sunday_is_7_too and high_text.isalpha():
        high = 7  # a range that ends on "sun" ends the week
    mask = _stepped(low, high, step) if low <= high else 0
    # Sunday may be written as 7; here it is 0.
    return mask & rule.every | mask >> 7 & 1 if rule.sunday_is_7_too else mask


def _month_day(text: str, rule: FieldRule) -> int:
    """The bit of a day that depends on the month; 0 when the text is none."""
    text = text.upper()
    if rule.role is Role.DAY:
        if text in ("L", "LW"):
            return LAST_DAY if text == "L" else LAST_WORKDAY
        day = _value(text[:-1], rule) if text.endswith("W") else -1
        return nearest_workday_bit(day) if day >= 0 else 0
    if rule.role is Role.WEEKDAY:
        name, hash_sign, nth = text.partition("#")
        if hash_sign:
            weekday = _value(name, rule)
            return nth_weekday_bit(weekday % 7, _number(nth)) if _is_nth(weekday, nth) else 0
        weekday = _value(text[:-1], rule) if text.endswith("L") else -1
        return last_weekday_bit(weekday % 7) if weekday >= 0 else 0
    return 0


def _is_nth(weekday: int, nth: str) -> bool:
    return weekday >= 0 and 1 <= _number(nth) <= 5


def _value(text: str, rule: FieldRule) -> int:
    """The value of a number or name of this field; -1 when it is neither."""
    value = rule.values.get(text, -1)
    if value < 0:  # leading zeros, or a name in another case
        value = (
            rule.values.get(text.lstrip("0") or text[:1], -1)
            if text.isdecimal()
            else (rule.names.get(text.lower(), -1))
        )
    return value


def _number(text: str) -> int:
    """The value of decimal digits; -1 for anything else."""
    # The whole text is known to be ASCII here, so that `isdecimal` means the digits 0 to 9.
    if not text.isdecimal():
        return -1
    return int(text) if len(text) <= 2 or len(text.lstrip("0")) <= 2 else _TOO_LARGE


def _stepped(low: int, high: int, step: int) -> int:
    if step == 1:
        return (2 << high) - (1 << low)
    # The sum of the powers of two is a geometric series.
    count = (high - low) // step + 1
    return ((1 << count * step) - 1) // ((1 << step) - 1) << low


def _refuse(text: str, complaint: Complaint) -> NoReturn:
    cause = FieldParseError(
        complaint.reason,
        field_name=complaint.field,
        field_value=complaint.value,
        offset=complaint.offset,
        hint=complaint.hint,
    )
    raise InvalidCronExpressionError(
        str(text),
        field=complaint.field,
        reason=complaint.reason,
        position=complaint.position,
        hint=complaint.hint,
    ) from cause
