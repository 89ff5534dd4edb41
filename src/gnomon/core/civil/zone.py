"""
Zones: which local time an instant has, and which instants a local time has.

Between two changes of its offset a zone is a straight line. A `Timeline` is the list of those
lines, as parallel tuples that `bisect` can search: piece `k` holds the instants
`starts[k] <= t < ends[k]`, whose local time is `t + offsets[k]`, from `local_starts[k]` up to
`local_ends[k]`.

A zone has two timelines. `both` is the zone as it is: after a change backward (a fold) local times
repeat. `first` leaves the repetition out: each local time occurs at most once, at its first
instant, and `local_starts` and `local_ends` increase. In both, a change forward (a gap) shows as
`local_starts[k] > local_ends[k - 1]`.

Spec: ZONE-1 to ZONE-3, DST-1 to DST-6.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from gnomon.core.civil.calendar import DAY, HORIZON_END, HORIZON_START
from gnomon.core.civil.tzif import read_zone, transitions, tzdata_version, zone_names
from gnomon.errors import DefinitionError

__all__ = [
    "BUCKET_BITS",
    "Steady",
    "Timeline",
    "Zone",
    "load_zone",
    "steady",
    "tzdata_version",
    "zone_names",
]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """The straight pieces of a zone within the horizon, in order."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    offsets: tuple[int, ...]
    local_starts: tuple[int, ...]
    local_ends: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.starts)


_NAME_MAX = 64
_ABBREVIATION = re.compile(r"[A-Z]{2,5}")

BUCKET_BITS = 18
"""Instants are put into buckets of 2**18 seconds, about three days."""


class Steady(NamedTuple):
    """Where a timeline's offset holds still."""

    codes: bytes
    """For each bucket, the code of the offset in it and for a day after it; 0 where it changes."""
    offsets: tuple[int, ...]
    """By code; the first stands for nothing."""


@lru_cache(None)  # bounded by the number of zone names
def steady(line: Timeline) -> Steady:
    """
    The offsets of a timeline by bucket.

    Two instants in buckets with the same code, however far apart, have local times that differ by
    what the instants differ by.
    """
    offsets = (0, *sorted(set(line.offsets)))
    codes = bytearray((HORIZON_END >> BUCKET_BITS) + 1)
    for start, end, offset in zip(line.starts, line.ends, line.offsets, strict=True):
        first = -(-start >> BUCKET_BITS)
        last = end - DAY >> BUCKET_BITS
        codes[first:last] = bytes([offsets.index(offset, 1)]) * max(0, last - first)
    return Steady(bytes(codes), offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """A zone of the IANA database; its name says it all."""

    name: str
    both: Timeline = field(repr=False, compare=False)
    first: Timeline = field(repr=False, compare=False)
    is_ragged: bool = field(repr=False, compare=False)
    """Whether a change within the horizon falls inside a local minute (Monrovia, 1972)."""

    def offset_at(self, epoch: int) -> int:
        """Seconds to add to an instant to get its local time."""
        piece = bisect_right(self.both.starts, epoch) - 1
        return self.both.offsets[max(piece, 0)]

    def changes(self, start: int, end: int) -> list[tuple[int, int, int]]:
        """(instant, offset before, offset after) for each change in [start, end)."""
        line = self.both
        first = max(1, bisect_left(line.starts, start))
        return [
            (line.starts[k], line.offsets[k - 1], line.offsets[k])
            for k in range(first, bisect_left(line.starts, end))
        ]


def load_zone(name: str, *, where: str = "zone") -> Zone:
    """The zone with this name, from the installed zone data."""
    if not isinstance(name, str) or name not in zone_names():
        raise DefinitionError(
            "must be a zone of the IANA database", where=where, got=name, hint=_suggest(name)
        )
    return _load_zone(name)


@lru_cache(None)  # bounded by the number of zone names
def _load_zone(name: str) -> Zone:
    offset, changes = transitions(read_zone(name))
    pieces: list[tuple[int, int]] = []
    # Instants just before the horizon may be asked about, hence the second's grace.
    start = HORIZON_START - 1
    for at, new in changes:
        if start < at < HORIZON_END:
            pieces.append((start, offset))
            start = at
        if at < HORIZON_END:
            offset = new
    pieces.append((start, offset))
    ends = [start for start, _ in pieces[1:]] + [HORIZON_END]
    both = _timeline((start, end, off) for (start, off), end in zip(pieces, ends, strict=True))
    return Zone(
        name=name,
        both=both,
        first=_without_repetition(both),
        is_ragged=any(local % 60 for local in both.local_starts[1:]),
    )


def _without_repetition(line: Timeline) -> Timeline:
    kept, reached = [], line.local_starts[0]
    for start, end, offset in zip(line.starts, line.ends, line.offsets, strict=True):
        start = max(start, reached - offset)
        assert start < end  # no zone changes again before a repetition is over
        kept.append((start, end, offset))
        reached = end + offset
    return _timeline(kept)


def _timeline(pieces: Iterable[tuple[int, int, int]]) -> Timeline:
    pieces = list(pieces)
    return Timeline(
        starts=tuple(start for start, _, _ in pieces),
        ends=tuple(end for _, end, _ in pieces),
        offsets=tuple(offset for _, _, offset in pieces),
        local_starts=tuple(start + offset for start, _, offset in pieces),
        local_ends=tuple(end + offset for _, end, offset in pieces),
    )


def _suggest(name: object) -> str:
    """
    What to write instead, and a name only where there is little doubt that it is meant.

    `EST` for `PST` would be a guess that runs, three hours off.
    """
    if isinstance(name, str) and len(name) <= _NAME_MAX:
        plain = _plain(name)
        known = {_plain(known): known for known in zone_names()}
        close = [plain] if plain in known else [
            other for other in known if "/" in other and _is_one_slip(plain, other)
        ]  # fmt: skip
        if len(close) == 1:
            return f"did you mean {known[close[0]]}?"
        if _ABBREVIATION.fullmatch(name):
            return "abbreviations are ambiguous; write e.g. America/Los_Angeles"
    return "write e.g. Europe/Berlin or UTC"


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def _is_one_slip(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing or too many, or two neighbours are swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    one, other = one[same:], other[same:]
    if one[:2] == other[1::-1] and len(one) > 1 and one[2:] == other[2:]:
        return True
    return one[1:] == other[1:] or one[1:] == other or one == other[1:]
