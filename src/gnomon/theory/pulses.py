"""
Pulses: putting the minutes, dues and retries into a trace that was recorded without them.

A trace whose header says "pulses": "derived" leaves MinuteStart, Due and RetryDue to its judge,
so that a scheduler does not testify in its own case. What is due when is the caller's
knowledge; here the pulses are only put where they belong: in order of time, before everything else
of the same millisecond, and minutes before dues before retries.

Spec: THEORY-18.
"""

import heapq
from collections.abc import Iterable, Iterator

from gnomon.theory.positions import by_name
from gnomon.trace import CallId, Event, Kind, Registration

__all__ = ["merge", "retry_pulses"]

_RANK = {Kind.MINUTE_START: 0, Kind.DUE: 1, Kind.RETRY_DUE: 2}
_ACTION_RANK = 3


def merge(events: Iterable[Event], *pulses: Iterable[Event]) -> Iterator[Event]:
    """The events with the pulses among them; each argument must be in order of time."""
    return heapq.merge(*pulses, events, key=_order)


def retry_pulses(events: Iterable[Event], *, delay_min_ms: int = 0) -> Iterator[Event]:
    """
    For every failure the instant at which its delay is over, in order of time.

    The delay is that of the list that was registered when the run started, and `delay_min_ms` at
    least. Whether a pulse still counts then is the theory's to say.
    """
    found = []
    open_calls: dict[CallId, tuple[Registration, ...]] = {}
    registered: dict[str, Registration] = {}
    started: dict[str, Registration | None] = {}
    for event in events:
        match event.kind:
            case Kind.INIT_START:
                open_calls[event.call] = event.registrations
            case Kind.INIT_SUCCESS:
                registered = by_name(open_calls.pop(event.call, ()))
            case Kind.RUN_START:
                started[event.task] = registered.get(event.task)
            case Kind.RUN_FAILURE if (task := started.get(event.task)) is not None:
                due_t = event.t + max(task.retry_ms, delay_min_ms)
                found.append(Event(Kind.RETRY_DUE, due_t, event.task))
            case Kind.CRASH:
                open_calls.clear()
    return iter(sorted(found, key=_order))


def _order(event: Event) -> tuple[int, int]:
    return event.t, _RANK.get(event.kind, _ACTION_RANK)
