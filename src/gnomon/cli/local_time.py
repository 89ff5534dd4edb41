"""
How an instant looks on a clock in its zone, and what is unusual about the clock that day.

The notes answer what a person would ask on the day the clocks change: was this time moved because
it does not exist, is it the first or the second of two, was one left out before it?

Spec: CLI-7, CLI-8.
"""

from itertools import pairwise

from gnomon.core.civil.calendar import DAY, civil_from_days, weekday
from gnomon.core.civil.zone import Zone
from gnomon.core.cron.dialect import Dst
from gnomon.core.cron.local import LocalMatches
from gnomon.core.recurrence import Cron

__all__ = ["distance", "local_text", "note_of", "weekday_text"]

_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def local_text(zone: Zone, epoch: int) -> str:
    """`2026-03-29 03:00:00 +03:00`."""
    offset = zone.offset_at(epoch)
    local = epoch + offset
    return f"{_date(local)} {_clock(local)}:{local % 60:02d} {_offset_text(offset)}"


def weekday_text(zone: Zone, epoch: int) -> str:
    """`Mon`, in local time."""
    return _WEEKDAYS[weekday((epoch + zone.offset_at(epoch)) // DAY)]


def distance(seconds: int) -> str:
    """`in 3 h 20 min`: the largest unit and the one below it."""
    for (size, unit), (below, unit_below) in pairwise(_UNITS):
        if seconds >= size:
            rest = seconds % size // below
            more = f" {rest} {unit_below}" if rest else ""
            return f"in {seconds // size} {unit}{more}"
    return f"in {seconds} s"


def note_of(cron: Cron | None, zone: Zone, epoch: int, *, previous: int) -> str:
    """What is unusual about an occurrence; `previous` is the one before, or where asking began."""
    notes = [*_repetition(zone, epoch), *_changes_of_day(zone, epoch)]
    if cron is not None:
        notes = [*_missed(cron, previous, epoch), *notes]
    return "; ".join(notes)


def _missed(cron: Cron, previous: int, epoch: int) -> list[str]:
    """Local times since the previous occurrence that a gap swallowed, and what came of them."""
    matches = LocalMatches(cron.expression)
    notes = []
    for at, before, after in cron.zone.changes(previous + 1, epoch + 1):
        start, end = at + before, at + after
        if start >= end or not matches.has_any(start, end):
            continue
        local = epoch + after
        missing = _missing(matches, start, end, beside=local)
        if cron.dst is Dst.VIXIE and not cron.expression.wildcard:
            if epoch == at + -end % 60:  # the first whole minute after the gap
                is_match = matches.has_any(local, local + 1)
                notes.append(f"{'also for' if is_match else 'moved'}: {missing}")
        elif not (cron.expression.wildcard and local // DAY == end // DAY):
            # For what runs again and again that day, the change of the clock says it all.
            notes.append(f"skipped: {missing}")
    return notes


def _missing(matches: LocalMatches, start: int, end: int, *, beside: int) -> str:
    """`02:30 does not exist`, for the matches with `start <= local < end`."""
    first, last = matches.after(start - 1), matches.at_or_before(end - 1)
    assert first is not None
    assert last is not None
    if first == last:
        return f"{_named(first, beside)} does not exist"
    return f"{_named(first, beside)} to {_named(last, first)} do not exist"


def _repetition(zone: Zone, epoch: int) -> list[str]:
    """Whether the local time occurs twice."""
    local = epoch + zone.offset_at(epoch)
    for at, before, after in zone.changes(epoch - 2 * DAY, epoch + 2 * DAY):
        if at + after <= local < at + before:
            return [f"{'first' if epoch < at else 'second'} of two {_clock(local)}"]
    return []


def _changes_of_day(zone: Zone, epoch: int) -> list[str]:
    """The changes of the clock on the local day of an instant."""
    local = epoch + zone.offset_at(epoch)
    notes = []
    for at, before, after in zone.changes(epoch - 2 * DAY, epoch + 2 * DAY):
        old, new = at + before, at + after
        days = {old // DAY, new // DAY} if new > old else {(old - 1) // DAY, new // DAY}
        if local // DAY in days:
            way = "forward" if new > old else "back"
            notes.append(f"clocks go {way} {_named(old, new)} -> {_named(new, old)} this day")
    return notes


def _named(local: int, beside: int) -> str:
    """A local time, with its date unless that is the date of the other one."""
    clock = _clock(local) + (f":{local % 60:02d}" if local % 60 else "")
    return clock if local // DAY == beside // DAY else f"{_date(local)} {clock}"


def _date(local: int) -> str:
    year, month, day = civil_from_days(local // DAY)
    return f"{year:04d}-{month:02d}-{day:02d}"


def _clock(local: int) -> str:
    return f"{local % DAY // 3600:02d}:{local % 3600 // 60:02d}"


def _offset_text(offset: int) -> str:
    sign, size = "-" if offset < 0 else "+", abs(offset)
    text = f"{sign}{size // 3600:02d}:{size % 3600 // 60:02d}"
    return f"{text}:{size % 60:02d}" if size % 60 else text
