"""
What does a workflow do next, and when?

One thing at a time: while a run is open, whether it works, waits or has failed, nothing else of the
workflow runs. When none is open, consumers go before producers, so that what has come in is dealt
with before more is fetched, and among consumers the one with the oldest pending event. However
often a handler was called for meanwhile, it runs once.

`seen` holds for each consumer the newest arrival that its latest prepare could see. It lives in
memory only: a host that starts with nothing in it finds every consumer with pending events dirty.

Spec: WHEN-4 to WHEN-12, WHEN-16, WHEN-17, FAIL-21, MUTATE-18.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gnomon.apps.workflow.failure import REPAIRS_MAX
from gnomon.apps.workflow.pace import Hold
from gnomon.ports.workflow_facts import Facts, Handler, HandlerKind, Mode, Run, RunStatus

__all__ = ["Begin", "Continue", "Flags", "Next", "Reconcile", "Repair", "Rest", "Retry", "choose",
           "flags"]  # fmt: skip


class Begin(NamedTuple):
    """Start a run of this handler."""

    handler: str


class Continue(NamedTuple):
    """Go on with the open run, from its phase."""


class Retry(NamedTuple):
    """Begin the next attempt of the open run."""


class Reconcile(NamedTuple):
    """Try to find out what became of the mutation of the open run."""


class Repair(NamedTuple):
    """Ask for a better script."""


class Rest(NamedTuple):
    """There is nothing to do until then; None until something rings."""

    until_ms: int | None


Next = Begin | Continue | Retry | Reconcile | Repair | Rest


class Flags(NamedTuple):
    """What a handler was called for."""

    dirty: bool
    """There are events that it has not seen."""
    queued: bool
    """It would run now, if no other run were open."""


def choose(
    facts: Facts, seen: Mapping[str, int], *, now_ms: int, repairs: bool, hold: Hold | None = None
) -> Next:
    """
    What is to be done now.

    `repairs` says whether a better script can be asked for, and `hold` that consumers wait a
    moment, because they feed each other.
    """
    if facts.standing.mode is Mode.PAUSED:
        return Rest(None)
    if facts.run is not None:
        return _of_open_run(facts, facts.run, now_ms=now_ms, repairs=repairs)
    held = hold if hold is not None and hold.until_ms > now_ms else None
    least = held.arrivals if held is not None else 0
    called = {one.name: max(seen.get(one.name, 0), least) for one in facts.handlers}
    ready = [one for one in facts.handlers if _is_called(facts, one, called, now_ms)]
    if ready:
        return Begin(min(ready, key=lambda one: _rank(facts, one)).name)
    alarms = list(_alarms(facts))
    if held is not None and any(_is_dirty(facts, one, seen) for one in facts.handlers):
        alarms.append(held.until_ms)
    return Rest(min(alarms, default=None))


def flags(facts: Facts, seen: Mapping[str, int], *, now_ms: int) -> dict[str, Flags]:
    """What each handler was called for, as it can be observed."""
    return {
        one.name: Flags(
            dirty=_is_dirty(facts, one, seen),
            queued=facts.run is not None and _is_called(facts, one, seen, now_ms),
        )
        for one in facts.handlers
    }


def _of_open_run(facts: Facts, run: Run, *, now_ms: int, repairs: bool) -> Next:
    standing, mutation = facts.standing, facts.mutation
    if run.status is RunStatus.ACTIVE:
        return Continue()
    if run.status is RunStatus.RECONCILIATION:
        assert mutation is not None, run
        if not mutation.reconcilable:
            return Rest(None)
        at_ms = mutation.next_ms or 0  # None where an earlier Gnomon had given up
        return Reconcile() if at_ms <= now_ms else Rest(at_ms)
    if run.status is RunStatus.TRANSIENT and standing.retry_ms is None:
        return Retry()  # an earlier Gnomon had given up
    if standing.retry_ms is not None:
        return Retry() if standing.retry_ms <= now_ms else Rest(standing.retry_ms)
    if run.status is RunStatus.LOGIC and repairs and standing.repairs < REPAIRS_MAX:
        return Repair()
    return Rest(None)


def _is_called(facts: Facts, handler: Handler, seen: Mapping[str, int], now_ms: int) -> bool:
    at_ms = handler.next_run_ms if handler.kind is HandlerKind.PRODUCER else handler.wake_ms
    return (at_ms is not None and at_ms <= now_ms) or _is_dirty(facts, handler, seen)


def _is_dirty(facts: Facts, handler: Handler, seen: Mapping[str, int]) -> bool:
    last = seen.get(handler.name, 0)
    return any(
        topic in facts.pending and facts.pending[topic].newest > last
        for topic in handler.subscribes
    )


def _rank(facts: Facts, handler: Handler) -> tuple[bool, float, int]:
    if handler.kind is HandlerKind.PRODUCER:
        return True, handler.next_run_ms or 0, handler.place
    oldest = [facts.pending[one].oldest for one in handler.subscribes if one in facts.pending]
    return False, min(oldest, default=float("inf")), handler.place


def _alarms(facts: Facts) -> Iterator[int]:
    for one in facts.handlers:
        at_ms = one.next_run_ms if one.kind is HandlerKind.PRODUCER else one.wake_ms
        if at_ms is not None:
            yield at_ms
