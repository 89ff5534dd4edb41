"""The pulses of a trace from the independent scan of every minute, as tests give them."""

from collections.abc import Iterator, Sequence

from gnomon.theory import merge, retry_pulses
from gnomon.trace import Event, Header, Kind
from tests.oracle.minute_scan import occurrences

__all__ = ["minute_pulses", "scanned"]

MINUTE_MS = 60_000


def scanned(header: Header, events: Sequence[Event], *, delay_min_ms: int = 0) -> list[Event]:
    """The trace with its pulses, for a wall clock that runs evenly from the first event on."""
    retries = [
        one for one in retry_pulses(events, delay_min_ms=delay_min_ms) if one.t <= events[-1].t
    ]
    return list(merge(events, minute_pulses(header, events), retries))


def minute_pulses(header: Header, events: Sequence[Event]) -> Iterator[Event]:
    """Every minute from that of the first event to that of the last, and what is due in it."""
    first, last = events[0], events[-1]
    assert first.wall_ms is not None
    offset_ms = first.wall_ms - first.t
    start_ms = first.wall_ms - first.wall_ms % MINUTE_MS
    end_ms = last.t + offset_ms + 1
    due = _dues(header.zone, events, start_ms // 1_000, -(-end_ms // 1_000))
    for minute_ms in range(start_ms, end_ms, MINUTE_MS):
        t = max(minute_ms - offset_ms, 0)
        yield Event(Kind.MINUTE_START, t, wall_ms=minute_ms)
        for name, text in due.get(minute_ms // 1_000, []):
            yield Event(Kind.DUE, t, name, cron=text, wall_ms=minute_ms)


def _dues(
    zone: str, events: Sequence[Event], start: int, end: int
) -> dict[int, list[tuple[str, str]]]:
    tasks = {
        (one.name, one.cron): None
        for event in events
        if event.kind is Kind.INIT_START
        for one in event.registrations
    }
    found: dict[int, list[tuple[str, str]]] = {}
    for name, text in tasks:
        instants = occurrences(
            text, dialect="posix", zone=zone, dst="strict", start=start, end=end
        )  # fmt: skip
        for instant in instants:
            found.setdefault(instant, []).append((name, text))
    return found
