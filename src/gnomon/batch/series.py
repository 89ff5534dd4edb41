"""
Recurrences that are not cron expressions, many at once: intervals, instants, and anything else.

Each kind answers for all its members. Bounds are part of an interval or an instant here; a bounded
cron expression is answered from the answer to its unbounded form (`table`).

Spec: BATCH-1, BATCH-3.
"""

from collections.abc import Sequence

import numpy as np

from gnomon.batch.crossing import NONE
from gnomon.batch.lanes import Ints
from gnomon.core.civil.calendar import HORIZON_END
from gnomon.core.recurrence import Every, Once, Recurrence

__all__ = ["Bounds", "Instants", "Intervals", "Others"]

Bounds = tuple[int, int]
"""The first and the last second that count."""


class Intervals:
    """`every` with its bounds."""

    def __init__(self, members: Sequence[tuple[Every, Bounds]]) -> None:
        rows = [(every.interval, every.anchor, *bounds) for every, bounds in members]
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        self._interval, self._anchor, self._start, self._end = np.ascontiguousarray(columns)

    def next_all(self, after: int) -> Ints:
        passed = np.maximum(self._start - 1, after)
        found = passed + self._interval - (passed - self._anchor) % self._interval
        return np.where((found < HORIZON_END) & (found <= self._end), found, NONE)


class Instants:
    """`once` with its bounds."""

    def __init__(self, members: Sequence[tuple[Once, Bounds]]) -> None:
        self._at: Ints = np.array(
            [once.at if start <= once.at <= end else NONE for once, (start, end) in members],
            np.int64,
        )

    def next_all(self, after: int) -> Ints:
        return np.where(self._at > after, self._at, NONE)


class Others:
    """Recurrences of a kind that is not known here, asked one by one."""

    def __init__(self, members: Sequence[Recurrence]) -> None:
        self._members = members

    def next_all(self, after: int) -> Ints:
        found = [member.next_epoch(after) for member in self._members]
        return np.array([NONE if epoch is None else epoch for epoch in found], np.int64)
