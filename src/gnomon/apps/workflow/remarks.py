"""
What a host says in its log of one workflow beside what it does: wishes that are none, events that
its consumers do not look at, consumers that feed themselves.

What lasts is said once, and again only after it was over.

Spec: WAKE-8, WHEN-16, SEEN-11.
"""

import logging

from gnomon.apps.workflow.log import log
from gnomon.apps.workflow.pace import BURST, EVERY_MS, Hold
from gnomon.apps.workflow.run_changes import Preparation

__all__ = ["Remarks"]

PACED_MS = 60_000
"""How long consumers must have gone unhindered before it is said again that they wait."""


class Remarks:
    """Of one workflow, as long as its host lives."""

    def __init__(self, workflow: str) -> None:
        self._workflow = workflow
        self._unseen: set[str] = set()
        """The consumers that do not look at all that is pending, and take nothing."""

    def of_preparation(self, handler: str, found: Preparation) -> None:
        if found.problem:
            log(
                logging.WARNING, "WakeInvalid", workflow=self._workflow, handler=handler,
                problem=found.problem,
            )  # fmt: skip
        if not found.unseen:
            self._unseen.discard(handler)
        elif handler not in self._unseen:
            self._unseen.add(handler)
            log(
                logging.WARNING, "EventsNotLookedAt", workflow=self._workflow, handler=handler,
                not_looked_at=dict(found.unseen),
            )  # fmt: skip

    def of_pace(self, handler: str, before: Hold | None, *, now_ms: int) -> None:
        if before is None or before.until_ms <= now_ms - PACED_MS:
            log(
                logging.WARNING, "ConsumersFeedThemselves", workflow=self._workflow,
                handler=handler, runs_at_once=BURST, then_every_ms=EVERY_MS,
            )  # fmt: skip
