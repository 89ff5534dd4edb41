"""
Catch-up: which of several overdue periods still count?

The arguments are the chosen instants of the periods that are due, oldest nominal first. A period is
late when it was due more than `on_time_ms` ago: somebody should have looked before. Without late
periods there is nothing to catch up with, and all of them run.

Spec: POLICY-2 to POLICY-5, POLICY-11.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import assert_never

from gnomon.core.schedule import Catchup

__all__ = ["kept", "spread"]


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


def spread(count: int, *, now_ms: int, over_ms: int) -> list[int]:
    """New chosen instants for `count` periods, evenly over the time ahead, the first at once."""
    return [now_ms + index * over_ms // count for index in range(count)]
