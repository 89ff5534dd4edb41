"""
Durations as text: `1h30m`, `90s`, `500ms`, `1h0m0s`.

The form is Go's: an optional sign, then decimal numbers with a unit each. The resolution is one
microsecond; finer text is refused rather than rounded. Whether a duration may be negative is for
its user to say.

Spec: TIME-4.
"""

import re
from datetime import timedelta
from fractions import Fraction

from gnomon.errors import DefinitionError

__all__ = ["DURATION_MAX", "format_duration", "parse_duration", "short_duration"]

DURATION_MAX = timedelta(days=36_525)
"""A century; nothing that Gnomon schedules is longer."""

_UNIT_US: dict[str, int | Fraction] = {
    "ns": Fraction(1, 1_000), "us": 1, "µs": 1, "μs": 1, "ms": 1_000, "s": 1_000_000,
    "m": 60_000_000, "h": 3_600_000_000,
}  # fmt: skip
_TEXT_MAX = 64
_PART = r"(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_PARTS = re.compile(_PART, re.ASCII)
_WHOLE = re.compile(rf"[+-]?(?:{_PART})+", re.ASCII)
_HINT = "write e.g. 90s, 15m, 1h30m or 500ms"
_HOURS = {"d": 24, "w": 168}
_NOTHING = re.compile(r"(?<=[hm])0s|(?<=h)0m0s")
_DAYS_OR_WEEKS = re.compile(r"(\d{1,5})([dw])", re.ASCII)


def parse_duration(text: str, *, where: str = "duration") -> timedelta:
    """Go-style text as a timedelta."""
    if text in ("0", "+0", "-0"):
        return timedelta(0)
    if len(text) > _TEXT_MAX or not _WHOLE.fullmatch(text):
        raise DefinitionError("must be a duration", where=where, got=text, hint=_hint(text))
    total_us = sum(_number(text) * _UNIT_US[unit] for text, unit in _PARTS.findall(text))
    if total_us > DURATION_MAX // timedelta(microseconds=1):
        raise DefinitionError(
            "is longer than a century", where=where, got=text, hint="write at most 876600h"
        )
    if total_us != int(total_us):
        raise DefinitionError(
            "is finer than a microsecond", where=where, got=text, hint="write whole microseconds"
        )
    length = timedelta(microseconds=int(total_us))
    return -length if text.startswith("-") else length


def format_duration(length: timedelta) -> str:
    """The canonical text: `1h0m0s`, `15m0s`, `1.5s`, `500ms`, `0s`."""
    sign = "-" if length < timedelta(0) else ""
    total_us = abs(length) // timedelta(microseconds=1)
    if total_us < 1_000_000:
        return sign + _format_fraction(total_us)
    minutes, us = divmod(total_us, 60_000_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{_format_decimal(us, 6)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else sign + text


def short_duration(length: timedelta) -> str:
    """The text for people: `24h` and not `24h0m0s`; it reads back as the same length."""
    return _NOTHING.sub("", format_duration(length))


def _hint(text: str) -> str:
    found = _DAYS_OR_WEEKS.search(text)
    if found is None:
        return _HINT
    number, unit = found.groups()
    if found[0] == text:
        return f"there is no unit {unit}; write {int(number) * _HOURS[unit]}h"
    return f"there is no unit {unit}; write {_HOURS[unit]}h for each"


def _number(text: str) -> int | Fraction:
    return int(text) if text.isdigit() else Fraction(text)


def _format_fraction(us: int) -> str:
    if us == 0:
        return "0s"
    return f"{us}µs" if us < 1_000 else f"{_format_decimal(us, 3)}ms"


def _format_decimal(value: int, places: int) -> str:
    whole, rest = divmod(value, 10**places)
    return f"{whole}.{rest:0{places}d}".rstrip("0") if rest else str(whole)
