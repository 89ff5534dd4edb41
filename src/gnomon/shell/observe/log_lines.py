"""
Where do log lines go, and in which form? To a handler, as text or as JSON, while something runs.

Spec: CLI-21, CLI-61.
"""

import contextlib
import logging
import time
from collections.abc import Iterator

from gnomon.errors.root import harmless
from gnomon.shell.observe.telemetry import LOGGER, JsonLines

__all__ = ["PlainLines", "log_lines"]

_POOL = logging.getLogger("asyncpg.pool")
"""While a database is away it writes a traceback for each try; the runtime says it in a line."""
_PLAIN = "%(asctime)s.%(msecs)03dZ %(levelname)-7s %(message)s"


class PlainLines(logging.Formatter):
    """Lines for people; what a script says in an error does not command their terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return harmless(super().format(record))


@contextlib.contextmanager
def log_lines(handler: logging.Handler, *, as_json: bool) -> Iterator[None]:
    """Have the runtime's log lines go to this handler inside the block."""
    plain = PlainLines(_PLAIN, "%Y-%m-%dT%H:%M:%S")
    plain.converter = time.gmtime
    handler.setFormatter(JsonLines() if as_json else plain)
    former, propagates = LOGGER.level, LOGGER.propagate
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False
    loudness = _POOL.level
    _POOL.setLevel(logging.ERROR)
    try:
        yield
    finally:
        _POOL.setLevel(loudness)
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(former)
        LOGGER.propagate = propagates
