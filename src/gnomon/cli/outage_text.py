"""
When is the program down? Text such as `01:55..03:10`, read in a zone and on a date.

Spec: SIMULATE-4.
"""

import re
from datetime import date, datetime, timedelta

from gnomon.core.civil.calendar import days_from_civil
from gnomon.core.civil.zone import Zone, load_zone
from gnomon.errors import DefinitionError
from gnomon.simulation.declarative.outage import Outage

__all__ = ["read_day", "read_outage"]

LENGTH_MAX_S = 366 * 86_400
_TIME = re.compile(r"(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d):(\d\d)(?::(\d\d))?", re.ASCII)
_HINT = "write e.g. 01:55..03:10, or 2026-03-29T01:55..2026-03-30T03:10"


def read_outage(text: str, *, day: date, zone: str, around: timedelta) -> Outage:
    """The outage, and what is looked at before and after it."""
    begin, separator, end = text.partition("..")
    if not separator:
        raise DefinitionError("must be two times", where="down", got=text, hint=_HINT)
    found = load_zone(zone)
    down = _instant(begin.strip(), text, day, found)
    up = _instant(end.strip(), text, day, found)
    if up <= down and "-" not in end:
        up = _instant(end.strip(), text, day + timedelta(days=1), found)  # over midnight
    if not 0 < up - down <= LENGTH_MAX_S:
        raise DefinitionError(
            "must end after it begins, within a year", where="down", got=text, hint=_HINT
        )
    margin = int(around.total_seconds())
    return Outage(down - margin, down, up, up + margin)


def read_day(text: str | None, *, now: datetime, zone: str) -> date:
    """The date in the zone; today unless it is given."""
    if text is None:
        offset = load_zone(zone).offset_at(int(now.timestamp()))
        return (now + timedelta(seconds=offset)).date()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise DefinitionError(
            "must be a date", where="date", got=text, hint="write e.g. 2026-03-29"
        ) from None


def _instant(text: str, whole: str, day: date, zone: Zone) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise DefinitionError("must be two times", where="down", got=whole, hint=_HINT)
    written, hour, minute, second = match.groups()
    try:
        found = day if written is None else date.fromisoformat(written)
        clock = timedelta(hours=int(hour), minutes=int(minute), seconds=int(second or 0))
        if clock >= timedelta(days=1) or int(minute) > 59 or int(second or 0) > 59:
            raise ValueError
    except ValueError:
        raise DefinitionError(
            "must be a time of a day", where="down", got=whole, hint=_HINT
        ) from None
    local = days_from_civil(found.year, found.month, found.day) * 86_400
    return _from_local(local + int(clock.total_seconds()), zone)


def _from_local(local: int, zone: Zone) -> int:
    """The first instant at which the clock shows this, or would have in a gap."""
    guess = local - zone.offset_at(local)
    earlier = local - zone.offset_at(guess - 86_400)
    return earlier if zone.offset_at(earlier) + earlier == local else guess
