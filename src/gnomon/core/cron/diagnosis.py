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
_STEP = re.compile(r"(\*|\d{1,3}|\d{1,3}-\d{1,3})/(\d{1,3})", re.ASCII)
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
    reason, hint = _reason(element, rule, dialect)
    value = ",".join(elements)
    return Complaint(rule.role, value, offset, _start(text, index) + offset, reason, hint)


def _reason(element: str, rule: FieldRule, dialect: Dialect) -> tuple[str, str]:
    shown = f'("{_cut(element)}")'
    if element == "":
        return "must not have an empty list element", "remove the comma or write a value"
    if element == "*":
        return 'must not mix "*" with other elements', 'write "*" alone'
    if "@" in element:
        return f"must not contain a macro {shown}", "write a macro alone, or numbers"
    if "/" in element:
        return _step_reason(element, rule, dialect)
    if _NUMBER.fullmatch(element):
        return _number_reason(element, rule)
    if bounds := _RANGE.fullmatch(element):
        return _range_reason(element, bounds[1], bounds[2], rule)
    if _ODD_NUMBER.fullmatch(element):
        return f"must be plain decimal digits {shown}", f"write {rule.low} to {rule.top}"
    if _QUARTZ.fullmatch(element):
        return _quartz_reason(element, rule, dialect)
    return _word_reason(element, rule)


def _step_reason(element: str, rule: FieldRule, dialect: Dialect) -> tuple[str, str]:
    parts = _STEP.fullmatch(element)
    values = _step_values(parts[1], int(parts[2]), rule) if parts else []
    if not dialect.steps:
        hint = f"write {','.join(map(str, values))}" if values else "write a list of values"
        return f'must not use step syntax ("{_cut(element)}")', hint
    if values and not dialect.bare_steps and "-" not in element:
        hint = f"write {element.replace('/', f'-{rule.high}/')}"
        return f'must have a range before the step ("{_cut(element)}")', hint
    count = rule.high - rule.low + 1
    reason = f'must step by 1 to {count} over a valid range ("{_cut(element)}")'
    return reason, f"write e.g. */{min(count, 5)} or {rule.low}-{rule.high}/2"


def _step_values(body: str, step: int, rule: FieldRule) -> list[int]:
    low_text, _, high_text = body.partition("-")
    low = rule.low if body == "*" else int(low_text)
    high = int(high_text) if high_text else rule.high
    if not (rule.low <= low <= high <= rule.high) or not 1 <= step <= rule.high - rule.low + 1:
        return []
    return list(range(low, high + 1, step))


def _number_reason(element: str, rule: FieldRule) -> tuple[str, str]:
    if rule.role is Role.WEEKDAY and element.strip("0") == "7":
        return "must not be 7", "write 0 for Sunday"
    number = element.lstrip("0") or "0"
    reason = f"must lie between {rule.low} and {rule.top}, got {_cut(number)}"
    return reason, f"write {rule.low} to {rule.top}"


def _range_reason(element: str, low: str, high: str, rule: FieldRule) -> tuple[str, str]:
    for bound in (low, high):
        if len(bound.lstrip("0")) > 2 or not rule.low <= int(bound) <= rule.top:
            return _number_reason(bound, rule)
    hint = f"write {int(low)}-{rule.high},{rule.low}-{int(high)}"
    return f'must not have a range that wraps around ("{_cut(element)}")', hint


def _quartz_reason(element: str, rule: FieldRule, dialect: Dialect) -> tuple[str, str]:
    if element == "?":
        return 'must not use "?"', 'write "*"'
    if not dialect.month_days:
        hint = "list the days, or use the dialect standard"
        return f'must not use L, W or # ("{_cut(element)}")', hint
    if rule.role is Role.DAY:
        hint = "write L, LW, or a day from 1 to 31 followed by W"
        return f'must not use "{_cut(element)}"', hint
    if rule.role is Role.WEEKDAY:
        hint = "write e.g. 5L for the last Friday, 5#2 for the second one, or 6 for Saturday"
        return f'must not use "{_cut(element)}"', hint
    return f'must not use L, W or # ("{_cut(element)}")', "use them for days and weekdays only"


def _word_reason(element: str, rule: FieldRule) -> tuple[str, str]:
    words = element.lower().split("-")
    for word in words:
        value = _NAMES.get(rule.role, {}).get(word[:3])
        if value is None or not _is_full_name(word, value, rule):
            continue
        if not rule.names:
            return f'must not use names ("{_cut(element)}")', f"write {value}"
        if word not in rule.names:
            return f'must use three-letter names ("{_cut(element)}")', f"write {word[:3]}"
    if any(word[:3] in names for names in _NAMES.values() for word in words):
        if rule.names and len(words) == 2:
            hint = _unwrapped(words, list(rule.names))
            return f'must not have a range that wraps around ("{_cut(element)}")', hint
        return f'must not use names ("{_cut(element)}")', f"write {rule.low} to {rule.top}"
    reason = f'must be numbers, ranges or lists of them ("{_cut(element)}")'
    return reason, f'write "*" or values from {rule.low} to {rule.top}'


def _unwrapped(words: list[str], names: list[str]) -> str:
    """`fri-mon` as `fri-sat,sun-mon`."""
    low, high = words
    if low not in names or high not in names:
        return "write a list"
    start = low if low == names[-1] else f"{low}-{names[-1]}"
    return f"write {start},{names[0] if high == names[0] else f'{names[0]}-{high}'}"


def _is_full_name(word: str, value: int, rule: FieldRule) -> bool:
    full = _FULL_MONTHS[value - 1] if rule.role is Role.MONTH else _FULL_WEEKDAYS[value]
    return full.startswith(word)


_FULL_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_FULL_WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


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
