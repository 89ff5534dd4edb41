"""
Policies: small pure functions from facts to a verdict.

Each answers one question about periods that have come due: is it too late (deadline), which of
several still count (catch-up), may one start now (overlap), when is a launch tried again (retry).
None of them knows about rows, stores or other policies; the engine asks them in order and turns
their verdicts into facts. Periods are given oldest first.

Deadline: whole seconds are compared. With a deadline of zero a period may start within its chosen
second and not in the next. The question is asked once, when the period is first judged, and not
again while it waits its turn.

Catch-up: a period is late when it was due more than `on_time_ms` ago: a worker should have looked
before. Without late periods there is nothing to catch up with, and all of them run. What counts
stands in line, oldest first: no more than so many go within a tick, and where they are to be
spread, each a step after the one before.

Overlap: the question is asked at the moment of starting, for all periods that want to start.

Spec: POLICY-2 to POLICY-4, POLICY-6 to POLICY-14.
"""

from collections.abc import Sequence
from datetime import timedelta
from enum import Enum
from itertools import accumulate
from typing import assert_never

from gnomon.core.schedule import Catchup, Overlap

__all__ = [
    "BACKOFF_MAX",
    "Turn",
    "even_step_ms",
    "is_too_late",
    "kept",
    "last_too_late",
    "line_up",
    "retry_ms",
    "turns",
]

BACKOFF_MAX = timedelta(minutes=10)
_SECOND = timedelta(seconds=1)
_MS = timedelta(milliseconds=1)


def is_too_late(fire_ms: int, deadline: timedelta | None, *, now_ms: int) -> bool:
    return deadline is not None and now_ms // 1000 > fire_ms // 1000 + deadline // _SECOND


def last_too_late(tail_ms: int, deadline: timedelta, *, now_ms: int) -> int:
    """The greatest nominal instant that is too late wherever in its window it was to run."""
    return (now_ms - tail_ms - 1) // 1000 - deadline // _SECOND - 1


def kept(
    catchup: Catchup, fires_ms: Sequence[int], *, now_ms: int, on_time_ms: int, grace_ms: int,
    recent_max: int,
) -> list[bool]:  # fmt: skip
    """For each period, whether it still counts."""
    late = [fire_ms < now_ms - on_time_ms for fire_ms in fires_ms]
    if not fires_ms or not any(late):
        return [True] * len(fires_ms)
    match catchup:
        case Catchup.FIRE_IMMEDIATELY | Catchup.SPREAD:
            return [True] * len(fires_ms)
        case Catchup.RECENT:
            older, counted = sum(late) - recent_max, zip(late, accumulate(late), strict=True)
            return [not one or count > older for one, count in counted]
        case Catchup.LATEST:
            newest_counts = True
        case Catchup.NONE:
            newest_counts = fires_ms[-1] >= now_ms - grace_ms
        case _:
            assert_never(catchup)
    verdicts = [not is_late for is_late in late]
    verdicts[-1] = newest_counts
    return verdicts


def even_step_ms(count: int, *, over_ms: int, tick_max: int, tick_ms: int) -> int:
    """How far apart so many go evenly over a time ahead, but never more than allowed in a tick."""
    return max(over_ms // count, -(-tick_ms // tick_max))


def line_up(
    fires_ms: Sequence[int], gaps_ms: Sequence[int], *, from_ms: int, tick_max: int, tick_ms: int
) -> list[int]:
    """
    When each of a line goes, oldest first: none earlier than it would go by itself.

    Each also keeps its gap to the one before, the first to `from_ms`, and goes a tick after the one
    that is `tick_max` places ahead of it.
    """
    found: list[int] = []
    before_ms = from_ms
    for place, (fire_ms, gap_ms) in enumerate(zip(fires_ms, gaps_ms, strict=True)):
        before_ms = max(fire_ms, before_ms + gap_ms)
        if place >= tick_max:
            before_ms = max(before_ms, found[place - tick_max] + tick_ms)
        found.append(before_ms)
    return found


class Turn(Enum):
    """What a period that wants to start may do."""

    START = "start"
    WAIT = "wait"
    """Stay as it is and ask again: the limit of one turn is reached."""
    QUEUE = "queue"
    SKIP = "skip"
    FULL = "full"
    SUPERSEDED = "superseded"


def turns(
    overlap: Overlap, wanting: int, *, in_flight: int, starts_max: int, queue_max: int
) -> list[Turn]:
    """The verdict for each of `wanting` periods, oldest first."""
    if not wanting:
        return []
    match overlap:
        case Overlap.ALLOW:
            starts = min(wanting, starts_max)
            return [Turn.START] * starts + [Turn.WAIT] * (wanting - starts)
        case Overlap.SKIP:
            first = Turn.SKIP if in_flight else Turn.START
            return [first] + [Turn.SKIP] * (wanting - 1)
        case Overlap.QUEUE:
            starts = 0 if in_flight else 1
            queued = min(wanting - starts, queue_max)
            full = wanting - starts - queued
            return [Turn.START] * starts + [Turn.QUEUE] * queued + [Turn.FULL] * full
        case Overlap.REPLACE:
            return [Turn.SUPERSEDED] * (wanting - 1) + [Turn.START]
        case _:
            assert_never(overlap)


def retry_ms(launches: int, launches_max: int, backoff: timedelta, *, now_ms: int) -> int | None:
    """When to try again after `launches` tries; None when the launch is given up."""
    if launches >= launches_max:
        return None
    wait = min(backoff, BACKOFF_MAX) * (1 << min(launches - 1, 30))
    return now_ms + min(wait, BACKOFF_MAX) // _MS
