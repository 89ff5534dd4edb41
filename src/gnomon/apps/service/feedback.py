"""
What an executor says about a run, written to the ledger: in any order, as often as it likes.

A run is known by its key. What is over stays over, so that an end counts once; a start that comes
after its end says nothing new. An end may come before a worker has written that it launched the
run, and even while it tries the launch again, because only the answer was lost. What speaks of
another run than the one under this key is stale.

Spec: SERVICE-17, SERVICE-18.
"""

from enum import StrEnum

from gnomon.apps.service.schedule_input import feedback_ms
from gnomon.core.ledger.detail import one_line
from gnomon.core.ledger.lifecycle import State
from gnomon.ports import Ended, Launched, Ledger, RunRow
from gnomon.ports.executor import Feedback, FeedbackStatus

__all__ = ["FeedbackResult", "record_feedback"]

_TRIES = 3


class FeedbackResult(StrEnum):
    """What became of a feedback."""

    ACCEPTED = "accepted"
    KNOWN = "known"
    """It says nothing new."""
    STALE = "stale"
    """It speaks of another run than the one under its key."""
    UNKNOWN = "unknown"
    """No worker has asked for such a run."""


async def record_feedback(ledger: Ledger, feedback: Feedback, *, now_ms: int) -> FeedbackResult:
    """Take note of what an executor says."""
    for _ in range(_TRIES):
        row = await ledger.run(feedback.key)
        if row is None or not row.launches:
            return FeedbackResult.UNKNOWN
        if row.run_id is not None and feedback.run_id and row.run_id != feedback.run_id:
            return FeedbackResult.STALE
        if row.state is State.DONE:
            return FeedbackResult.KNOWN
        report = await _report(ledger, row, feedback, now_ms)
        if report is None:
            return FeedbackResult.KNOWN
        if (await ledger.report([report], now_ms=now_ms))[0]:
            return FeedbackResult.ACCEPTED
    return FeedbackResult.KNOWN  # another writer is faster each time, and knows more


async def _report(
    ledger: Ledger, row: RunRow, feedback: Feedback, now_ms: int
) -> Ended | Launched | None:
    """What is to be written; None when it is there already."""
    run_id = one_line(feedback.run_id) or None
    if feedback.status is FeedbackStatus.STARTED:
        if row.state is not State.CLAIMED:
            return None
        schedule = await ledger.get(row.schedule_id)
        length_ms = feedback_ms(None if schedule is None else schedule.schedule)
        return Launched(row.key, row.fence, run_id or "", detached_ms=length_ms)
    success = feedback.status is FeedbackStatus.SUCCESS
    reason = None if success else feedback.reason
    at_ms = feedback.at_ms
    if at_ms is not None and not row.created_ms <= at_ms <= now_ms:
        at_ms = None  # the executor's clock differs from ours
    return Ended(
        row.key, row.fence, success, one_line(feedback.detail), reason, run_id, ended_ms=at_ms
    )
