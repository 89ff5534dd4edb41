"""
What is done when the status of a KronJob was wiped or edited by hand.

That there was one, the marker on the object says. Which periods were handled is lost with it, so
that everything up to now counts as handled: at most once comes before none lost. Jobs that were
released return as executed; candidates of the past must not run any more, but are not deleted here,
because one of them may have been claimed by the status that is lost.

Spec: OPERATOR-6.
"""

from collections.abc import Sequence
from dataclasses import replace

from gnomon.apps.operator.asking import Agreement, Asking, Flow, Steps, Verdict
from gnomon.apps.operator.definition import Definition
from gnomon.apps.operator.job import JobView, read_job
from gnomon.apps.operator.notice import Notice, Told
from gnomon.apps.operator.periods import AHEAD_KEPT_S, first_status
from gnomon.apps.operator.status import (
    Active,
    ConditionKind,
    Entry,
    Phase,
    Range,
    Record,
    Result,
    Status,
    add_entries,
    with_condition,
)
from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.ledger.lifecycle import Outcome
from gnomon.ports.kubernetes import Find, Found, Kind
from gnomon.ports.kubernetes_object import say, text

__all__ = ["STATUS_LOST", "repair"]

STATUS_LOST = "status_lost"


def repair(asking: Asking, definition: Definition) -> Steps:
    """Write a status from what the server has, so that nothing runs twice."""
    found = yield from asking.ask(Find(Kind.JOB, asking.namespace))
    if not isinstance(found, Found):
        return Verdict(trouble=say(found))
    jobs = [job for job in map(read_job, found.objects) if job.owner == asking.uid]
    if asking.clock is Agreement.UNKNOWN:
        return (yield from asking.refresh())
    if asking.clock is Agreement.DIFFERS:
        return Verdict(trouble="the clocks differ")
    status = repaired(asking, definition, jobs)
    message = status.conditions[-1].message
    verdict = yield from asking.put(
        status, definition, [Notice(Told.STATUS_REPAIRED, message, True)]
    )
    return verdict if isinstance(verdict, Verdict) else Flow.AGAIN


def repaired(asking: Asking, definition: Definition, jobs: Sequence[JobView]) -> Status:
    """The status that follows from the Jobs that are there."""
    now = asking.now
    created = to_epoch(parse_instant(text(asking.kronjob, "metadata", "creationTimestamp")))
    status = first_status(definition, created=now, generation=asking.generation, now=now)
    entries: list[Entry] = [Range(created, now, 0, Outcome.MISSED, now, STATUS_LOST)]
    active = []
    for job in sorted(jobs, key=lambda one: one.period):
        is_void = job.is_candidate and job.is_held
        if not is_void:
            entries.append(_executed(job, now))
        if not job.end:
            active.append(Active(job.name, job.uid, job.period, is_void))
    status = add_entries(status, entries, records_max=definition.records_max)
    status = replace(
        status,
        revision=max(status.revision, *(job.revision + 1 for job in jobs), 1),
        ahead=tuple(sorted({job.period for job in jobs if job.period > now - AHEAD_KEPT_S})),
        active=tuple(active),
    )
    return with_condition(
        status, ConditionKind.STATUS_REPAIRED, now, reason="StatusLost",
        message="the status was wiped or edited; what was due up to then does not run any more",
    )  # fmt: skip


def _executed(job: JobView, now: int) -> Record:
    record = Record(
        job.period, Outcome.EXECUTED, now, job=job.name, uid=job.uid, phase=Phase.STARTING.value
    )
    if not job.end:
        return record
    result = Result.SUCCEEDED if job.end == "Complete" else Result.FAILED
    return record._replace(
        phase=Phase.COMPLETED.value, result=result.value, ended=job.ended, reason=job.reason
    )
