"""
What is wrong with a cron text, in words.

`parse` only knows that it cannot read an element. Here the element is looked at again, slowly, to
say which rule it breaks, where, and what to write instead. A reason is written to follow the words
"<field> field", as the message of `InvalidCronExpressionError` does.

Spec: POSIX-6 to POSIX-15, CRON-11 to CRON-13.
"""

import re
from typing import NamedTuple

from gnomon.core.cron.dialect import MACROS, MONTH_NAMES, WEEKDAY_NAMES, Dialect, FieldRule, Role
from gnomon.core.cron.foreign import (
    is_jenkins,
    jenkins_values,
    name_of_weekday,
    quartz_weekdays,
    translated,
)

__all__ = [
    "Complaint",
    "complain_of_element",
    "complain_of_field_count",
    "complain_of_macro",
    "complain_of_never",
    "complain_of_text",
]

_WHOLE = "expression"
_SHOWN_MAX = 40
_NAMES = {Role.MONTH: MONTH_NAMES, Role.WEEKDAY: WEEKDAY_NAMES}
_NUMBER = re.compile(r"\d{1,1024}", re.ASCII)
_RANGE = re.compile(r"(\d{1,512})-(\d{1,512})", re.ASCII)
_ODD_NUMBER = re.compile(
    r"[+-]\d[^,]*|\d+\.\d*|\.\d+|\d+[eE][+-]?\d+|0[xXoObB][0-9a-fA-F]+|\d[\d_]*", re.ASCII
)
_QUARTZ = re.compile(
    r"\?|L|LW|L-\d+|\d+W|[A-Za-z]{3}L|\dL|[A-Za-z\d]+#\d+", re.ASCII | re.IGNORECASE
)


class Complaint(NamedTuple):
    """One thing that is wrong: what, where, and what to write instead."""

    field: str
    value: str
    """The text of the field."""
    offset: int
    """Where in the field."""
    position: int
    """Where in the whole text."""
    reason: str
    hint: str


def complain_of_text(text: object, length_max: int) -> Complaint:
    """The text as a whole cannot be a cron expression."""
    if not isinstance(text, str):
        return _whole("", 0, f"must be text, got {type(text).__name__}", 'write e.g. "0 3 * * *"')
    if len(text) > length_max:
        reason = f"must have at most {length_max} characters, got {len(text)}"
        return _whole(text, length_max, reason, "split it into several schedules")
    position, character = next(
        (index, character)
        for index, character in enumerate(text)
        if character != "\t" and not (character.isascii() and character.isprintable())
    )
    reason = f"must be printable ASCII with spaces and tabs, got {character!r}"
    hint = "write the digits 0 to 9" if character.isdigit() else "separate fields with spaces"
    return _whole(text, position, reason, hint)


def complain_of_field_count(text: str, fields: list[str], dialect: Dialect) -> Complaint:
    """There are too few fields or too many."""
    names = " ".join(rule.role for rule in dialect.fields)
    wanted = "exactly 5 fields"
    if dialect.seconds is not None:
        wanted = "5 fields, or 6 with seconds first"
    reason = f"must have {wanted}, separated by spaces or tabs, got {len(fields)}"
    return _whole(text, min(len(text), _start(text, 5)), reason, f"write {names}")


def complain_of_macro(text: str, macro: str, dialect: Dialect) -> Complaint:
    """The text is a macro that the dialect does not know."""
    position = text.index("@")
    meaning = MACROS.get(macro.lower())
    if not dialect.macros:
        hint = f"write {meaning}" if meaning else "write five fields"
        return _whole(text, position, f'must not be a macro ("{_cut(macro)}")', hint)
    reason = f'must not be the unknown macro "{_cut(macro)}"'
    return _whole(text, position, reason, f"write one of {', '.join(dialect.macros)}")


def complain_of_never(text: str, fields: list[str], day_index: int, dialect: Dialect) -> Complaint:
    """No month that is asked for has the day that is asked for."""
    day = fields[day_index]
    reason = f'must name a day that exists ("{_cut(day)}" never occurs in the months chosen)'
    last_day = ", L for the last day of the month" if dialect.month_days else ""
    hint = f"write an earlier day{last_day}, or another month"
    return Complaint(Role.DAY, day, 0, _start(text, day_index), reason, hint)


def complain_of_element(
    text: str, index: int, elements: list[str], element: str, rule: FieldRule, dialect: Dialect
) -> Complaint:
    """An element of a field's list cannot be read; it is the first of its kind."""
    offset = sum(len(before) + 1 for before in elements[: elements.index(element)])
    reason, hint = _reason(element, rule, dialect, text.split())
    value = ",".join(elements)
    return Complaint(rule.role, value, offset, _start(text, index) + offset, reason, hint)


def _reason(element: str, rule: FieldRule, dialect: Dialect, fields: list[str]) -> tuple[str, str]:
    shown = f'("{_cut(element)}")'
    if element == "":
        return "must not have an empty list element", "remove the comma or write a value"
    if element == "*":
        return 'must not mix "*" with other elements', 'write "*" alone'
    if "@" in element:
        return f"must not contain a macro {shown}", "write a macro alone, or numbers"
    if is_jenkins(element):
        return _jenkins_reason(element, rule)
    if "/" in element:
        return _step_reason(element, rule, dialect, fields)
    if _NUMBER.fullmatch(element):
        return _number_reason(element, rule)
    if bounds := _RANGE.fullmatch(element):
        return _range_reason(element, bounds[1], bounds[2], rule, dialect)
    if _ODD_NUMBER.fullmatch(element):
        return f"must be plain decimal digits {shown}", f"write {rule.low} to {rule.top}"
    if _QUARTZ.fullmatch(element):
        return _quartz_reason(element, rule, dialect, fields)
    return _word_reason(element, rule, dialect)


def _jenkins_reason(element: str, rule: FieldRule) -> tuple[str, str]:
    values = jenkins_values(element, rule)
    hint = f"write e.g. {values}: Jenkins picks a value for H" if values else "write a list"
    return f'must not use the H of Jenkins ("{_cut(element)}")', hint


def _step_reason(
    element: str, rule: FieldRule, dialect: Dialect, fields: list[str]
) -> tuple[str, str]:
    values = translated(element, rule, dialect)
    if not dialect.steps:
        hint = f"write {values}" if values else "write a list of values"
        if element[0] == "*" and _other_day_is_restricted(rule, fields):
            hint = "use the dialect vixie, where both days must match; of a list either may"
        return f'must not use step syntax ("{_cut(element)}")', hint
    body, _, step = element.partition("/")
    if values and not dialect.bare_steps and "-" not in body:
        hint = f"write {body}-{rule.high}/{step}" if body != "7" else f"write {values}"
        return f'must have a range before the step ("{_cut(element)}")', hint
    count = rule.high - rule.low + 1
    reason = f'must step by 1 to {count} over a valid range ("{_cut(element)}")'
    if values:
        return reason, f"write {values}"
    return reason, f"write e.g. */{min(count, 5)} or {rule.low}-{rule.high}/2"


def _other_day_is_restricted(rule: FieldRule, fields: list[str]) -> bool:
    """Whether the day field that this one is not says anything."""
    if rule.role is Role.DAY:
        return fields[-1] not in ("*", "?")
    return rule.role is Role.WEEKDAY and fields[-3] not in ("*", "?")


def _number_reason(element: str, rule: FieldRule) -> tuple[str, str]:
    if rule.role is Role.WEEKDAY and element.strip("0") == "7":
        return "must not be 7", "write 0 for Sunday"
    number = element.lstrip("0") or "0"
    reason = f"must lie between {rule.low} and {rule.top}, got {_cut(number)}"
    return reason, f"write {rule.low} to {rule.top}"


def _range_reason(
    element: str, low: str, high: str, rule: FieldRule, dialect: Dialect
) -> tuple[str, str]:
    values = translated(element, rule, dialect)
    for bound in (low, high):
        if len(bound.lstrip("0")) > 2 or not rule.low <= int(bound) <= rule.top:
            reason, hint = _number_reason(bound, rule)
            return reason, f"write {values}" if values else hint
    return f'must not have a range that wraps around ("{_cut(element)}")', f"write {values}"


def _quartz_reason(
    element: str, rule: FieldRule, dialect: Dialect, fields: list[str]
) -> tuple[str, str]:
    if element == "?":
        return 'must not use "?"', _question_hint(rule, fields)
    if not dialect.month_days:
        return f'must not use L, W or # ("{_cut(element)}")', _month_day_hint(element, rule)
    if rule.role is Role.DAY:
        hint = "write L, LW, or a day from 1 to 31 followed by W"
        return f'must not use "{_cut(element)}"', hint
    if rule.role is Role.WEEKDAY:
        hint = "write e.g. 5L for the last Friday, 5#2 for the second one, or 6 for Saturday"
        return f'must not use "{_cut(element)}"', hint
    return f'must not use L, W or # ("{_cut(element)}")', "use them for days and weekdays only"


def _question_hint(rule: FieldRule, fields: list[str]) -> str:
    """Where there is a question mark, weekdays are counted as Quartz does."""
    if rule.role not in (Role.DAY, Role.WEEKDAY):
        return f"write {rule.low} to {rule.top}"
    weekday = quartz_weekdays(fields[-1])
    if weekday == fields[-1]:
        return 'write "*"'
    whole = " ".join("*" if field == "?" else field for field in [*fields[:-1], weekday])
    return f"write the whole as {whole}: Quartz counts weekdays from 1 for Sunday"


def _month_day_hint(element: str, rule: FieldRule) -> str:
    if rule.role not in (Role.DAY, Role.WEEKDAY):
        return f"write {rule.low} to {rule.top}"
    if rule.role is Role.WEEKDAY and element.upper() == "L":
        return "write 6: L alone is Saturday"
    if element[0].isdigit() and rule.role is Role.WEEKDAY:
        value, rest = int(element[0]), element[1:]
        return (
            "list the days, or use the dialect standard and write "
            f"{name_of_weekday(value - 1)}{rest} for Quartz, else {name_of_weekday(value)}{rest}"
        )
    if "-" in element:
        return "list the days"
    return "list the days, or use the dialect standard"


def _word_reason(element: str, rule: FieldRule, dialect: Dialect) -> tuple[str, str]:
    values, words = translated(element, rule, dialect), element.lower().split("-")
    if values:
        if not rule.names:
            return f'must not use names ("{_cut(element)}")', f"write {values}"
        if any(word.isalpha() and word not in rule.names for word in words):
            return f'must use three-letter names ("{_cut(element)}")', f"write {values}"
        return f'must not have a range that wraps around ("{_cut(element)}")', f"write {values}"
    if any(word[:3] in names for names in _NAMES.values() for word in words):
        return f'must not use names ("{_cut(element)}")', f"write {rule.low} to {rule.top}"
    reason = f'must be numbers, ranges or lists of them ("{_cut(element)}")'
    return reason, f"write values from {rule.low} to {rule.top}"


def _whole(text: str, position: int, reason: str, hint: str) -> Complaint:
    return Complaint(_WHOLE, text, position, position, reason, hint)


def _start(text: str, index: int) -> int:
    """Where the field with this number begins; the end of the text if there is none."""
    for number, found in enumerate(re.finditer(r"[^ \t]+", text)):
        if number == index:
            return found.start()
    return len(text)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[: _SHOWN_MAX - 1]}…"
