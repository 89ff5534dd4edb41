"""
Which figures there are about krond and its jobs.

Names begin with `krond_`, times are seconds, and a job is known by the labels `job` and `file`.
Counters count from the start of krond.

Spec: METRICS-3, METRICS-4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.metrics.tally import JobTally, Tally
from gnomon.shell.observe.exposition import Family, Sample, render_families
from gnomon.shell.observe.figures import build_family, gauge, runtime_families
from gnomon.shell.observe.telemetry import Telemetry

__all__ = ["Surroundings", "metrics_text"]

_COUNTERS = ("turns", "launches", "launches_failed", "ledger_errors", "clock_jumps")
_NEVER = JobTally()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What krond knows about itself."""

    version: str
    started_ms: int
    loaded_ms: int
    is_valid: bool
    """Whether the newest load of the files was taken."""
    active: int
    """How many runs go on."""
    telemetry: Telemetry


def metrics_text(
    jobs: Sequence[Job], tally: Tally, about: Surroundings, *, upcoming: Mapping[str, int]
) -> str:
    """The page; `upcoming` has the next chosen second by the id of a job."""
    return render_families([*_about_krond(jobs, about), *_about_jobs(jobs, tally, upcoming)])


def _about_krond(jobs: Sequence[Job], about: Surroundings) -> list[Family]:
    return [
        build_family("krond", "Which krond this is.", about.version),
        _gauge("start_time_seconds", "When krond was started.", Sample(about.started_ms / 1000)),
        _gauge("jobs", "Jobs of the krontab files.", Sample(len(jobs))),
        _gauge("jobs_suspended", "Jobs that are suspended.", Sample(_suspended(jobs))),
        _gauge("runs_active", "Runs that go on.", Sample(about.active)),
        _gauge(
            "config_loaded_time_seconds", "When the jobs in force were loaded.",
            Sample(about.loaded_ms / 1000),
        ),
        _gauge(
            "config_valid", "Whether the newest load of the files was taken.",
            Sample(int(about.is_valid)),
        ),
        *runtime_families("krond", about.telemetry, counters=_COUNTERS),
    ]  # fmt: skip


def _about_jobs(jobs: Sequence[Job], tally: Tally, upcoming: Mapping[str, int]) -> list[Family]:
    periods = _counter("periods", "What became of periods.")
    runs = _counter("runs", "How runs ended.")
    coming = _gauge("job_next_run_time_seconds", "The next chosen second of a job.")
    success = _gauge("job_last_success_time_seconds", "When a job last succeeded.")
    failure = _gauge("job_last_failure_time_seconds", "When a job last failed.")
    length = _gauge("job_last_run_duration_seconds", "How long the newest run of a job took.")
    for job in jobs:
        labels = {"job": job.name, "file": job.file}
        found = tally.jobs.get(job.schedule_id, _NEVER)
        for (outcome, reason), number in sorted(found.periods.items()):
            periods.samples.append(Sample(number, {**labels, "outcome": outcome, "reason": reason}))
        for result, number in sorted(found.runs.items()):
            runs.samples.append(Sample(number, {**labels, "result": result}))
        if not job.suspend and job.schedule_id in upcoming:
            coming.samples.append(Sample(upcoming[job.schedule_id], labels))
        for family, at_ms in (
            (success, found.success_ms), (failure, found.failure_ms), (length, found.length_ms),
        ):  # fmt: skip
            if at_ms is not None:
                family.samples.append(Sample(at_ms / 1000, labels))
    return [periods, runs, coming, success, failure, length]


def _suspended(jobs: Sequence[Job]) -> int:
    return sum(job.suspend for job in jobs)


def _counter(name: str, text: str) -> Family:
    return Family(name=f"krond_{name}_total", kind="counter", help=text)


def _gauge(name: str, text: str, *samples: Sample) -> Family:
    return gauge("krond", name, text, *samples)
