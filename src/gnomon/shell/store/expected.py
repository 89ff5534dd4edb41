"""
When is a schedule's expectation to be looked at for the first time?

What is expected stands in the target of a schedule of the service: by when a run must have begun,
and by when it must have ended, after its planned instant. The judge of it writes down when to
look again; saving a schedule does that for the first time, so that nothing is forgotten when a
process dies.

Spec: SERVICE-20.
"""

import json
from typing import NamedTuple

from gnomon.core.schedule import Schedule

__all__ = ["FirstLook", "first_look"]


class FirstLook(NamedTuple):
    """When to look, for which nominal instants."""

    check_ms: int
    after: int


def first_look(schedule: Schedule, cursor: int) -> FirstLook | None:
    """None when nothing is expected, or nothing is ahead."""
    if '_by_ms"' not in schedule.target:
        return None
    target = json.loads(schedule.target)
    lengths = [target.get(name) for name in ("start_by_ms", "finish_by_ms")]
    given = [length for length in lengths if isinstance(length, int)]
    following = schedule.recurrence.next_epoch(cursor)
    if not given or following is None:
        return None
    return FirstLook(following * 1000 + min(given), cursor)
