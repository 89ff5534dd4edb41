"""Counters, lag and log lines."""

import io
import json
import logging

import pytest

from gnomon.shell.observe.telemetry import LOGGER, JsonLines, Lag, Telemetry, log
from tests.clauses import clause


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


@clause("RUN-12")
def test_a_log_line_has_its_facts_in_the_text_and_as_fields() -> None:
    stream = io.StringIO()
    plain, lines = logging.StreamHandler(stream), logging.StreamHandler(stream)
    lines.setFormatter(JsonLines())
    for handler in (plain, lines):
        LOGGER.addHandler(handler)
    try:
        log(logging.WARNING, "launch failed", key="k", message="two\nlines")
    finally:
        for handler in (plain, lines):
            LOGGER.removeHandler(handler)

    text, line = stream.getvalue().splitlines()
    found = json.loads(line)
    assert text == "launch failed: key='k' message='two\\nlines'"
    assert found.pop("at").endswith("Z")
    assert found == {
        "level": "warning", "event": "launch failed", "key": "k", "message": "two\nlines",
    }  # fmt: skip


@clause("RUN-12")
def test_a_log_line_without_facts_is_the_event_alone(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="gnomon.runtime"):
        log(logging.INFO, "left at once; runs in flight go on")

    assert caplog.messages == ["left at once; runs in flight go on"]


@clause("RUN-12")
def test_a_line_of_another_logger_is_printed_too() -> None:
    record = logging.LogRecord("x", logging.INFO, "file", 1, "hello %s", ("you",), None)

    found = json.loads(JsonLines().format(record))

    assert (found["level"], found["event"]) == ("info", "hello you")
