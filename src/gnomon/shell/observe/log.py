"""
Log lines of the runtime: a sentence with its facts, where they go, and in which form.

They go through the standard `logging`, because a library does not choose for its host: the text is
a sentence, and the record carries the same facts as `fields`, which `JsonLines` prints as JSON. A
command has them go to a handler of its own while something runs.

Spec: RUN-12, CLI-21, CLI-61.
"""

import json
import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from gnomon.errors.root import harmless

__all__ = ["LOGGER", "JsonLines", "PlainLines", "log", "log_facts", "log_lines", "logs_to"]

LOGGER = logging.getLogger("gnomon.runtime")
_POOL = logging.getLogger("asyncpg.pool")
"""While a database is away it writes a traceback for each try; the runtime says it in a line."""
_PLAIN = "%(asctime)s.%(msecs)03dZ %(levelname)-7s %(message)s"


class PlainLines(logging.Formatter):
    """Lines for people; what a script says in an error does not command their terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


class JsonLines(logging.Formatter):
    """One JSON object a line; control characters cannot break out of it."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "at": at.replace("+00:00", "Z"), "level": record.levelname.lower(),
        }  # fmt: skip
        found = getattr(record, "fields", None)
        if isinstance(found, dict):
            line |= found
        else:
            line["event"] = record.getMessage()
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log(level: int, event: str, *, failure: BaseException | None = None, **facts: object) -> None:
    """One line about the runtime: a sentence and its facts."""
    log_facts(level, event, facts, failure=failure)


def log_facts(
    level: int, event: str, facts: Mapping[str, object], *, failure: BaseException | None = None
) -> None:
    """The same, for facts under any names."""
    if LOGGER.isEnabledFor(level):
        text = "".join(f" {name}={fact!r}" for name, fact in facts.items())
        line = f"{event}:{text}" if facts else event
        fields = {"event": event, **facts}
        LOGGER.log(level, "%s", line, exc_info=failure, extra={"fields": fields})


@contextmanager
def logs_to(handler: logging.Handler, *, level: int = logging.INFO) -> Iterator[None]:
    """Within this block the lines about the runtime go to this handler, and nowhere else."""
    former, propagates = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    LOGGER.propagate = False
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(former)
        LOGGER.propagate = propagates


@contextmanager
def log_lines(handler: logging.Handler, *, as_json: bool) -> Iterator[None]:
    """Have the runtime's log lines go to this handler inside the block."""
    plain = PlainLines(_PLAIN, "%Y-%m-%dT%H:%M:%S")
    plain.converter = time.gmtime
    handler.setFormatter(JsonLines() if as_json else plain)
    loudness = _POOL.level
    _POOL.setLevel(logging.ERROR)
    try:
        with logs_to(handler):
            yield
    finally:
        _POOL.setLevel(loudness)
