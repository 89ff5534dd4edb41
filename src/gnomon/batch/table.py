"""
A table of recurrences: packed once, then asked at any number of instants.

Packing keeps each distinct schedule once, sorted so that similar ones lie together; the answers go
back to the order of the input in the last step. What a table remembers between questions makes it
faster and changes no answer.

Spec: BATCH-1 to BATCH-6.
"""

from collections.abc import Iterable
from datetime import datetime
from operator import index

import numpy as np

from gnomon.batch.crossing import NONE
from gnomon.batch.group import Group
from gnomon.batch.lanes import Ints, Places, Shorts
from gnomon.batch.parts import Bounds, DistinctParts, Instants, Intervals, Others, PartKind, arrange
from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.instant import to_epoch
from gnomon.core.recurrence import Recurrence
from gnomon.errors import DefinitionError

__all__ = ["NONE", "Table", "next_epochs"]

_CHUNK = 1 << 15


def next_epochs(recurrences: Iterable[Recurrence], now: int | datetime) -> Ints:
    """The first occurrence of each recurrence later than `now`; see `Table.next_epochs`."""
    return Table(recurrences).next_epochs(now)


class Table:
    """Recurrences, packed to be asked all at once."""

    def __init__(self, recurrences: Iterable[Recurrence]) -> None:
        if not isinstance(recurrences, Iterable):
            raise DefinitionError(
                "must be recurrences", where="recurrences", got=recurrences, hint="give a list"
            )
        parts = DistinctParts()
        codes = np.fromiter(map(parts.code, recurrences), np.int64)
        is_cron = codes >= 0
        inner = np.fromiter((code for code, _ in parts.bounded), np.int64, len(parts.bounded))
        cron = arrange(parts, np.concatenate([codes[is_cron], inner]))
        self._groups = cron.groups
        self._intervals = Intervals(list(parts.intervals))
        self._instants = Instants(list(parts.instants))
        self._bounded = _BoundedCrons(
            cron.groups, cron.places[np.count_nonzero(is_cron) :], [b for _, b in parts.bounded]
        )
        self._others = Others(parts.others)
        # Where the answers of each kind begin: first all groups, then each further kind.
        sizes = [len(parts.intervals), len(parts.instants), len(parts.bounded), len(parts.others)]
        edges = np.cumsum([sum(map(len, cron.groups)), *sizes])
        self._size = int(edges[-1])
        number, kind = np.divmod(-1 - codes, len(PartKind))
        places = edges[kind] + number
        places[is_cron] = cron.places[: np.count_nonzero(is_cron)]
        self._places: Shorts = places.astype(np.int32)

    def __len__(self) -> int:
        return len(self._places)

    def next_epochs(self, now: int | datetime) -> Ints:
        """
        The first occurrence of each recurrence strictly later than `now`, in the input's order.

        Answers are whole seconds since 1970, or `NONE`. `now` is a number of such seconds or an
        aware datetime.
        """
        after = max(_whole_seconds(now), HORIZON_START - 1)
        if after >= HORIZON_END - 1:
            return np.full(len(self), NONE, np.int64)
        found = np.empty(self._size, np.int64)
        start = 0
        for group in self._groups:
            group.next_all(after, found[start : start + len(group)])
            start += len(group)
        rest = (
            self._intervals.next_all(after),
            self._instants.next_all(after),
            self._bounded.next_all(after, found),
            self._others.next_all(after),
        )
        found[start:] = np.concatenate(rest)
        return self._in_input_order(found)

    def _in_input_order(self, found: Ints) -> Ints:
        answers = np.empty(len(self), np.int64)
        for start in range(0, len(self), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            # Places are right by construction; "clip" spares the copy that guards `out`.
            found.take(self._places[chunk], out=answers[chunk], mode="clip")
        return answers


class _BoundedCrons:
    """Cron expressions with bounds, answered from those without."""

    def __init__(self, groups: list[Group], inner: Places, bounds: list[Bounds]) -> None:
        self._groups = groups
        self._inner = inner
        columns = np.array(bounds, np.int64).reshape(-1, 2).T
        self._start, self._end = np.ascontiguousarray(columns)

    def next_all(self, after: int, unbounded: Ints) -> Ints:
        found = unbounded[self._inner]
        ahead = self._start - 1 > after
        group_start = 0
        for group in self._groups if ahead.any() else ():
            group_end = group_start + len(group)
            mine = ahead & (self._inner >= group_start) & (self._inner < group_end)
            for rows in _chunks(np.flatnonzero(mine)):
                passed = np.minimum(self._start[rows], HORIZON_END) - 1
                found[rows] = group.next_each(self._inner[rows] - group_start, passed)
            group_start = group_end
        return np.where(found <= self._end, found, NONE)


def _whole_seconds(now: int | datetime) -> int:
    if isinstance(now, datetime):
        return to_epoch(now, where="now")
    try:
        return index(now)
    except TypeError:
        raise DefinitionError(
            "must be whole seconds since 1970 or a datetime with a UTC offset",
            where="now", got=now, hint="write e.g. 1772323200 or datetime(2026, 3, 1, tzinfo=UTC)",
        ) from None  # fmt: skip


def _chunks(places: Places) -> list[Places]:
    return [places[start : start + _CHUNK] for start in range(0, len(places), _CHUNK)]
