"""
The events: minute after minute every task is due, starts and ends, and one in twenty runs fails.

For the one formula, `RS -> Y(!RS S Due)` at every position, the events of a single task are told as
two truth values, and the last of them is a start that is not owed, so that every engine must find
it.
"""

from itertools import islice
from typing import NamedTuple

__all__ = ["Step", "formula_steps", "minutes"]

_FAILS_EVERY = 20
_MINUTE_MS = 60_000
_SPREAD_MS = 20_000
"""All starts fall into this long, and all ends after that."""


class Step(NamedTuple):
    """What happens, in words that need nothing of Gnomon: a kind, when, and to whom."""

    kind: str
    t: int
    task: str = ""


def minutes(tasks: int, events: int) -> list[Step]:
    """About so many events, whole minutes of them."""
    names = [f"task-{number}" for number in range(tasks)]
    steps: list[Step] = []
    t = 0
    while len(steps) < events:
        t += _MINUTE_MS
        steps.append(Step("MinuteStart", t))
        steps += [Step("Due", t, name) for name in names]
        for number, name in enumerate(names):
            steps.append(Step("RunStart", t + number * _SPREAD_MS // tasks, name))
        for number, name in enumerate(names):
            kind = "RunFailure" if len(steps) % _FAILS_EVERY == 0 else "RunSuccess"
            steps.append(Step(kind, t + _SPREAD_MS + number * _SPREAD_MS // tasks, name))
    return steps


def formula_steps(events: int) -> list[Step]:
    """So many events of one task; the last one is a start that is not owed."""
    steps = list(islice(minutes(1, events), events - 1))
    return [*steps, Step("RunStart", steps[-1].t + 1, "task-0")]
