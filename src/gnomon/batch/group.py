"""
The cron schedules that share a timeline: searched together, in local time.

A schedule is a time of day and a day rule, both known by number. `next_all` answers one question
for all schedules: it searches the parts once and then puts them together, a cache's worth of
schedules at a time. `next_each` answers a question of its own for each of some schedules, in more
work per schedule. What lies beyond the end of the current piece of the timeline is left to
`crossing`.

Spec: BATCH-1, BATCH-2.
"""

from collections.abc import Iterator

import numpy as np

from gnomon.batch.crossing import NEVER, LineArrays, cross, made_up
from gnomon.batch.days import Rules
from gnomon.batch.lanes import FAR, Ints, Places, Shorts, Words, least
from gnomon.batch.times import TimesOfDay
from gnomon.core.civil.calendar import DAY

__all__ = ["Group"]

_CHUNK = 1 << 14
"""So many schedules that what they need at a time stays in the processor's cache."""
_FEW = 16
"""Up to this part of a group is searched schedule by schedule."""


class Group:
    """Cron schedules with the same timeline, of which each is a time of day and a day rule."""

    def __init__(
        self,
        line: LineArrays,
        *,
        times: TimesOfDay,
        which: slice,
        rules: Rules,
        time_ids: Shorts,
        rule_ids: Shorts,
    ) -> None:
        self._line = line
        self._times = times
        self._which = which  # the group's own times; `time_ids` counts from their beginning
        self._rules = rules
        self._time_ids = time_ids
        self._rule_ids = rule_ids

    def __len__(self) -> int:
        return len(self._time_ids)

    def next_all(self, after: int, out: Ints) -> None:
        """Write the first occurrence of every schedule later than `after`."""
        line = self._line
        piece = int(line.piece_at(after))
        if line.makes_up and piece > 0 and after < line.landings[piece]:
            # Between the end of a gap inside a minute and the minute after it: very rare.
            out[:] = self.next_each(np.arange(len(self)), np.full(len(self), after))
            return
        offset, end = int(line.offsets[piece]), int(line.local_ends[piece])
        # `after` may lie in a repetition that this timeline leaves out.
        local = min(after + offset, end - 1)
        midnight = local // DAY * DAY
        beyond = []
        for start, found in self._matches(local):
            np.add(found, midnight - offset, out=out[start : start + len(found)], dtype=np.int64)
            beyond.append(start + np.flatnonzero(found >= min(end - midnight, FAR)))
        rows = np.concatenate(beyond)
        if len(rows):
            match = out[rows] + offset
            match[match >= midnight + FAR] = NEVER
            pieces, passed = np.full(len(rows), piece), np.full(len(rows), local)
            out[rows] = cross(line, rows, pieces, passed, match, self._after)

    def next_each(self, rows: Places, after: Ints) -> Ints:
        """The first occurrence of each of these schedules later than its own `after`."""
        line = self._line
        piece = line.piece_at(after)
        end = line.local_ends[piece]
        local = np.minimum(after + line.offsets[piece], end - 1)
        match = self._after(rows, local)
        found = match - line.offsets[piece]
        beyond = np.flatnonzero(match >= end)
        if len(beyond):
            found[beyond] = cross(
                line, rows[beyond], piece[beyond], local[beyond], match[beyond], self._after
            )
        return made_up(line, rows, piece, after, found, self._after) if line.makes_up else found

    def _after(self, rows: Places, local: Ints) -> Ints:
        """The first match of each of these schedules after its own local time."""
        if len(rows) * _FEW > len(self) and (local == local[0]).all():
            every = np.concatenate([found for _, found in self._matches(int(local[0]))])
            found = every[rows]
        else:
            found = self._match_each(rows, local)
        return np.where(found < FAR, local // DAY * DAY + found, NEVER)

    def _matches(self, local: int) -> Iterator[tuple[int, Words]]:
        """Chunk by chunk, the wait from midnight for the first match after a local time."""
        day, time = divmod(local, DAY)
        times, rules = self._times.later(self._which, time), self._rules.after(day)
        for start in range(0, len(self), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            sums = times.take(self._time_ids[chunk])
            sums += rules.take(self._rule_ids[chunk])
            yield start, least(sums)

    def _match_each(self, rows: Places, local: Ints) -> Words:
        day, time = np.divmod(local, DAY)
        sums = self._times.later_each(self._time_ids[rows] + self._which.start, time)
        sums += self._rules.after_each(self._rule_ids[rows], day.astype(np.int32))
        return least(sums)
