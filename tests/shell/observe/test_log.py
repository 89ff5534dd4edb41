"""Log lines and their fields."""

import io
import json
import logging

import pytest

from gnomon.shell.observe.log import LOGGER, JsonLines, log
from tests.clauses import clause


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
