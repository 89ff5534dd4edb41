"""
Log lines of the runtime, with fields.

They go through the standard `logging`, because a library does not choose for its host: the text is
a sentence, and the record carries the same facts as `fields`, which `JsonLines` prints as JSON.

Spec: RUN-12.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

__all__ = ["LOGGER", "JsonLines", "log", "log_facts", "logs_to"]

LOGGER = logging.getLogger("gnomon.runtime")


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
