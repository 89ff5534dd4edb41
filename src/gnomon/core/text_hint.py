"""
What is to be written where a text is wanted and a number, a list or the like was sent, or the
other way round?

What the hint says is accepted when it is written: a number of seconds since 1970 in place of an
instant is shown as that instant, and a number in place of a length of time with its unit.

Spec: SERVICE-9.
"""

import re

from gnomon.core.civil.instant import format_instant

__all__ = ["bare_hint", "text_hint"]

INSTANTS = (
    "anchor", "once", "start_at", "end_at", "until", "after", "start", "end", "scheduled_for", "at",
)  # fmt: skip
LENGTHS = ("every", "deadline", "launch_backoff", "start_by", "finish_by", "max_duration")
_EARLIEST, _LATEST = 631_152_000, 4_102_444_800
"""A number from 1990 to 2100 is mostly an instant, in seconds or thousandths."""
_DAY = 86_400
"""More seconds than these are hardly a length that its author meant."""
_BARE = re.compile(r"(true|false|-?[0-9]{1,18})(?:\.0+)?")


def text_hint(field: str, got: object) -> str:
    """What to write into this field."""
    number = got if isinstance(got, int | float) and not isinstance(got, bool) else None
    if field in INSTANTS:
        return f'write "{_instant(number)}"'
    if field in LENGTHS:
        whole = number is not None and number == int(number) and 0 < number <= _DAY
        return f'write "{int(number or 0)}s", if seconds are meant' if whole else 'write e.g. "90s"'
    return "write it in quotes"


def bare_hint(got: object, otherwise: str) -> str:
    """What to write where a number or a truth value is wanted: that one, if it was in quotes."""
    told = _BARE.fullmatch(str(got)) if isinstance(got, str | float) else None
    return f"write {told[1]}, without quotes" if told else otherwise


def _instant(number: float | None) -> str:
    for unit in (1, 1_000):
        if number is not None and _EARLIEST * unit <= number <= _LATEST * unit:
            return format_instant(int(number // unit))
    return "2027-01-01T00:00:00Z"
