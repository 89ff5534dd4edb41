"""
How are the workflows doing, in numbers that Prometheus reads?

The figures are those of the store, read when they are asked for: they go on after a restart, and
every host of one database tells the same. What this host holds, and what it has answered, is its
own.

Spec: WHTTP-10.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.overview import Seen
from gnomon.apps.workflow.stats import WorkflowStats
from gnomon.ports import Clock
from gnomon.ports.workflow_facts import RunStatus
from gnomon.shell.http.metrics import HttpMetrics

__all__ = ["WorkflowMetrics"]

_SEEN = {
    Seen.RUNNING: "running", Seen.IDLE: "idle", Seen.ATTENTION: "needs_attention",
    Seen.STOPPED: "stopped",
}  # fmt: skip
_OPEN = [one for one in RunStatus if one not in (RunStatus.COMMITTED, RunStatus.CRASHED)]


class WorkflowMetrics(HttpMetrics):
    """The metrics of a host and of its answers."""

    def __init__(self, host: Host, clock: Clock) -> None:
        super().__init__()
        self._host = host
        self._clock = clock

    async def page(self) -> bytes:
        """All metrics in the text format of Prometheus; `StoreError` without the store."""
        found = await self._host.desk.lookup.stats(now_ms=self._clock.now_ms())
        registry = CollectorRegistry()
        registry.register(_WorkflowCollector(found, self._host))
        return generate_latest(registry) + self.text()


class _WorkflowCollector(Collector):
    """The figures of one moment."""

    def __init__(self, found: Sequence[WorkflowStats], host: Host) -> None:
        self._found = found
        self._held = host.held
        self._working = host.working
        self._threads = host.threads

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("gnomon_workflows_held", "Held by this host.", value=self._held)
        yield GaugeMetricFamily(
            "gnomon_workflows_working", "That this host is at work on.", value=self._working
        )
        threads = GaugeMetricFamily(
            "gnomon_workflow_threads", "Threads of functions of scripts.", labels=["state"]
        )
        for state in ("busy", "waiting", "left", "most"):
            threads.add_metric([state], getattr(self._threads, state))
        yield threads
        yield from self._states()
        yield from self._workflows()
        yield from self._topics()

    def _states(self) -> Iterator[Metric]:
        seen = Counter(one.seen for one in self._found)
        workflows = GaugeMetricFamily("gnomon_workflows", "Workflows.", labels=["status"])
        for status, word in _SEEN.items():
            workflows.add_metric([word], seen[status])
        yield workflows
        opened = Counter(one.open_run for one in self._found)
        runs = GaugeMetricFamily("gnomon_workflow_open_runs", "Open runs.", labels=["status"])
        for state in _OPEN:
            runs.add_metric([state.value], opened[state])
        yield runs

    def _workflows(self) -> Iterator[Metric]:
        labels = ["workflow"]
        runs = CounterMetricFamily("gnomon_workflow_runs", "Runs that were begun.", labels=labels)
        failures = GaugeMetricFamily(
            "gnomon_workflow_failures", "Transient failures in a row.", labels=labels
        )
        late = GaugeMetricFamily(
            "gnomon_workflow_late_seconds",
            "How long it should have looked again by itself.", labels=labels,
        )  # fmt: skip
        for one in self._found:
            runs.add_metric([one.name], one.runs)
            failures.add_metric([one.name], one.failures)
            late.add_metric([one.name], one.late_ms / 1000)
        yield from (runs, failures, late)

    def _topics(self) -> Iterator[Metric]:
        labels = ["workflow", "topic"]
        waiting = GaugeMetricFamily(
            "gnomon_workflow_events_waiting", "Events that wait to be consumed.", labels=labels
        )
        oldest = GaugeMetricFamily(
            "gnomon_workflow_oldest_event_seconds", "How long the oldest has waited.", labels=labels
        )
        for one in self._found:
            for topic, found in one.waiting.items():
                waiting.add_metric([one.name, topic], found.size)
                oldest.add_metric([one.name, topic], found.oldest_ms / 1000)
        yield from (waiting, oldest)
