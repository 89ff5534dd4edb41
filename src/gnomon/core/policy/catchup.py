"""
Catch-up: which of several overdue periods still count?

The arguments are the chosen instants of the periods that are due, oldest nominal first. A period is
late when it was due more than `on_time_ms` ago: a worker should have looked before. Without late
periods there is nothing to catch up with, and all of them run.

What counts stands in line, oldest first: no more than so many go within a tick, and where they are
to be spread, each a step after the one before.

Spec: POLICY-2 to POLICY-4, POLICY-11, POLICY-13, POLICY-14.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import assert_never

from gnomon.core.schedule import Catchup

__all__ = ["even_step_ms", "kept", "line_up"]


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
