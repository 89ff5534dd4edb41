"""
What becomes of the Jobs of a KronJob: released, waited for, ended, swept away.

A Job that the view shows exists, and one that it shows as finished has ended, however old the view
is. That a Job is gone, only the server says. Under `replace` an older Job is deleted and its end
waited for before a newer one is released.

Spec: OPERATOR-19 to OPERATOR-24.
"""

from collections.abc import Generator

from gnomon.apps.operator.asking import Asking, Flow, Heard, Question, Steps
from gnomon.apps.operator.definition import Definition
from gnomon.apps.operator.job import JobView, release
from gnomon.apps.operator.notice import Notice, Told
from gnomon.apps.operator.status import Active, Result, Status, end_runs
from gnomon.core.civil.instant import format_instant
from gnomon.core.schedule import Overlap
from gnomon.ports.kubernetes import Delete, Denial, Denied, Done, Get, Kind, Propagation
from gnomon.ports.kubernetes_object import say

__all__ = ["ask_job", "sweep", "tend"]

_SWEPT_MAX = 20  # deletions in one pass

Ends = dict[str, tuple[Result, str, int]]


def tend(asking: Asking, status: Status, definition: Definition) -> Steps:
    """Take each active Job a step further; write down those that have ended."""
    ends: Ends = {}
    for entry in sorted(status.active, key=lambda one: one.period):
        seen = asking.jobs.get(entry.uid)
        is_sure = seen is not None and not seen.is_deleting
        job = seen if is_sure else (yield from ask_job(asking, entry))
        if isinstance(job, str):
            asking.trouble = job
        elif job is None:
            result = (
                Result.REPLACED if _is_superseded(entry, status, definition) else Result.DELETED
            )
            ends[entry.uid] = (result, "", asking.now)
        elif job.end:
            ends[entry.uid] = _result(job, asking.now)
        else:
            yield from _further(asking, entry, job, status, definition, ends)
    if not ends:
        return Flow.ON
    notices = [_ended(one, ends[one.uid]) for one in status.active if one.uid in ends]
    return (yield from asking.put(end_runs(status, ends), definition, notices))


def ask_job(asking: Asking, entry: Active) -> Generator[Question, Heard, JobView | str | None]:
    """The Job as it is now; None when it has gone, a text when that cannot be known."""
    answer = yield from asking.ask(Get(Kind.JOB, asking.namespace, entry.job))
    match answer:
        case Done(found):
            job = asking.saw(found)
            return job if job.uid == entry.uid else None
        case Denied(Denial.NOT_FOUND):
            asking.jobs.pop(entry.uid, None)
            return None
        case _:
            return say(answer)


def sweep(asking: Asking, status: Status, definition: Definition) -> Steps:
    """Delete candidates that can never be claimed, and finished Jobs beyond the limits."""
    active = {one.uid for one in status.active}
    ours = [
        job for job in asking.jobs.values()
        if job.uid not in active and not job.is_deleting and job.period
    ]  # fmt: skip
    swept = [
        job for job in ours
        if job.is_candidate
        and job.is_held
        and job.revision <= status.revision
        and status.is_handled(job.period)
    ]  # fmt: skip
    finished = sorted((job for job in ours if job.end), key=lambda job: job.period, reverse=True)
    for end, most in (("Complete", definition.successful_max), ("Failed", definition.failed_max)):
        swept += [job for job in finished if job.end == end][most:]
    for job in swept[:_SWEPT_MAX]:
        yield from _delete(asking, job, Propagation.BACKGROUND)
    return Flow.ON


def _further(
    asking: Asking, entry: Active, job: JobView, status: Status, definition: Definition, ends: Ends
) -> Generator[Question, Heard, None]:
    """A step for a Job that has not ended."""
    is_superseded = _is_superseded(entry, status, definition)
    runs = not (job.is_candidate and job.is_held)
    if job.is_deleting:
        return
    if is_superseded or (entry.void and not runs):
        if is_superseded and runs:
            asking.tell(Told.REPLACING, f"deleting {job.name}, a newer period has come")
        yield from _delete(asking, job, Propagation.FOREGROUND)
        return
    waits = definition.schedule.policy.overlap is Overlap.REPLACE and any(
        one.uid != entry.uid and one.uid not in ends and one.period <= entry.period
        for one in status.active
    )
    if entry.void or waits or not job.is_candidate:
        return
    answer = yield from asking.ask(release(asking.namespace, job.name, job.uid, definition))
    match answer:
        case Done(found):
            asking.saw(found)
            asking.tell(
                Told.STARTED,
                f"released {job.name} for the period {format_instant(entry.period)}",
            )
        case Denied(Denial.INVALID | Denial.NOT_FOUND):
            asking.jobs.pop(job.uid, None)  # released already, or gone: the next pass asks
        case _:
            asking.trouble = say(answer)


def _delete(
    asking: Asking, job: JobView, propagation: Propagation
) -> Generator[Question, Heard, None]:
    answer = yield from asking.ask(
        Delete(Kind.JOB, asking.namespace, job.name, job.uid, propagation)
    )
    if isinstance(answer, Done):
        asking.jobs[job.uid] = job._replace(is_deleting=True)
    elif not isinstance(answer, Denied) or answer.why not in (Denial.NOT_FOUND, Denial.CONFLICT):
        asking.trouble = say(answer)


def _is_superseded(entry: Active, status: Status, definition: Definition) -> bool:
    return definition.schedule.policy.overlap is Overlap.REPLACE and any(
        one.period > entry.period for one in status.active
    )


def _result(job: JobView, now: int) -> tuple[Result, str, int]:
    result = Result.SUCCEEDED if job.end == "Complete" else Result.FAILED
    return result, job.reason if result is Result.FAILED else "", job.ended or now


def _ended(entry: Active, end: tuple[Result, str, int]) -> Notice:
    result, reason, _ = end
    message = f"{entry.job} for the period {format_instant(entry.period)}: {result}"
    if result is Result.DELETED:
        message += ", its end was not seen"
    if reason:
        message += f" ({reason})"
    return Notice(Told.COMPLETED, message, result is not Result.SUCCEEDED)
