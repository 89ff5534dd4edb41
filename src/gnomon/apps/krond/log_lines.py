"""
What a log line of krond looks like.

One line for each event: timestamp, level, component and event, then `key=value` pairs; or JSON with
the same keys. A value with blanks or quotes in it is written as a JSON text, so that a line can
always be taken apart again.

Spec: KROND-28.
"""

import json
import logging
import re
from datetime import UTC, datetime

__all__ = ["KronLines"]

COMPONENT = "krond"
_PLAIN = re.compile(r"[^\s\"'=\\]+")
_ODD = re.compile(r"[^a-z0-9]+")


class KronLines(logging.Formatter):
    """Lines of krond, as text or as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        found = getattr(record, "fields", None)
        facts: dict[str, object] = dict(found) if isinstance(found, dict) else {}
        event = str(facts.pop("event", None) or record.getMessage())
        head: dict[str, object] = {
            "timestamp": at.replace("+00:00", "Z"), "level": record.levelname,
            "component": COMPONENT, "event": _ODD.sub("_", event.lower()).strip("_"),
        }  # fmt: skip
        if record.exc_info:
            facts["traceback"] = self.formatException(record.exc_info)
        if self._as_json:
            return json.dumps(head | facts, default=str)
        pairs = [f"{name}={_value(fact)}" for name, fact in facts.items() if fact is not None]
        return " ".join([*map(str, head.values()), *pairs])


def _value(fact: object) -> str:
    text = fact if isinstance(fact, str) else json.dumps(fact, default=str, separators=(",", ":"))
    return text if _PLAIN.fullmatch(text) and text.isprintable() else json.dumps(text)
