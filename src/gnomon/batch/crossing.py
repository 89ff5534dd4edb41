"""
Matches beyond the current piece of a timeline: where do they fall, and when?

The rules are those of the core's search (DST-1 to DST-6), for many schedules at once. Between two
pieces of a timeline local time goes back (a fold), forward (a gap) or neither. A match in a gap is
replaced by the next one after the gap, or made up for at its end, as the policy has it.

Spec: BATCH-2.
"""

from collections.abc import Callable

import numpy as np

from gnomon.batch.lanes import Ints, Places
from gnomon.core.civil.zone import Timeline

__all__ = ["NEVER", "NONE", "LineArrays", "LocalSearch", "cross", "made_up"]

NONE = -1
"""In an answer: there is no such occurrence. No occurrence is earlier than 1970, so none is -1."""

NEVER = 1 << 40
"""As a local time: there is no match. Later than any piece of a timeline."""

LocalSearch = Callable[[Places, Ints], Ints]
"""For each of some schedules the first match after its own local time, or `NEVER`."""


class LineArrays:
    """A timeline as arrays, and whether matches in its gaps are made up for."""

    def __init__(self, timeline: Timeline, *, makes_up: bool) -> None:
        self.makes_up = makes_up
        self.starts: Ints = np.array(timeline.starts, np.int64)
        self.offsets: Ints = np.array(timeline.offsets, np.int64)
        self.local_starts: Ints = np.array(timeline.local_starts, np.int64)
        self.local_ends: Ints = np.array(timeline.local_ends, np.int64)
        self.landings: Ints = self.starts + -self.local_starts % 60

    def __len__(self) -> int:
        return len(self.starts)

    def piece_at(self, after: int | Ints) -> Places:
        return np.searchsorted(self.starts, after, "right") - 1


def cross(
    line: LineArrays, rows: Places, piece: Places, passed: Ints, match: Ints, search: LocalSearch
) -> Ints:
    """
    The first occurrence of each row on a later piece than `piece`.

    `passed` is the local time asked about, `match` the first match after it, which does not lie on
    `piece`.
    """
    following = np.minimum(piece + 1, len(line) - 1)
    # In the hour before a fold, times that are over come again. Earlier than that, `match` is
    # still ahead of whatever repeats.
    again = np.flatnonzero((following > piece) & (line.local_starts[following] <= passed))
    if len(again):
        onto = following[again]
        repeated = search(rows[again], line.local_starts[onto] - 1)
        match[again] = np.where(repeated < line.local_ends[onto], repeated, match[again])
    reached = np.maximum(np.searchsorted(line.local_ends, match, "right"), piece + 1)
    return _settle(line, rows, reached, match, search)


def _settle(
    line: LineArrays, rows: Places, piece: Places, match: Ints, search: LocalSearch
) -> Ints:
    """The instants of the matches, each of which lies on its `piece` or in the gap before it."""
    found = np.full(len(rows), NONE, np.int64)
    places = np.flatnonzero(piece < len(line))
    while len(places):
        onto, local = piece[places], match[places]
        in_gap = local < line.local_starts[onto]
        found[places] = np.where(in_gap, line.landings[onto], local - line.offsets[onto])
        places, onto = places[in_gap], onto[in_gap]
        if line.makes_up:
            # Only where a gap ends inside a minute can anything come before the landing.
            ragged = line.landings[onto] > line.starts[onto]
            places, onto = places[ragged], onto[ragged]
        if not len(places):
            break
        local = search(rows[places], line.local_starts[onto] - 1)
        if line.makes_up:
            found[places] = np.minimum(found[places], local - line.offsets[onto])
            break
        match[places] = local
        piece[places] = np.searchsorted(line.local_ends, local, "right")
        found[places] = NONE
        places = places[piece[places] < len(line)]
    return found


def made_up(
    line: LineArrays, rows: Places, piece: Places, after: Ints, found: Ints, search: LocalSearch
) -> Ints:
    """The answers `found`, or an earlier landing that is still ahead of `after` on its piece."""
    before = np.maximum(piece - 1, 0)
    gap = line.local_starts[piece] > line.local_ends[before]
    ahead = np.flatnonzero(gap & (after < line.landings[piece]))
    if len(ahead):
        onto = piece[ahead]
        swallowed = search(rows[ahead], line.local_ends[onto - 1] - 1) < line.local_starts[onto]
        landing, known = line.landings[onto], found[ahead]
        earlier = swallowed & ((known == NONE) | (landing < known))
        found[ahead] = np.where(earlier, landing, known)
    return found
