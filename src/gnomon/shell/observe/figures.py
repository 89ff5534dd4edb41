"""
What is there to tell about a runtime, and about the workers that share a database?

Each page has a prefix of its own (`krond`, `gnomon`) and the same figures behind it. Counters count
from the start of the process, and times are seconds. Workers are known by the label `worker`, the
name under which the ledger has their runs; exactly one of their states is 1, and `silent` is the
state of who has not been heard of for long and has not said good-bye.

Spec: METRICS-3, METRICS-7, METRICS-8.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from gnomon.core.civil.zone import tzdata_version
from gnomon.shell.observe.exposition import Family, Sample, histogram
from gnomon.shell.observe.telemetry import Telemetry

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.presence import WorkerRow  # it needs an extra

__all__ = [
    "COUNTERS",
    "GOODBYE_MS",
    "STATES",
    "build_family",
    "gauge",
    "runtime_families",
    "worker_families",
]

COUNTERS = {
    "turns": "Turns that were taken.",
    "claims_won": "Runs that were claimed.",
    "claims_lost": "Runs that another worker had claimed first.",
    "launches": "Runs that were started.",
    "launches_failed": "Runs that could not be started.",
    "ends": "Runs that ended.",
    "ends_failed": "Runs that ended in failure.",
    "reports_refused": "Reports that came too late to count.",
    "leases_lost": "Runs that were taken over by others.",
    "ledger_errors": "Calls of the ledger that failed.",
    "clock_jumps": "Times that the clock was set.",
}
"""What a runtime counts, by the names of `Telemetry`."""
STATES = ("running", "draining", "stopped", "silent")
GOODBYE_MS = 300_000
"""For how long a worker is shown that has said good-bye."""


def build_family(prefix: str, help_text: str, version: str, **labels: str) -> Family:
    """Which program this is."""
    told = {"version": version, "tzdata": tzdata_version(), **labels}
    return gauge(prefix, "build_info", help_text, Sample(1, told))


def runtime_families(
    prefix: str, telemetry: Telemetry, *, counters: Iterable[str] = COUNTERS
) -> Iterator[Family]:
    """What a runtime has counted, and how late it started runs."""
    found, lag = telemetry.counters(), telemetry.lag
    for name in counters:
        yield Family(
            name=f"{prefix}_{name}_total", kind="counter", help=COUNTERS[name],
            samples=[Sample(found[name])],
        )  # fmt: skip
    yield histogram(
        f"{prefix}_start_lateness_seconds",
        "How late after their chosen second runs were started.",
        [(bound / 1000, number) for bound, number in lag.buckets().items()],
        count=lag.count, total=lag.total_ms / 1000,
    )  # fmt: skip


def worker_families(workers: Sequence["WorkerRow"] | None) -> list[Family]:
    """The heartbeats of all workers; None when they could not be read."""
    up = gauge("gnomon", "ledger_up", "Whether the database answered when it was asked just now.")
    up.samples.append(Sample(int(workers is not None)))
    age = _of_worker("heartbeat_age_seconds", "How long ago a worker was last heard of.")
    state = _of_worker("state", "How a worker is: 1 for the state that it is in.")
    holding = _of_worker("holding", "How many runs a worker had in hand when last heard of.")
    ahead = _of_worker("clock_ahead_seconds", "By how much a clock is ahead of the database's.")
    started = _of_worker("start_time_seconds", "When a worker was first heard of.")
    for one in filter(_is_shown, workers or ()):
        labels = {"worker": one.owner, "host": one.host}
        is_in = "silent" if one.is_silent else one.state
        age.samples.append(Sample(one.silent_ms / 1000, labels))
        state.samples += [Sample(int(is_in == name), {**labels, "state": name}) for name in STATES]
        holding.samples.append(Sample(one.holding, labels))
        ahead.samples.append(Sample(one.ahead_ms / 1000, labels))
        started.samples.append(Sample(one.started_ms / 1000, labels))
    return [up, age, state, holding, ahead, started]


def gauge(prefix: str, name: str, help_text: str, *samples: Sample) -> Family:
    return Family(name=f"{prefix}_{name}", kind="gauge", help=help_text, samples=list(samples))


def _of_worker(name: str, help_text: str) -> Family:
    return gauge("gnomon_worker", name, help_text)


def _is_shown(worker: "WorkerRow") -> bool:
    return worker.state != "stopped" or worker.silent_ms <= GOODBYE_MS
