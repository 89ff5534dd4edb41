"""
What only one who saw everything can say: was each moment right, and is all told at the end?

The audit log of a server that was killed has gaps, a simulated world has none. So more is asked of
it than of a cluster: no two Jobs at once where that is forbidden, no outcome before its time, every
result as the Job ended, and after a time of rest nothing left open.

Spec: OSIM-5.
"""

from collections.abc import Iterator

from gnomon.simulation.operator.duty import at, concurrency, deadline_s, is_suspended, occurrences
from gnomon.simulation.operator.judge import TOLERANCE_S, Judge
from gnomon.simulation.operator.seen import JobSeen, KronJobSeen, Told

__all__ = ["scrutinize"]

_SLACK_S = 1.5
_REST_S = 30
"""What happens so shortly before the end need not have been taken up."""
_OF_RESULT = {"Complete": "Succeeded", "Failed": "Failed"}


def scrutinize(judge: Judge, *, until: float) -> Iterator[str]:
    """Everything that was not right, at a time when nothing is to be done any more."""
    for one in judge.kronjobs.values():
        jobs = sorted(
            (job for job in judge.jobs.values() if job.owner == one.uid), key=lambda job: job.name
        )
        yield from _beside(one, jobs)
        for period, told in one.told.items():
            for said in told:
                yield from _untimely(one, period, said, jobs)
        yield from _results(one, jobs)
        yield from _unowed(one, jobs)
        if one.deleted is None:
            yield from _left_open(one, jobs, until)


def _beside(one: KronJobSeen, jobs: list[JobSeen]) -> Iterator[str]:
    """Two at once, where the policy in force forbids it."""
    for job in jobs:
        if job.released is None:
            continue
        spec = one.spec_at(job.released)
        if concurrency(spec.words) == "allow" or job.released - spec.since < _SLACK_S:
            continue
        for other in jobs:
            if other.released is None or other is job or other.released > job.released:
                continue
            then = concurrency(one.spec_at(other.released).words)
            if then != "allow" and (other.ended is None or other.ended > job.released):
                yield f"{one.name} ran {job.period} while {other.period} was active"


def _untimely(one: KronJobSeen, period: int, said: Told, jobs: list[JobSeen]) -> Iterator[str]:
    """An outcome that was told before it could be known, or under a suspension."""
    spec = one.spec_at(said.at - _SLACK_S)
    chosen = min((job.chosen for job in jobs if job.period == period), default=period)
    if said.outcome == "executed" and said.at < chosen - TOLERANCE_S and said.uid:
        yield f"{one.name} executed {period} before its chosen second {chosen}"
    deadline = deadline_s(spec.words)
    is_lost = said.reason == "status_lost"
    if said.outcome == "missed" and said.at < period + deadline - TOLERANCE_S and not is_lost:
        yield f"{one.name} missed {period} before its deadline was over"
    for job in jobs:
        if job.uid == said.uid and said.outcome == "executed" and not one.is_spoiled:
            marks = at(one.spec_at(said.at).words, "jobTemplate", "metadata", "annotations") or {}
            if job.marks != marks:
                yield f"{one.name} executed {period} from a template that was not in force"
    since = max((other.since for other in one.specs if other.since <= said.at), default=0.0)
    held = is_suspended(one.spec_at(said.at).words) and said.at > since
    if held and not any(abs(when - said.at) < _SLACK_S for when in one.mended):
        yield f"{one.name} recorded {period} as {said.outcome} while suspended"


def _unowed(one: KronJobSeen, jobs: list[JobSeen]) -> Iterator[str]:
    """What ran, and no timing of its KronJob ever asked for."""
    for job in jobs:
        asked = [
            chosen
            for spec in one.specs
            for _, chosen in occurrences(one.name, spec.words, job.period, job.period)
        ]
        if job.is_execution and job.chosen not in asked:
            yield f"{one.name} ran {job.period} at {job.chosen}, and was asked for {sorted(asked)}"
        if job.is_execution and job.period <= one.created:
            yield f"{one.name} ran {job.period}, and was made only then or later"


def _results(one: KronJobSeen, jobs: list[JobSeen]) -> Iterator[str]:
    """What a status said of the end of a Job, and how it ended."""
    by_uid = {job.uid: job for job in jobs}
    for uid, results in one.results.items():
        job = by_uid.get(uid)
        final = [result for result in results if result]
        if len(final) > 1 or (results and results[-1] == "" and final):
            yield f"{one.name} changed its word about the end of {uid}: {results}"
        if job is None or not final:
            continue
        if final[0] in ("Succeeded", "Failed") and _OF_RESULT.get(job.end) != final[0]:
            yield f"{one.name} says {final[0]} of {job.name}, which ended as {job.end or 'nothing'}"
        if final[0] in ("Deleted", "Replaced") and job.deleted is None:
            yield f"{one.name} says {final[0]} of {job.name}, which nothing deleted"


def _left_open(one: KronJobSeen, jobs: list[JobSeen], until: float) -> Iterator[str]:
    """What should have been said or done by now."""
    newest = one.specs[-1]
    if one.taken_up.get(newest.generation) is None and at(one.status, "observedGeneration") != (
        newest.generation
    ):
        yield f"{one.name} never took up its generation {newest.generation}"
    for period, told in one.told.items():
        for said in told:
            job = next((job for job in jobs if job.uid == said.uid), None)
            if said.outcome != "executed" or job is None or said.at > until - _REST_S:
                continue
            if any(said.at <= when for when in one.mended):
                continue  # the status that said so was lost
            if job.ended is None and not job.is_execution and not is_suspended(newest.words):
                yield f"{one.name} says that {period} was executed, and its Job waits for ever"
            results = one.results.get(job.uid, [])
            if job.ended is not None and not any(results) and job.ended < until - _REST_S:
                yield f"{one.name} never said how {job.name} ended"
    for job in jobs:
        is_claimed = any(said.uid == job.uid for said in one.told.get(job.period, []))
        is_old = job.created is not None and job.created < until - _REST_S
        is_ours = not is_suspended(newest.words) and not one.is_spoiled
        if job.ended is None and not job.is_execution and not is_claimed and is_old and is_ours:
            yield f"{one.name} left the candidate {job.name} behind"
    if not one.is_spoiled:
        for outcome in ("executed", "skipped", "unschedulable"):
            told_of = sum(
                any(said.outcome == outcome for said in told) for told in one.told.values()
            )
            counted = at(one.status, "totals", outcome)
            spans = any(what == outcome for _, _, what in one.ranges)
            if not spans and counted != told_of and one.told:
                yield f"{one.name} counts {counted} periods {outcome}, and told {told_of}"
