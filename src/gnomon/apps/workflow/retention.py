"""
What a workflow forgets, and when: a little at a time, while it is at work.

What is over is forgotten after a while. For a run that is the time since it ended. An event must
also not have been published for so long, counted to the latest run of every producer and not to
now: a producer that publishes everything it sees, each time, keeps all of that known, however
seldom it runs and however long the host was away. Otherwise an old event would be taken for a new
one, and its mutation made twice.

Spec: KEEP-1 to KEEP-4.
"""

import logging

from gnomon.apps.workflow.log import log
from gnomon.errors import OwnershipLostError, StoreError
from gnomon.ports import Clock
from gnomon.ports.workflow_facts import Facts, HandlerKind
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["KEEP_MIN_MS", "KEEP_MS", "RUNS_KEPT", "WorkflowRetention", "published_before_ms"]

DAY_MS = 86_400_000
KEEP_MS = 90 * DAY_MS
KEEP_MIN_MS = DAY_MS
RUNS_KEPT = 100
"""So many runs of a workflow are never forgotten, however old they are."""
ROWS = 1_000
"""How much is looked at in one go."""
EVERY_MS = 3_600_000
SOON_MS = 10_000
"""When to go on, while there is more to look at."""


class WorkflowRetention:
    """Forgets what is over of one workflow; with `keep_ms` None it keeps everything."""

    def __init__(
        self, store: WorkflowLog, clock: Clock, keep_ms: int | None, runs_kept: int
    ) -> None:
        self._runs_kept = runs_kept
        self._log = store
        self._clock = clock
        self._keep_ms = keep_ms
        self._next_ms = 0
        self._after = 0

    async def forget_some(self, facts: Facts) -> None:
        """Forget some, if it is time to; a store that fails is asked again later."""
        now_ms = self._clock.monotonic_ms()
        if self._keep_ms is None or now_ms < self._next_ms:
            return
        wall_ms = self._clock.now_ms()
        try:
            self._after = await self._log.forget(
                facts.standing.name, fence=facts.standing.fence, after=self._after, limit=ROWS,
                newest=self._runs_kept, ended_ms=wall_ms - self._keep_ms,
                published_ms=published_before_ms(facts, keep_ms=self._keep_ms, now_ms=wall_ms),
            )  # fmt: skip
        except OwnershipLostError:
            raise
        except StoreError as error:
            log(logging.WARNING, "StoreFailed", workflow=facts.standing.name, error=str(error))
        self._next_ms = now_ms + (SOON_MS if self._after else EVERY_MS)


def published_before_ms(facts: Facts, *, keep_ms: int, now_ms: int) -> int:
    """Events that were last published before this instant may be forgotten."""
    ran = [one.ran_ms or 0 for one in facts.handlers if one.kind is HandlerKind.PRODUCER]
    return max(min([now_ms, *ran]) - keep_ms, 0)
