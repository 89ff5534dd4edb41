"""
Finding occurrences: an expression, on a zone's timeline, under a DST policy.

A search finds a match in local time and moves it to an instant along the piece of the timeline it
falls on. Only a match beyond the end of its piece needs more thought; that is the whole of daylight
saving. The policy decides two things: which timeline is used, the one where local times repeat or
the one where they do not; and whether matches that a gap swallows are made up for by one occurrence
in the first minute after it.

This is the whole and plain way to every answer; `fast_next` answers the commonest question from
tables.

Spec: REC-1 to REC-5, REC-9, DST-1 to DST-7.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain

from gnomon.core.civil.calendar import HORIZON_END, HORIZON_START
from gnomon.core.civil.instant import check_epoch
from gnomon.core.civil.zone import Timeline, Zone
from gnomon.core.cron.days import year_mask
from gnomon.core.cron.dialect import Dst
from gnomon.core.cron.expression import Expression
from gnomon.core.cron.local import LocalMatches

__all__ = ["Search"]

_RARE = 4  # occurrences a year


class Search:
    """The occurrences of one expression in one zone under one policy."""

    __slots__ = ("line", "local", "makes_up", "ragged")

    def __init__(self, expression: Expression, zone: Zone, dst: Dst) -> None:
        repeats = dst is Dst.CIVIL or (dst is Dst.VIXIE and expression.wildcard)
        self.line: Timeline = zone.both if repeats else zone.first
        self.makes_up = dst is Dst.VIXIE and not expression.wildcard
        self.ragged = zone.is_ragged
        self.local = LocalMatches(expression)

    def latest_epoch(self, at: int) -> int | None:
        """The last occurrence no later than `at`."""
        at = check_epoch(at, where="at")
        if at < HORIZON_START:
            return None
        line = self.line
        at = min(at, HORIZON_END - 1)
        piece = bisect_right(line.starts, at) - 1
        local = self.local.at_or_before(min(at + line.offsets[piece], line.local_ends[piece] - 1))
        while True:
            start = line.local_starts[piece]
            found = -1
            if local is not None and local >= start:
                found = local - line.offsets[piece]
            if self.owes_landing(piece) and (landing := self.landing(piece)) <= at:
                found = max(found, landing)
            if found >= HORIZON_START:
                return found
            if piece == 0 or local is None:
                return None
            piece -= 1
            if line.local_ends[piece] > start or local >= line.local_ends[piece]:
                # A fold put later local times on the earlier piece, or a gap swallowed this one.
                local = self.local.at_or_before(line.local_ends[piece] - 1)

    def epochs_after(self, after: int) -> Iterator[int]:
        """Every occurrence later than `after`, in order."""
        after = check_epoch(after, where="after")
        if self.is_rare and not self.ragged:
            return self._one_by_one(after)
        return chain.from_iterable(self._chunks(max(after, HORIZON_START - 1)))

    def next_epoch(self, after: int) -> int | None:
        """The first occurrence later than `after`."""
        after = check_epoch(after, where="after")
        if after >= HORIZON_END:
            return None
        if self.makes_up and self.ragged:
            return next(self.epochs_after(after), None)
        after = max(after, HORIZON_START - 1)
        piece = bisect_right(self.line.starts, after) - 1
        return self.settle(piece, after, self.local.after(after + self.line.offsets[piece]))

    @property
    def is_rare(self) -> bool:
        """Whether a year has so few occurrences that all of them can be kept."""
        # A leap year that begins on a Thursday stands for all: the difference is a day or two.
        days = year_mask(self.local.days, 9).bit_count()
        return days * self.local.times.count <= _RARE

    # -- the timeline: from one piece to the next

    def settle(self, piece: int, after: int, local: int | None) -> int | None:
        """
        The first occurrence after `after`, an instant of `piece`.

        `local` is the least match after the local time of `after`; which instant that is, and
        whether another comes before it, depends on the changes of offset in between.
        """
        line = self.line
        if after >= line.ends[piece]:
            # `after` lies in a repetition that this timeline leaves out.
            local = self.local.after(line.local_ends[piece] - 1)
        elif local is not None and local < line.local_ends[piece]:
            return local - line.offsets[piece]
        following = piece + 1
        if following < len(line) and line.local_starts[following] < line.local_ends[piece]:
            # A fold: local time goes back, behind `local`. Later folds repeat times without a
            # match, because the first match after `after` is still ahead of them.
            again = self.local.after(line.local_starts[following] - 1)
            if again is not None and again < line.local_ends[following]:
                return again - line.offsets[following]
        while local is not None:
            piece = bisect_right(line.local_ends, local, piece)
            if piece == len(line):
                return None
            if local >= line.local_starts[piece]:
                return local - line.offsets[piece]
            if self.makes_up:
                return self.landing(piece)
            local = self.local.after(line.local_starts[piece] - 1)
        return None

    def landing(self, piece: int) -> int:
        """The first whole local minute of a piece, where what a gap swallowed is made up for."""
        return self.line.starts[piece] + -self.line.local_starts[piece] % 60

    def owes_landing(self, piece: int) -> bool:
        """Whether the gap before a piece swallowed a match that is made up for."""
        if not self.makes_up or piece == 0:
            return False
        gap_start, gap_end = self.line.local_ends[piece - 1], self.line.local_starts[piece]
        return gap_start < gap_end and self.local.has_any(gap_start, gap_end)

    def _chunks(self, after: int) -> Iterator[list[int]]:
        line = self.line
        blocks = self.local.blocks()
        for piece in range(bisect_right(line.starts, after) - 1, len(line)):
            offset, end = line.offsets[piece], line.local_ends[piece]
            start = max(after + 1, line.starts[piece]) + offset
            if self.owes_landing(piece) and (landing := self.landing(piece)) > after:
                # Where a gap ends inside a minute, something may come before the landing.
                yield from self.local.chunks(start, landing + offset, offset=offset, blocks=blocks)
                yield [landing]
                start = landing + offset + 1
            yield from self.local.chunks(start, end, offset=offset, blocks=blocks)

    def _one_by_one(self, after: int) -> Iterator[int]:
        found = self.next_epoch(after)
        while found is not None:
            yield found
            found = self.next_epoch(found)
