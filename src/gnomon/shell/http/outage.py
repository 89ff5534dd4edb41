"""
What does the log say while a store cannot be reached? That it cannot, once, and when it can again.

Each request is answered with 503 and counted; a line for each would bury the one that says why.
Another reason is another line, up to a bound.

Spec: HTTP-41.
"""

import logging

from gnomon.shell.observe.telemetry import log

__all__ = ["Outage"]

REASONS_MAX = 8
_WITHOUT_STORE = ("none", "/healthz", "/openapi.json", "/metrics", "/events")
"""Routes whose answers say nothing about the store."""


class Outage:
    """Whether the store of an application can be reached, as its requests have found."""

    def __init__(self) -> None:
        self._reasons: set[str] = set()
        self._requests = 0

    def failed(self, path: str, reason: str) -> None:
        """A request could not be answered for this reason."""
        self._requests += 1
        if reason not in self._reasons and len(self._reasons) < REASONS_MAX:
            self._reasons.add(reason)
            log(logging.ERROR, "requests cannot be answered", path=path, reason=reason)

    def answered(self, route: str, status: int) -> None:
        """A request of this route was answered."""
        if self._requests and status < 400 and route not in _WITHOUT_STORE:
            log(logging.INFO, "requests are answered again", unanswered=self._requests)
            self._reasons.clear()
            self._requests = 0
