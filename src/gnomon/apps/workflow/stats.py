"""
How are the workflows doing, in numbers?

For each workflow: how it is, what its open run waits for, how much waits in each topic and for how
long, and how late it is with what it does by itself. All of it follows from its facts.

Spec: WHTTP-10.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gnomon.apps.workflow.overview import Seen, overview
from gnomon.ports.workflow_facts import Event, Facts, RunStatus

__all__ = ["Waiting", "WorkflowStats", "stats_of"]


class Waiting(NamedTuple):
    """What waits in a topic."""

    size: int
    oldest_ms: int
    """For how long the oldest event has waited; 0 when there is none."""


class WorkflowStats(NamedTuple):
    """One workflow in numbers."""

    name: str
    seen: Seen
    open_run: RunStatus | None
    """What the open run is doing, or what it waits for."""
    runs: int
    """How many runs were begun, ever."""
    failures: int
    """Transient failures in a row."""
    late_ms: int
    """For how long it should have looked again by itself; 0 when it is not late."""
    waiting: dict[str, Waiting]
    """By topic, for those that a consumer subscribes to."""


def stats_of(facts: Facts, oldest: Mapping[str, Event], *, now_ms: int) -> WorkflowStats:
    """The figures of a workflow; `oldest` are the oldest pending events, by topic."""
    standing, seen = facts.standing, overview(facts, ())
    topics = sorted({topic for one in facts.handlers for topic in one.subscribes})
    return WorkflowStats(
        name=standing.name, seen=seen.status,
        open_run=None if facts.run is None else facts.run.status,
        runs=standing.runs, failures=standing.failures,
        late_ms=0 if seen.next_ms is None else max(now_ms - seen.next_ms, 0),
        waiting={topic: _waiting(facts, topic, oldest.get(topic), now_ms) for topic in topics},
    )  # fmt: skip


def _waiting(facts: Facts, topic: str, oldest: Event | None, now_ms: int) -> Waiting:
    if topic not in facts.pending or oldest is None:
        return Waiting(0, 0)
    return Waiting(facts.pending[topic].size, max(now_ms - oldest.created_ms, 0))
