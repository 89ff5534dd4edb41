"""
Matches in local time: days times times of day, as if there were no zones.

A local time is seconds since 1970-01-01T00:00:00 on the wall clock.

Spec: CRON-1 to CRON-10, REC-9.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from gnomon.core.civil.calendar import (
    DAY,
    DAY_KEY,
    YEAR_FIRST,
    YEAR_KIND,
    YEAR_LAST,
    YEAR_START,
    civil_from_days,
)
from gnomon.core.cron.days import year_days, year_mask
from gnomon.core.cron.expression import DayRule, Expression
from gnomon.core.cron.times import Times

__all__ = ["LocalMatches"]

_CHUNK = 288  # matches computed ahead by an iteration; a day at five-minute steps


class LocalMatches:
    """The local times that match an expression, searched in both directions."""

    __slots__ = ("days", "times")

    def __init__(self, expression: Expression) -> None:
        self.days: DayRule = expression.days
        self.times = Times(expression)

    def after(self, local: int) -> int | None:
        """The least match later than `local`."""
        day, time = divmod(local, DAY)
        if self._is_match(day):
            found = self.times.after(time)
            if found is not None:
                return day * DAY + found
        later = self.day_after(day)
        return None if later is None else later * DAY + self.times.first

    def at_or_before(self, local: int) -> int | None:
        """The greatest match no later than `local`."""
        day, time = divmod(local, DAY)
        if self._is_match(day):
            found = self.times.at_or_before(time)
            if found is not None:
                return day * DAY + found
        earlier = self.day_before(day)
        return None if earlier is None else earlier * DAY + self.times.last

    def has_any(self, start: int, end: int) -> bool:
        """Whether there is a match with `start <= match < end`."""
        midnight = start // DAY * DAY
        if end <= midnight + DAY:
            # Most gaps lie within one day, and most times of day outside them.
            time = self.times.after(start - midnight - 1)
            if time is None or time >= end - midnight:
                return False
        found = self.after(start - 1)
        return found is not None and found < end

    def day_after(self, day: int) -> int | None:
        """The first matching day later than `day`."""
        year = civil_from_days(day)[0]
        mask = year_mask(self.days, YEAR_KIND[year]) >> day - YEAR_START[year] + 1
        if mask:
            return day + (mask & -mask).bit_length()
        for later in range(year + 1, YEAR_LAST + 1):
            mask = year_mask(self.days, YEAR_KIND[later])
            if mask:
                return YEAR_START[later] + (mask & -mask).bit_length() - 1
        return None

    def day_before(self, day: int) -> int | None:
        """The last matching day earlier than `day`."""
        year = civil_from_days(day)[0]
        mask = year_mask(self.days, YEAR_KIND[year]) & (1 << day - YEAR_START[year]) - 1
        if mask:
            return YEAR_START[year] + mask.bit_length() - 1
        for earlier in range(year - 1, YEAR_FIRST - 1, -1):
            mask = year_mask(self.days, YEAR_KIND[earlier])
            if mask:
                return YEAR_START[earlier] + mask.bit_length() - 1
        return None

    def blocks(self) -> list[list[int]]:
        """The times of a day for `chunks`, computed once for a whole iteration."""
        return self.times.blocks(_CHUNK)

    def chunks(
        self, start: int, end: int, *, offset: int, blocks: list[list[int]]
    ) -> Iterator[list[int]]:
        """The matches with `start <= match < end`, each less `offset`, in lists of some hundred."""
        year = civil_from_days(start // DAY)[0]
        while start < end and year <= YEAR_LAST:
            base = YEAR_START[year] * DAY
            for days in self._runs_of_days(year, start - base, end - base, len(blocks[0])):
                for times in blocks:
                    if base + days[-1] + times[-1] < start:
                        continue
                    chunk = _combine(base - offset, days, times)
                    if chunk[0] < start - offset:
                        chunk = chunk[bisect_left(chunk, start - offset) :]
                    if chunk[-1] >= end - offset:
                        chunk = chunk[: bisect_left(chunk, end - offset)]
                    yield chunk
            year += 1
            start = max(start, YEAR_START[year] * DAY)

    def _runs_of_days(
        self, year: int, start: int, end: int, times: int
    ) -> Iterator[tuple[int, ...]]:
        """The matching days that reach into [start, end), counted from the year's beginning."""
        days = year_days(self.days, YEAR_KIND[year])
        size = max(1, _CHUNK // times) if times == self.times.count else 1
        first, last = bisect_right(days, start - DAY), bisect_left(days, end)
        for index in range(first, last, size):
            yield days[index : min(index + size, last)]

    def _is_match(self, day: int) -> int:
        key = DAY_KEY[day]
        return year_mask(self.days, key >> 9) >> (key & 511) & 1


def _combine(base: int, days: tuple[int, ...], times: list[int]) -> list[int]:
    if len(times) == 1:
        base += times[0]
        return [base + day for day in days]
    return [base + day + time for day in days for time in times]
