"""
Instants at the edge: aware datetimes and RFC 3339 text in, whole seconds inside, and back.

An instant that leaves Gnomon is in UTC: two datetimes in the same zone do not compare reliably
across a fold, and a UTC instant needs no zone to be understood. A datetime without an offset is
refused, because guessing its zone is how schedules go wrong.

Spec: TIME-1 to TIME-3.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from operator import index

from gnomon.core.civil.calendar import DAY, civil_from_days
from gnomon.errors import DefinitionError

__all__ = ["check_epoch", "format_instant", "from_epoch", "parse_instant", "to_epoch"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:[0-5]\d)", re.ASCII
)
_WITHOUT_OFFSET = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?", re.ASCII)
_CLOCK = [f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(1440)]
_SECONDS = [f"{second:02d}Z" for second in range(60)]


def to_epoch(at: datetime, *, where: str = "instant") -> int:
    """Whole seconds since 1970-01-01T00:00:00Z, rounded down."""
    if not isinstance(at, datetime) or at.utcoffset() is None:
        raise DefinitionError(
            "must be a datetime with a UTC offset", where=where, got=at,
            hint="attach a zone, e.g. datetime(2026, 3, 1, tzinfo=UTC)",
        )  # fmt: skip
    return (at - _EPOCH) // _SECOND


def check_epoch(epoch: int, *, where: str = "epoch") -> int:
    """`epoch` if it is a whole number; integers of other libraries become plain ones."""
    try:
        return index(epoch)
    except TypeError:
        raise DefinitionError(
            "must be whole seconds since 1970-01-01T00:00:00Z", where=where, got=epoch,
            hint="write an int, e.g. int(time.time()), or ask with a datetime",
        ) from None  # fmt: skip


def from_epoch(epoch: int) -> datetime:
    """The instant as an aware datetime in UTC."""
    return datetime.fromtimestamp(epoch, UTC)


def format_instant(epoch: int) -> str:
    """RFC 3339 in UTC without a fraction: `2026-03-01T00:00:00Z`."""
    second = epoch % DAY  # quicker than divmod, and this is written for every decision
    return f"{_format_day(epoch // DAY)}{_CLOCK[second // 60]}{_SECONDS[second % 60]}"


def parse_instant(text: str, *, where: str = "instant") -> datetime:
    """RFC 3339 text with an offset, as an aware datetime in UTC."""
    problem = "must be an RFC 3339 instant"
    if _WITHOUT_OFFSET.fullmatch(text):
        problem = "must be an RFC 3339 instant with its offset"
    elif _RFC3339.fullmatch(text):
        # A leap second is legal RFC 3339 and unknown to datetime; it ends with the next minute.
        body, leap = (
            (text[:17] + "59" + text[19:], _SECOND) if text[17:19] == "60" else (text, None)
        )
        try:
            at = datetime.fromisoformat(body.upper()).astimezone(UTC)
            return at + leap if leap else at
        except (ValueError, OverflowError):
            problem = "must be an instant that the calendar has"
    raise DefinitionError(
        problem, where=where, got=text, hint="write e.g. 2026-03-01T00:00:00Z or with +02:00"
    )


@lru_cache(4096)
def _format_day(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{year:04d}-{month:02d}-{day:02d}"
