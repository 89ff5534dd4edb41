"""
How are the workflows doing, in numbers that Prometheus reads?

The figures are those of the store, read when they are asked for: they go on after a restart, and
every host of one database tells the same. What this host holds, and what it has answered, is its
own.

Spec: WHTTP-10.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.overview import Seen, WorkflowStats
from gnomon.ports.workflow_facts import RunStatus
from gnomon.shell.observe.counts import Family, counter, gauge

__all__ = ["workflow_families"]

_SEEN = {
    Seen.RUNNING: "running", Seen.IDLE: "idle", Seen.ATTENTION: "needs_attention",
    Seen.STOPPED: "stopped",
}  # fmt: skip
_OPEN = [one for one in RunStatus if one not in (RunStatus.COMMITTED, RunStatus.CRASHED)]


def workflow_families(found: Sequence[WorkflowStats], host: Host) -> Iterator[Family]:
    """The figures of one moment."""
    yield gauge("gnomon_workflows_held", "Held by this host.", host.held)
    yield gauge("gnomon_workflows_working", "That this host is at work on.", host.working)
    threads = gauge("gnomon_workflow_threads", "Threads of functions of scripts.")
    for state in ("busy", "waiting", "left", "most"):
        threads.add(getattr(host.threads, state), state=state)
    yield threads
    yield from _states(found)
    yield from _workflows(found)
    yield from _topics(found)


def _states(found: Sequence[WorkflowStats]) -> Iterator[Family]:
    seen = Counter(one.seen for one in found)
    workflows = gauge("gnomon_workflows", "Workflows.")
    for status, word in _SEEN.items():
        workflows.add(seen[status], status=word)
    opened = Counter(one.open_run for one in found)
    runs = gauge("gnomon_workflow_open_runs", "Open runs.")
    for state in _OPEN:
        runs.add(opened[state], status=state.value)
    yield from (workflows, runs)


def _workflows(found: Sequence[WorkflowStats]) -> Iterator[Family]:
    runs = counter("gnomon_workflow_runs_total", "Runs that were begun.")
    failures = gauge("gnomon_workflow_failures", "Transient failures in a row.")
    late = gauge("gnomon_workflow_late_seconds", "How long it should have looked again by itself.")
    for one in found:
        runs.add(one.runs, workflow=one.name)
        failures.add(one.failures, workflow=one.name)
        late.add(one.late_ms / 1000, workflow=one.name)
    yield from (runs, failures, late)


def _topics(found: Sequence[WorkflowStats]) -> Iterator[Family]:
    waiting = gauge("gnomon_workflow_events_waiting", "Events that wait to be consumed.")
    oldest = gauge("gnomon_workflow_oldest_event_seconds", "How long the oldest has waited.")
    for one in found:
        for topic, wait in one.waiting.items():
            waiting.add(wait.size, workflow=one.name, topic=topic)
            oldest.add(wait.oldest_ms / 1000, workflow=one.name, topic=topic)
    yield from (waiting, oldest)
