"""
Instants as they stand on disk: RFC 3339 in UTC with milliseconds.

All texts have one width, `2026-03-01T00:00:00.000Z`, so that their order is the order of time and a
person can read a row. Inside, an instant is an integer of milliseconds; a nominal instant is one of
seconds.

Spec: LEDGER-3.
"""

from functools import lru_cache

from gnomon.core.civil.calendar import days_from_civil
from gnomon.core.civil.instant import format_instant
from gnomon.errors import DefinitionError

__all__ = [
    "BEGINNING",
    "END_MS",
    "check_instant",
    "from_text",
    "maybe_from_text",
    "maybe_to_text",
    "to_text",
]

BEGINNING = "1970-01-01T00:00:00.000Z"
END_MS = 253_402_300_800_000  # the year 10000, which would be a longer text
_CACHED = 8192


def check_instant(at_ms: int) -> None:
    """Refuse an instant that would be a longer text, or none."""
    if not 0 <= at_ms < END_MS:
        raise DefinitionError(
            "must lie between the years 1970 and 9999", where="instant", got=at_ms,
            hint="write milliseconds since 1970",
        )  # fmt: skip


@lru_cache(_CACHED)
def to_text(at_ms: int) -> str:
    check_instant(at_ms)
    return f"{format_instant(at_ms // 1000)[:-1]}.{at_ms % 1000:03d}Z"


@lru_cache(_CACHED)
def from_text(text: str) -> int:
    days = days_from_civil(int(text[:4]), int(text[5:7]), int(text[8:10]))
    seconds = days * 86_400 + int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    return seconds * 1000 + int(text[20:23])


def maybe_to_text(at_ms: int | None) -> str | None:
    return None if at_ms is None else to_text(at_ms)


def maybe_from_text(text: str | None) -> int | None:
    return None if text is None else from_text(text)
