"""The text of every page: valid whatever is told, and the same for the same figures."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from gnomon.compose.heartbeats import worker_families
from gnomon.shell.observe.counts import (
    Family,
    Histogram,
    Sample,
    counter,
    gauge,
    histogram,
)
from gnomon.shell.observe.prometheus import page_text
from tests.clauses import clause
from tests.compose.test_heartbeats import worker


@clause("METRICS-1")
@given(st.text(), st.floats(-1e9, 1e12))
def test_a_page_is_valid_whatever_labels_say(text: str, value: float) -> None:
    family = Family(
        name="krond_x", kind="gauge", help="Some.", samples=[Sample(value, {"job": text})]
    )

    (found,) = text_string_to_metric_families(page_text([family]))

    assert (found.name, found.type, found.documentation) == ("krond_x", "gauge", "Some.")
    (sample,) = found.samples
    assert (sample.labels, sample.value) == ({"job": text}, value)


@clause("METRICS-1")
@given(st.text(), st.text())
def test_a_page_is_valid_whatever_workers_and_hosts_are_called(owner: str, host: str) -> None:
    text = page_text(worker_families([worker(owner)._replace(host=host)]))

    found = {family.name: family for family in text_string_to_metric_families(text)}

    (sample,) = found["gnomon_worker_holding"].samples
    assert (sample.labels, sample.value) == ({"worker": owner, "host": host}, 3)


@clause("METRICS-1")
def test_a_page_has_each_kind_of_figure_with_its_labels_in_order() -> None:
    runs = counter("runs_total", "How runs ended.")
    runs.add(2, result="success", job='ba"ck\\up\n')
    length = Histogram((2.5, 1_000))
    for length_ms in (2, 3, 4_000):
        length.add(length_ms)

    page = page_text(
        [runs, gauge("jobs", "Jobs."), histogram("length_seconds", "How long.", length)]
    )

    assert page.splitlines() == [
        "# HELP runs_total How runs ended.",
        "# TYPE runs_total counter",
        r'runs_total{job="ba\"ck\\up\n",result="success"} 2.0',
        "# HELP length_seconds How long.",
        "# TYPE length_seconds histogram",
        'length_seconds_bucket{le="0.0025"} 1.0',
        'length_seconds_bucket{le="1.0"} 2.0',
        'length_seconds_bucket{le="+Inf"} 3.0',
        "length_seconds_count 3.0",
        "length_seconds_sum 4.005",
    ]


@clause("HTTP-22")
def test_a_histogram_with_a_bound_before_zero_has_no_sum() -> None:
    drift = Histogram((-100, 0))
    drift.add(-250)

    page = page_text([histogram("drift_seconds", "Drift.", drift)])

    assert page.splitlines()[2:] == [
        'drift_seconds_bucket{le="-0.1"} 1.0',
        'drift_seconds_bucket{le="0.0"} 1.0',
        'drift_seconds_bucket{le="+Inf"} 1.0',
    ]
