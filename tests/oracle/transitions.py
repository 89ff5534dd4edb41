"""
When does a zone change its offset, according to zoneinfo and to nothing else?

The zones are those of the tzdata package, read from its files, so that the host's own zone files
play no part. A zone is probed every six days and each change is narrowed down by halving.
Nothing here is shared with `gnomon.core`: this is the clock of the judge.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import pairwise
from zoneinfo import ZoneInfo

__all__ = [
    "HORIZON_END",
    "Segment",
    "Transition",
    "all_transitions",
    "offset_at",
    "segments",
    "transitions",
    "tzdata_version",
    "zone_info",
    "zone_names",
]

HORIZON_END = 7_289_654_400  # 2201-01-01T00:00:00Z; occurrences lie in [0, HORIZON_END)

# Since 1970 no zone has changed its offset twice within six days (the shortest stretch in the
# data is 7 days less an hour: Brazil 2000, Gaza 2040), so probing every six days misses nothing.
_PROBE = 6 * 86_400
_FIRST = -6 * 86_400
_LAST = HORIZON_END + 6 * 86_400
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """`at` is the first instant with the offset `after`; offsets are seconds east of UTC."""

    zone: str
    at: int
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch [start, end) of UTC with one offset."""

    start: int
    end: int
    offset: int

    @property
    def local_start(self) -> int:
        return self.start + self.offset

    @property
    def local_end(self) -> int:
        return self.end + self.offset


def tzdata_version() -> str:
    """The version of the tzdata package and of the IANA release in it."""
    import tzdata

    return f"{tzdata.__version__} (IANA {tzdata.IANA_VERSION})"


@cache
def zone_names() -> tuple[str, ...]:
    """Every name in the tzdata package, aliases included."""
    return tuple(sorted(files("tzdata").joinpath("zones").read_text("ascii").split()))


@cache
def zone_info(name: str) -> ZoneInfo:
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def offset_at(name: str, instant: int) -> int:
    """Seconds east of UTC at an instant."""
    return _offset(zone_info(name), instant)


@cache
def segments(name: str) -> tuple[Segment, ...]:
    """The whole horizon, and some days on either side, cut where the offset changes."""
    return _segments_of(files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes(), name)


def transitions(name: str, start: int, end: int) -> list[Transition]:
    """Every change of offset with start <= at < end."""
    return [transition for transition in all_transitions(name) if start <= transition.at < end]


@cache
def all_transitions(name: str) -> tuple[Transition, ...]:
    """Every change of offset in the horizon."""
    return tuple(
        Transition(zone=name, at=new.start, before=old.offset, after=new.offset)
        for old, new in pairwise(segments(name))
        if 0 <= new.start < HORIZON_END
    )


_known: dict[bytes, tuple[Segment, ...]] = {}


def _segments_of(content: bytes, name: str) -> tuple[Segment, ...]:
    """Aliases have files with the same content, which need probing only once."""
    if content not in _known:
        _known[content] = tuple(_probed(zone_info(name)))
    return _known[content]


def _probed(zone: ZoneInfo) -> Iterator[Segment]:
    start, at_time = _FIRST, datetime.fromtimestamp
    offset = at_time(start, zone).utcoffset()
    for probe in range(_FIRST + _PROBE, _LAST + _PROBE, _PROBE):
        after = at_time(probe, zone).utcoffset()  # thousands of times for each zone
        if after != offset:
            at = _first_change(zone, probe - _PROBE, probe)
            if at >= _LAST:
                break
            yield Segment(start=start, end=at, offset=_offset(zone, start))
            start, offset = at, after
    yield Segment(start=start, end=_LAST, offset=_offset(zone, start))


def _first_change(zone: ZoneInfo, low: int, high: int) -> int:
    """The first instant whose offset differs from that at `low`, given that `high` differs."""
    offset = _offset(zone, low)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(zone, middle) == offset:
            low = middle
        else:
            high = middle
    return high


def _offset(zone: ZoneInfo, instant: int) -> int:
    offset = datetime.fromtimestamp(instant, zone).utcoffset()
    assert offset is not None
    return offset // _SECOND
