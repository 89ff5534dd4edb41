"""
Figures in the text format of Prometheus, written by Prometheus's own library.

Every page of Gnomon is written here, so that all of them write numbers, bounds and labels alike. A
family without figures is left out. No page tells when a counter began: `_created` is a figure that
the docs do not promise, and it doubles the series.

Spec: METRICS-1.
"""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from gnomon.shell.observe.counts import Family, Histogram

__all__ = ["CONTENT_TYPE", "page_text"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""What Prometheus expects."""


def page_text(families: Iterable[Family]) -> str:
    """The families that have figures, one below the other."""
    registry = CollectorRegistry()
    registry.register(_Counts(families))
    return generate_latest(registry).decode()


class _Counts(Collector):
    """Our counts as the library wants them."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return (_metric(family) for family in self._families if family.samples)


def _metric(family: Family) -> Metric:
    names = list(family.samples[0].labels)
    if family.kind == "histogram":
        return _histogram(family, names)
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    found = kind(family.name, family.help, labels=names)
    for value, labels in family.samples:
        assert not isinstance(value, Histogram)
        found.add_metric([labels[name] for name in names], value)
    return found


def _histogram(family: Family, names: list[str]) -> Metric:
    """Without sum and count where a bound is negative; so the library wants it."""
    found = HistogramMetricFamily(family.name, family.help, labels=names)
    for value, labels in family.samples:
        assert isinstance(value, Histogram)
        total = value.total_ms / 1000
        found.add_metric([labels[name] for name in names], _buckets(value), sum_value=total)
    return found


def _buckets(found: Histogram) -> list[tuple[str, float]]:
    """The numbers by their bounds in seconds, written as floats: `1.0` and not `1`."""
    numbers = found.buckets().items()
    return [*((str(bound / 1000), float(number)) for bound, number in numbers),
            ("+Inf", float(found.count))]  # fmt: skip
