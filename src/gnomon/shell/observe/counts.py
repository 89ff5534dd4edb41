"""
What is counted, as plain values, and the figures that a page shows of them.

`Histogram` and `Telemetry` count. A `Family` is the figures of one name, with its help and the
labels of each figure; a door has a function that makes families of its counts. Counters count from
the start of the process, and times are seconds. This module knows no text format: `prometheus`
writes the families.

Spec: RUN-11, METRICS-3, METRICS-7.
"""

import dataclasses
import logging
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gnomon.core.civil.zone import tzdata_version
from gnomon.shell.observe.log import log

__all__ = [
    "COUNTERS",
    "Family",
    "Histogram",
    "Lag",
    "Sample",
    "Telemetry",
    "build_family",
    "counter",
    "gauge",
    "histogram",
    "runtime_families",
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
JUMP_MS = 2_000
_LAG_BOUNDS_MS = (
    1, 2, 5, 10, 20, 40, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000,
)  # fmt: skip


@dataclass(slots=True)
class Histogram:
    """How often a length in milliseconds was not greater than each of some bounds."""

    bounds_ms: tuple[float, ...]
    counts: list[int] = field(init=False)
    count: int = 0
    total_ms: int = 0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.bounds_ms) + 1)

    def add(self, length_ms: int, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds_ms, length_ms)] += times
        self.count += times
        self.total_ms += length_ms * times

    def buckets(self) -> dict[float, int]:
        """For each bound in milliseconds, how many were not greater than that."""
        total, found = 0, {}
        for bound, count in zip(self.bounds_ms, self.counts, strict=False):
            total += count
            found[bound] = total
        return found


@dataclass(slots=True)
class Lag(Histogram):
    """How long after their chosen instants runs were launched; before counts as at once."""

    bounds_ms: tuple[float, ...] = _LAG_BOUNDS_MS
    max_ms: int = 0

    def add(self, length_ms: int, times: int = 1) -> None:
        length_ms = max(length_ms, 0)
        Histogram.add(self, length_ms, times)  # `super()` does not know a class with slots
        self.max_ms = max(self.max_ms, length_ms)

    def add_all(self, now_ms: int, chosen_ms: Iterable[int]) -> None:
        """Launches at `now_ms`, by their chosen instants, of which many are the same."""
        for at_ms, times in Counter(chosen_ms).items():
            self.add(now_ms - at_ms, times)

    def within_ms(self, share: float) -> int:
        """A bound that at least this share of the launches kept; 0 when there were none."""
        for bound, count in self.buckets().items():
            if count >= share * self.count:
                return min(int(bound), self.max_ms)
        return self.max_ms


@dataclass(slots=True)
class Telemetry:
    """What a runtime has done since it began."""

    turns: int = 0
    claims_won: int = 0
    claims_lost: int = 0
    """Starts that were planned and not granted, because another writer was faster."""
    launches: int = 0
    launches_failed: int = 0
    ends: int = 0
    ends_failed: int = 0
    reports_refused: int = 0
    leases_lost: int = 0
    ledger_errors: int = 0
    clock_jumps: int = 0
    lag: Lag = field(default_factory=Lag)
    set_back: Callable[[], None] | None = None
    """Called when the clock was set back."""
    _last: tuple[int, int] | None = None

    def counters(self) -> dict[str, int]:
        """The counters by name."""
        found = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        return {name: value for name, value in found.items() if isinstance(value, int)}

    def see_clock(self, now_ms: int, monotonic_ms: int) -> None:
        """Compare what two readings of the two clocks say has passed; a difference is a jump."""
        last, self._last = self._last, (now_ms, monotonic_ms)
        if last is None:
            return
        step_ms = (now_ms - last[0]) - (monotonic_ms - last[1])
        if abs(step_ms) > JUMP_MS:
            self.clock_jumps += 1
            log(logging.WARNING, "the clock was set", step_ms=step_ms)
            if step_ms < 0 and self.set_back is not None:
                self.set_back()


class Sample(NamedTuple):
    """One figure."""

    value: float | Histogram
    labels: Mapping[str, str] = {}


@dataclass(slots=True, kw_only=True)
class Family:
    """The figures of one name; their labels have the same names."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: list[Sample] = field(default_factory=list)

    def add(self, value: float | Histogram, **labels: str) -> None:
        self.samples.append(Sample(value, labels))


def gauge(name: str, help_text: str, *values: float) -> Family:
    """What is so now: figures without labels, or a family to which figures are added."""
    return Family(name=name, kind="gauge", help=help_text, samples=list(map(Sample, values)))


def counter(name: str, help_text: str, *values: float) -> Family:
    """What only grows; such a name ends in `_total`."""
    return Family(name=name, kind="counter", help=help_text, samples=list(map(Sample, values)))


def histogram(name: str, help_text: str, *values: Histogram) -> Family:
    """How many were not greater than each bound."""
    return Family(name=name, kind="histogram", help=help_text, samples=list(map(Sample, values)))


def build_family(prefix: str, help_text: str, version: str, **labels: str) -> Family:
    """Which program this is."""
    found = gauge(f"{prefix}_build_info", help_text)
    found.add(1, version=version, tzdata=tzdata_version(), **labels)
    return found


def runtime_families(
    prefix: str, telemetry: Telemetry, *, counters: Iterable[str] = COUNTERS
) -> Iterator[Family]:
    """What a runtime has counted, and how late it started runs."""
    found = telemetry.counters()
    for name in counters:
        yield counter(f"{prefix}_{name}_total", COUNTERS[name], found[name])
    yield histogram(
        f"{prefix}_start_lateness_seconds",
        "How late after their chosen second runs were started.", telemetry.lag,
    )  # fmt: skip
