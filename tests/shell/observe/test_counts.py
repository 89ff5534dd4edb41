"""Counters and histograms, and the figures of a runtime, the same for every page that has them."""

import pytest

from gnomon.shell.observe.counts import COUNTERS, Histogram, Lag, Telemetry, runtime_families
from gnomon.shell.observe.prometheus import page_text
from tests.clauses import clause


@clause("SERVICE-31")
def test_what_was_early_is_not_counted_with_what_was_late() -> None:
    drift = Histogram((-1_000, -100, 0, 5, 60_000))
    for drift_ms in (-500, 0, 3, 70_000):
        drift.add(drift_ms)

    assert drift.buckets() == {-1_000: 0, -100: 1, 0: 2, 5: 3, 60_000: 3}
    assert (drift.count, drift.total_ms) == (4, 69_503)


@clause("RUN-11")
def test_lag_is_counted_by_bounds() -> None:
    lag = Lag()
    for lag_ms in (-3, 1, 15, 15, 39, 400_000):
        lag.add(lag_ms)

    assert (lag.count, lag.max_ms, lag.total_ms) == (6, 400_000, 400_070)
    assert {bound: lag.buckets()[bound] for bound in (1, 10, 20, 40, 300_000)} == {
        1: 2, 10: 2, 20: 4, 40: 5, 300_000: 5,
    }  # fmt: skip
    assert [lag.within_ms(share) for share in (0.3, 0.5, 1.0)] == [1, 20, 400_000]


@clause("RUN-11")
def test_without_launches_there_is_no_lag() -> None:
    assert Lag().within_ms(0.99) == 0


@clause("RUN-11")
@pytest.mark.parametrize(
    ("wall_ms", "jumps"), [(1_000, 0), (2_999, 0), (3_001, 1), (-999, 0), (-1_001, 1)]
)
def test_a_clock_that_is_set_by_more_than_two_seconds_has_jumped(wall_ms: int, jumps: int) -> None:
    telemetry = Telemetry()

    telemetry.see_clock(10_000, 500)
    telemetry.see_clock(10_000 + wall_ms, 1_500)

    assert telemetry.clock_jumps == jumps


@clause("RUN-11")
def test_counters_have_names() -> None:
    telemetry = Telemetry(turns=3, ends=2)

    counters = telemetry.counters()

    assert (counters["turns"], counters["ends"], counters["clock_jumps"]) == (3, 2, 0)
    assert "lag" not in counters


@clause("METRICS-7")
def test_everything_that_a_runtime_counts_is_told() -> None:
    telemetry = Telemetry(claims_lost=4, ends_failed=2)
    telemetry.lag.add(1_500)

    text = page_text(runtime_families("gnomon", telemetry))

    assert set(COUNTERS) == set(telemetry.counters())
    for line in (
        "gnomon_claims_lost_total 4.0",
        "gnomon_ends_failed_total 2.0",
        "gnomon_turns_total 0.0",
        'gnomon_start_lateness_seconds_bucket{le="1.0"} 0.0',
        'gnomon_start_lateness_seconds_bucket{le="2.0"} 1.0',
        "gnomon_start_lateness_seconds_sum 1.5",
    ):
        assert line in text.splitlines()
