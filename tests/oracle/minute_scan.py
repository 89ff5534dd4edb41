"""
When does a cron expression occur? The independent judge: look at every minute.

`occurrences` walks every local minute of a UTC range, one stretch of constant offset after the
other as zoneinfo reports them, asks the plain predicates of `reading` about each, and then applies
one of three rules for daylight saving time:

- strict: a local time in a gap never happens; of a repeated local time only the first counts.
- civil: a local time in a gap never happens; a repeated local time counts each time.
- vixie: where minute or hour begins with `*`, as civil. Otherwise the first of a repeated time
  counts, and a gap that swallows one or more matching times gives one occurrence at the first
  whole local minute at or after the gap's end.

`next_scan` and `latest_scan` search with `occurrences` alone. To reach far answers they skip
whole days on which no date can match, and nothing else.
Nothing here is shared with `gnomon.core`, and speed is bought only by letting NumPy do the walk.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tests.oracle.reading import Reading, matching_days, read
from tests.oracle.transitions import HORIZON_END, Segment, segments

__all__ = ["DST_POLICIES", "latest_scan", "next_scan", "occurrences", "occurs"]

DST_POLICIES = ("strict", "vixie", "civil")

_DAY = 86_400
_NEAR = 3 * 3_600  # the first range searched: dense expressions need no more
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
# A local date spans UTC instants at most this far from its own midnight and end.
_OFFSET_MAX = 26 * 3_600
# A local time repeats an earlier one only if that one lies less than this before it.
_FOLD_MAX = 2 * _DAY

Instants = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def occurrences(text: str, *, dialect: str, zone: str, dst: str, start: int, end: int) -> list[int]:
    """Every occurrence with start <= instant < end, in order, inside the horizon."""
    start, end = max(start, 0), min(end, HORIZON_END)
    return _scan(read(text, dialect), zone, dst, start, end) if start < end else []


def occurs(text: str, *, dialect: str, zone: str, dst: str, at: int) -> bool:
    found = occurrences(text, dialect=dialect, zone=zone, dst=dst, start=at, end=at + 1)
    return found == [at]


def next_scan(text: str, *, dialect: str, zone: str, dst: str, after: int) -> int | None:
    """The first occurrence strictly after an instant."""
    reading = read(text, dialect)
    for start, end in _ranges_after(reading, max(after + 1, 0)):
        if found := _scan(reading, zone, dst, max(start, after + 1, 0), min(end, HORIZON_END)):
            return found[0]
    return None


def latest_scan(text: str, *, dialect: str, zone: str, dst: str, at: int) -> int | None:
    """The last occurrence at or before an instant."""
    reading = read(text, dialect)
    for start, end in _ranges_before(reading, min(at, HORIZON_END - 1)):
        if found := _scan(reading, zone, dst, max(start, 0), min(end, at + 1, HORIZON_END)):
            return found[-1]
    return None


def _scan(reading: Reading, zone: str, dst: str, start: int, end: int) -> list[int]:
    """The walk itself. Policies differ only in what they do with repeated and swallowed times."""
    if start >= end:
        return []
    fixed = dst == "vixie" and reading.fixed
    parts = _overlapping(zone, start - _FOLD_MAX, end)
    found: set[int] = set()
    for index, part in enumerate(parts):
        inside = _within(part, start, end)
        local = _matching_local_times(reading, inside.local_start, inside.local_end)
        if dst == "strict" or fixed:
            local = local[~_happened_before(local, parts[:index])]
        found.update((local - part.offset).tolist())
    if fixed:
        found.update(at for at in _gap_ends(reading, parts) if start <= at < end)
    return sorted(found)


def _gap_ends(reading: Reading, parts: list[Segment]) -> Iterator[int]:
    """For each gap with a matching time in it: the first whole local minute that exists again."""
    for old, new in pairwise(parts):
        gap_start, gap_end = old.local_end, new.local_start
        if gap_start < gap_end and _matching_local_times(reading, gap_start, gap_end).size:
            whole_minute = -(-gap_end // 60) * 60
            yield whole_minute - new.offset


def _happened_before(local: Instants, earlier: list[Segment]) -> Flags:
    """Which local times have already been seen under an earlier offset."""
    seen = np.zeros(local.shape, dtype=np.bool_)
    for part in earlier:
        seen |= (part.local_start <= local) & (local < part.local_end)
    return seen


def _matching_local_times(reading: Reading, start: int, end: int) -> Instants:
    """Every local time in [start, end) that matches; local times are seconds as if in UTC."""
    if start >= end:
        return np.empty(0, dtype=np.int64)
    minutes = np.arange(start // 60, -(-end // 60), dtype=np.int64)
    day = minutes // 1440
    good = _day_flags(reading, int(day[0]), int(day[-1]))[day - day[0]]
    good &= _minute_flags(reading)[minutes % 1440]
    seconds = np.array(sorted(reading.seconds), dtype=np.int64)
    times: Instants = (minutes[good][:, None] * 60 + seconds).ravel()
    return times[(times >= start) & (times < end)]


def _day_flags(reading: Reading, first: int, last: int) -> Flags:
    return np.array([_is_day(reading, number) for number in range(first, last + 1)], dtype=np.bool_)


def _is_day(reading: Reading, number: int) -> bool:
    on = date.fromordinal(_EPOCH_ORDINAL + number)
    return on.day in matching_days(reading, on.year, on.month)


@lru_cache(maxsize=4_096)
def _minute_flags(reading: Reading) -> Flags:
    flags = [h in reading.hours and m in reading.minutes for h in range(24) for m in range(60)]
    return np.array(flags, dtype=np.bool_)


def _overlapping(zone: str, start: int, end: int) -> list[Segment]:
    parts = segments(zone)
    first = bisect_right(parts, start, key=lambda part: part.end)
    last = bisect_left(parts, end, key=lambda part: part.start)
    return list(parts[first:last])


def _within(part: Segment, start: int, end: int) -> Segment:
    return Segment(start=max(part.start, start), end=min(part.end, end), offset=part.offset)


def _ranges_after(reading: Reading, start: int) -> Iterator[tuple[int, int]]:
    """Ranges that together hold every occurrence from `start` on, near ones first."""
    yield start, start + _NEAR
    yield start + _NEAR, start + 2 * _DAY
    here = date.fromordinal(_EPOCH_ORDINAL + min(start, HORIZON_END) // _DAY)
    for year, month in _months(here.year, here.month, 2201, 1, step=1):
        for day in matching_days(reading, year, month):
            yield _instants_of(year, month, day)


def _ranges_before(reading: Reading, at: int) -> Iterator[tuple[int, int]]:
    """Ranges that together hold every occurrence up to `at`, near ones first."""
    yield at - _NEAR, at + 1
    yield at - 2 * _DAY, at - _NEAR
    here = date.fromordinal(_EPOCH_ORDINAL + max(at, 0) // _DAY + 2)
    for year, month in _months(here.year, here.month, 1969, 12, step=-1):
        for day in reversed(matching_days(reading, year, month)):
            yield _instants_of(year, month, day)


def _months(
    year: int, month: int, last_year: int, last_month: int, *, step: int
) -> Iterator[tuple[int, int]]:
    first, last = year * 12 + month - 1, last_year * 12 + last_month - 1
    for number in range(first, last + step, step):
        yield number // 12, number % 12 + 1


def _instants_of(year: int, month: int, day: int) -> tuple[int, int]:
    """Every instant that can bear this local date in some zone."""
    midnight = (date(year, month, day).toordinal() - _EPOCH_ORDINAL) * _DAY
    return midnight - _OFFSET_MAX, midnight + _DAY + _OFFSET_MAX
