"""
What krond counts, and which figures its page has.

The tally is told the same happenings as the people whom a job names, and counts from the start of
krond; what came last before that can be recalled from the ledger. Names begin with `krond_`, times
are seconds, and a job is known by the labels `job` and `file`.

Spec: METRICS-2 to METRICS-4.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gnomon.apps.krond.job import Job
from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.ports import RunRow
from gnomon.shell.observe.counts import (
    Family,
    Telemetry,
    build_family,
    counter,
    gauge,
    runtime_families,
)
from gnomon.shell.observe.notify.message import Happening
from gnomon.shell.observe.notify.rule import Occasion

__all__ = ["JobTally", "KrondFacts", "Tally", "krond_families"]

_COUNTERS = ("turns", "launches", "launches_failed", "ledger_errors", "clock_jumps")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KrondFacts:
    """What krond knows about itself."""

    version: str
    started_ms: int
    loaded_ms: int
    is_valid: bool
    """Whether the newest load of the files was taken."""
    active: int
    """How many runs go on."""
    telemetry: Telemetry


_NEVER = JobTally()


def krond_families(
    jobs: Sequence[Job], tally: Tally, facts: KrondFacts, *, upcoming: Mapping[str, int]
) -> list[Family]:
    """The figures; `upcoming` has the next chosen second by the id of a job."""
    return [*_about_krond(jobs, facts), *_about_jobs(jobs, tally, upcoming)]


def _about_krond(jobs: Sequence[Job], facts: KrondFacts) -> list[Family]:
    return [
        build_family("krond", "Which krond this is.", facts.version),
        gauge("krond_start_time_seconds", "When krond was started.", facts.started_ms / 1000),
        gauge("krond_jobs", "Jobs of the krontab files.", len(jobs)),
        gauge("krond_jobs_suspended", "Jobs that are suspended.", sum(job.suspend for job in jobs)),
        gauge("krond_runs_active", "Runs that go on.", facts.active),
        gauge(
            "krond_config_loaded_time_seconds", "When the jobs in force were loaded.",
            facts.loaded_ms / 1000,
        ),
        gauge(
            "krond_config_valid", "Whether the newest load of the files was taken.",
            int(facts.is_valid),
        ),
        *runtime_families("krond", facts.telemetry, counters=_COUNTERS),
    ]  # fmt: skip


def _about_jobs(jobs: Sequence[Job], tally: Tally, upcoming: Mapping[str, int]) -> list[Family]:
    periods = counter("krond_periods_total", "What became of periods.")
    runs = counter("krond_runs_total", "How runs ended.")
    coming = gauge("krond_job_next_run_time_seconds", "The next chosen second of a job.")
    success = gauge("krond_job_last_success_time_seconds", "When a job last succeeded.")
    failure = gauge("krond_job_last_failure_time_seconds", "When a job last failed.")
    length = gauge("krond_job_last_run_duration_seconds", "How long the newest run of a job took.")
    for job in jobs:
        labels = {"job": job.name, "file": job.file}
        found = tally.jobs.get(job.schedule_id, _NEVER)
        for (outcome, reason), number in sorted(found.periods.items()):
            periods.add(number, **labels, outcome=outcome, reason=reason)
        for result, number in sorted(found.runs.items()):
            runs.add(number, **labels, result=result)
        if not job.suspend and job.schedule_id in upcoming:
            coming.add(upcoming[job.schedule_id], **labels)
        for family, at_ms in (
            (success, found.success_ms), (failure, found.failure_ms), (length, found.length_ms),
        ):  # fmt: skip
            if at_ms is not None:
                family.add(at_ms / 1000, **labels)
    return [periods, runs, coming, success, failure, length]
