"""
What the workflow host says about itself: one log line for each event.

Lines go through the standard `logging`, to the logger `gnomon.workflow`; the record carries the
same facts as `fields`.
"""

import logging

__all__ = ["LOGGER", "log"]

LOGGER = logging.getLogger("gnomon.workflow")


def log(level: int, event: str, *, failure: BaseException | None = None, **facts: object) -> None:
    """One line: the name of an event and its facts."""
    if LOGGER.isEnabledFor(level):
        text = "".join(f" {name}={fact!r}" for name, fact in facts.items())
        fields = {"event": event, **facts}
        LOGGER.log(level, "%s:%s", event, text, exc_info=failure, extra={"fields": fields})
