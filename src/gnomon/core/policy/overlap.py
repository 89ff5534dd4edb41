"""
Overlap: may a due period start while others of its schedule wait or run?

The question is asked at the moment of starting, for all periods that want to start, oldest first.

Spec: POLICY-6 to POLICY-9.
"""

from enum import Enum
from typing import assert_never

from gnomon.core.schedule import Overlap

__all__ = ["Turn", "turns"]


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
