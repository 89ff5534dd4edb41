"""
The tally: how often what became of each job, and what came last.

It is told the same happenings as the people whom a job names, and counts from the start of krond;
what came last before that can be recalled from the ledger.

Spec: METRICS-2.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.ports import RunRow
from gnomon.shell.observe.notify.message import Happening
from gnomon.shell.observe.notify.rule import Occasion

__all__ = ["JobTally", "Tally"]


@dataclass(slots=True)
class JobTally:
    """The counts of one job."""

    periods: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By outcome and reason."""
    runs: Counter[str] = field(default_factory=Counter)
    """By how they ended: success or failure."""
    success_ms: int | None = None
    failure_ms: int | None = None
    length_ms: int | None = None
    """How long the newest run took."""


class Tally:
    """The counts of all jobs, by the ids that the ledger has for them."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobTally] = {}
        self.version = 0
        """Grows with each change."""

    def tell(self, happening: Happening) -> None:
        """Count what happened; returns at once."""
        self.version += 1
        found = self.jobs.setdefault(happening.job.schedule_id, JobTally())
        reason = "" if happening.reason is None else happening.reason.value
        found.periods[happening.outcome.value, reason] += happening.periods
        if happening.outcome is not Outcome.EXECUTED:
            return
        found.runs[happening.occasion.value] += 1
        if happening.occasion is Occasion.SUCCESS:
            found.success_ms = happening.ended_ms
        else:
            found.failure_ms = happening.ended_ms
        if happening.started_ms is not None:
            found.length_ms = happening.ended_ms - happening.started_ms

    def recall(self, rows: Iterable[RunRow]) -> None:
        """What came last before the start, without counting it."""
        self.version += 1
        for row in rows:
            found = self.jobs.setdefault(row.schedule_id, JobTally())
            if row.outcome is not Outcome.EXECUTED or row.ended_ms is None:
                continue
            if row.status is Status.SUCCESS:
                found.success_ms = max(found.success_ms or 0, row.ended_ms)
            else:
                found.failure_ms = max(found.failure_ms or 0, row.ended_ms)
            if row.started_ms is not None and found.length_ms is None:
                found.length_ms = row.ended_ms - row.started_ms
