"""
What one worker decided and did: counted, told to callers that watch, and logged with its reason.

Only what was committed is told. The numbers are those of seed 002; drift is measured from the
planned instant, with its sign.

Spec: SERVICE-19.
"""

import logging

from gnomon.apps.service.counters import ServiceCounters
from gnomon.apps.service.events import EventFeed
from gnomon.apps.service.schedule_input import target_of
from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.ledger.period import Fact
from gnomon.core.schedule import Schedule
from gnomon.ports import Claim, Committed, Failed, Observer
from gnomon.shell.observe.log import log

__all__ = ["MAX_DURATION", "ServiceLog"]

MAX_DURATION = "max_duration"


class ServiceLog(Observer):
    """Counts, tells and logs what one worker does."""

    def __init__(self, events: EventFeed, counters: ServiceCounters) -> None:
        self._events, self._counters = events, counters

    def committed(self, held: Committed) -> None:
        """What was decided about schedules that were due."""
        self._counters.schedules_due += len(held.changes)
        for change in held.changes:
            for fact in change.facts:
                if fact.state is State.DONE:
                    self._settled(change.schedule, fact)

    def launched(self, claim: Claim, run_id: str, at_ms: int) -> None:
        """An executor has taken a run on."""
        drift_ms = at_ms - claim.nominal * 1000
        self._counters.runs_emitted += 1
        self._counters.drift.add(drift_ms)
        self._tell(
            "run.launched", claim.schedule, claim.key, claim.nominal, run_id=run_id,
            drift_ms=drift_ms, attempt=claim.launches,
        )  # fmt: skip

    def launch_failed(self, claim: Claim, failed: Failed) -> None:
        self._counters.runs_failed_launch += 1
        self._tell(
            "run.launch_failed", claim.schedule, claim.key, claim.nominal, reason=failed.message,
            permanent=failed.permanent, attempt=claim.launches,
        )  # fmt: skip

    def ended(self, claim: Claim, *, success: bool, detail: str) -> None:
        """A run of this process has ended."""
        self._tell(
            "run.ended", claim.schedule, claim.key, claim.nominal, success=success, detail=detail
        )

    def breached(self, schedule: Schedule, key: str, nominal: int, expectation: str) -> None:
        """What was expected of a run has not come true in time."""
        self._tell("run.expectation_missed", schedule, key, nominal, expectation=expectation)

    def _settled(self, schedule: Schedule, fact: Fact) -> None:
        if fact.reason is Reason.OVERLAP:
            self._counters.runs_skipped_overlap += fact.periods
        if fact.reason is Reason.UNCERTAIN and _has_limit(schedule):
            self.breached(schedule, fact.key, fact.nominal, MAX_DURATION)
        self._tell(
            f"run.{fact.outcome}", schedule, fact.key, fact.nominal, reason=str(fact.reason or ""),
            periods=fact.periods,
        )  # fmt: skip

    def _tell(
        self, kind: str, schedule: Schedule, key: str, nominal: int,
        **fields: str | int | bool | None,
    ) -> None:  # fmt: skip
        target = target_of(schedule)
        user_id = None if target is None else target.user_id
        run_at = format_instant(nominal)
        self._events.publish(
            kind, user_id=user_id, schedule_id=schedule.schedule_id, idempotency_key=key,
            run_at=run_at, **fields,
        )  # fmt: skip
        level = logging.WARNING if kind in _TROUBLE else logging.INFO
        log(
            level,
            kind,
            failure=None,
            schedule=schedule.schedule_id,
            period=run_at,
            key=key,
            **fields,
        )


def _has_limit(schedule: Schedule) -> bool:
    target = target_of(schedule)
    return target is not None and target.max_duration_ms is not None


_TROUBLE = ("run.launch_failed", "run.expectation_missed", "run.missed")
