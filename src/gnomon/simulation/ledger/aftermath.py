"""
What the ledger shows when a world has come to rest: its rows for the judge, and its audit.

Spec: SIM-3, SIM-8.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from gnomon.core.ledger.audit import AuditRun, AuditSchedule, audit
from gnomon.ports import Ledger, RunRow, ScheduleRow
from gnomon.simulation.kit.notes import Complaint
from gnomon.simulation.ledger.record import Row

__all__ = ["Aftermath", "audit_of", "is_at_rest", "look"]

_PAGE = 1_000


class Aftermath(NamedTuple):
    """Everything in a ledger."""

    schedules: list[ScheduleRow]
    runs: list[RunRow]

    @property
    def rows(self) -> list[Row]:
        """The runs in the words on the wire."""
        return [
            Row(
                run.schedule_id, run.key, run.nominal, run.last_nominal, run.periods,
                run.state.value, run.outcome and run.outcome.value,
                run.reason and run.reason.value, run.launches, run.fence,
                None if run.kill_ms is None or run.ended_ms is None else run.ended_ms - run.kill_ms,
                run.run_id is not None and run.started_ms is not None,
                None if run.last_nominal else run.chosen_ms, run.params,
            )
            for run in self.runs
        ]  # fmt: skip


async def is_at_rest(ledger: Ledger, deleted: Iterable[str]) -> bool:
    """Whether nothing waits, nothing runs and nothing will ever be looked at again."""
    schedules = await ledger.schedules(limit=_PAGE)
    if any(one.in_flight or one.wake_ms is not None or one.pause for one in schedules):
        return False
    return all(run.state == "done" for run in (await look(ledger, deleted)).runs)


async def look(ledger: Ledger, deleted: Iterable[str]) -> Aftermath:
    """All there is; of schedules that were deleted their history is there still."""
    schedules = await ledger.schedules(limit=_PAGE)
    runs: list[RunRow] = []
    for name in [*(one.schedule.schedule_id for one in schedules), *deleted]:
        before, key = None, ""
        while page := await ledger.runs(name, before=before, before_key=key, limit=_PAGE):
            runs += page
            before, key = page[-1].nominal, page[-1].key
    return Aftermath(schedules, runs)


def audit_of(found: Aftermath, saved_ms: Mapping[str, int]) -> list[Complaint]:
    """What the audit of the ledger finds; nothing before a schedule was saved is owed."""
    schedules = [
        AuditSchedule(
            one.schedule, one.cursor, (saved_ms[one.schedule.schedule_id] - 1) // 1000,
            one.wake_ms, one.updated_ms, one.pause is not None, one.in_flight,
        )
        for one in found.schedules
    ]  # fmt: skip
    runs = [
        AuditRun(
            run.key, run.schedule_id, run.nominal, run.last_nominal, run.periods, run.fire_ms,
            run.state, run.outcome, run.reason, run.status, run.launches, run.fence, run.lease_ms,
        )
        for run in found.runs
    ]  # fmt: skip
    return [
        Complaint(f"audit {finding.code}", finding.schedule_id, finding.problem)
        for finding in audit(schedules, runs)
    ]
