"""
How a period that is due becomes an execution, or is skipped because another one is active.

A candidate is made, and then claimed: its uid goes into the status under the version from which the
decision was taken, if the deadline still holds. Who makes a candidate has started nothing.

Spec: OPERATOR-13, OPERATOR-17, OPERATOR-20, OPERATOR-51.
"""

from collections.abc import Generator, Sequence
from dataclasses import replace

from gnomon.apps.operator.asking import (
    Agreement,
    Asking,
    Flow,
    Heard,
    Question,
    Steps,
    Verdict,
)
from gnomon.apps.operator.definition import Definition
from gnomon.apps.operator.job import TRIES_MAX, JobView, candidate, read_job
from gnomon.apps.operator.notice import Notice, Told, notices_of
from gnomon.apps.operator.periods import handled
from gnomon.apps.operator.status import (
    Active,
    ConditionKind,
    Opened,
    Phase,
    Record,
    Result,
    Status,
    add_entries,
    end_runs,
    with_condition,
    without_conditions,
)
from gnomon.apps.operator.tend import ask_job, sweep
from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import Outcome, Reason
from gnomon.core.policy import is_too_late
from gnomon.core.schedule import Overlap
from gnomon.ports.kubernetes import Create, Denial, Denied, Done, Get, Kind, NoAnswer
from gnomon.ports.kubernetes_object import mapping, say, text

__all__ = ["start"]


def start(
    asking: Asking, status: Status, definition: Definition, eligible: Sequence[Opened]
) -> Steps:
    """Claim the oldest of the periods that are due, or skip them all."""
    if definition.schedule.policy.overlap is Overlap.SKIP and status.active:
        return (yield from _skip(asking, status, definition, eligible))
    opened = eligible[0]
    found = yield from _candidate(asking, status, definition, opened)
    if not isinstance(found, JobView):
        return found
    if asking.clock is not Agreement.AGREES:
        return (yield from asking.settle_clock(status, definition))
    deadline = definition.schedule.policy.deadline
    assert opened.chosen is not None
    if is_too_late(opened.chosen * 1000, deadline, now_ms=asking.now_ms):
        return Flow.AGAIN  # it is missed
    record = Record(
        opened.period, Outcome.EXECUTED, asking.now, "", opened.chosen, opened.seed_hash,
        found.name, found.uid, Phase.STARTING.value,
    )  # fmt: skip
    active = Active(found.name, found.uid, opened.period)
    status = add_entries(status, [record], records_max=definition.records_max)
    status = handled(status, definition.schedule, [opened.period], now=asking.now)
    status = replace(status, active=(*status.active, active))
    status = without_conditions(status, ConditionKind.LAUNCH_FAILING, ConditionKind.NAME_TAKEN)
    return (yield from asking.put(status, definition))


def _skip(
    asking: Asking, status: Status, definition: Definition, eligible: Sequence[Opened]
) -> Steps:
    """Under `forbid`: what is due is skipped, if one is really active; the server is asked."""
    entry = next((one for one in status.active if not one.void), status.active[0])
    job = yield from ask_job(asking, entry)
    if isinstance(job, str):
        return Verdict(trouble=job)
    if job is None or job.end:
        result = Result.DELETED if job is None else Result.SUCCEEDED
        if job is not None and job.end != "Complete":
            result = Result.FAILED
        reason, at = ("", asking.now) if job is None else (job.reason, job.ended or asking.now)
        return (
            yield from asking.put(end_runs(status, {entry.uid: (result, reason, at)}), definition)
        )
    if asking.clock is not Agreement.AGREES:
        return (yield from asking.settle_clock(status, definition))
    records = [
        Record(one.period, Outcome.SKIPPED, asking.now, Reason.OVERLAP.value, one.chosen,
               one.seed_hash)
        for one in eligible
    ]  # fmt: skip
    status = add_entries(status, records, records_max=definition.records_max)
    periods = [one.period for one in eligible]
    status = handled(status, definition.schedule, periods, now=asking.now)
    notices = notices_of(records, schedule=definition.schedule, active=job.name)
    return (yield from asking.put(status, definition, notices))


def _candidate(
    asking: Asking, status: Status, definition: Definition, opened: Opened
) -> Generator[Question, Heard, JobView | Verdict | Flow]:
    """The suspended Job of a period, made or found."""
    for number in range(TRIES_MAX):
        job = candidate(
            asking.kronjob, definition, opened, revision=status.revision, number_of_try=number
        )
        name = text(mapping(job, "metadata"), "name")
        answer = yield from asking.ask(Create(Kind.JOB, asking.namespace, job))
        if isinstance(answer, Denied) and answer.why is Denial.EXISTS:
            answer = yield from asking.ask(Get(Kind.JOB, asking.namespace, name))
            if isinstance(answer, Done):
                found = read_job(answer.object)
                wanted = (asking.uid, opened.period, definition.spec_hash, status.revision)
                if (found.owner, found.period, found.spec_hash, found.revision) != wanted:
                    continue
                if found.is_deleting:
                    return Verdict(trouble=f"{name} is being deleted")
            elif isinstance(answer, Denied) and answer.why is Denial.NOT_FOUND:
                return Flow.AGAIN
        match answer:
            case Done(made):
                return asking.saw(made)
            case NoAnswer(message):
                return Verdict(trouble=message)
            case _:
                return (yield from _failing(asking, status, definition, opened, say(answer)))
    message = f"all names for the period {format_instant(opened.period)} are taken by other Jobs"
    return (yield from _blocked(
        asking, status, definition, ConditionKind.NAME_TAKEN, Told.NAME_TAKEN, message
    ))  # fmt: skip


def _failing(
    asking: Asking, status: Status, definition: Definition, opened: Opened, why: str
) -> Steps:
    message = f"no Job can be made for the period {format_instant(opened.period)}: {why}"
    verdict = yield from _blocked(
        asking, status, definition, ConditionKind.LAUNCH_FAILING, Told.LAUNCH_FAILED, message
    )
    yield from sweep(asking, status, definition)  # what is left over may be what takes the room
    return verdict


def _blocked(
    asking: Asking, status: Status, definition: Definition, kind: ConditionKind, told: Told,
    message: str,
) -> Steps:  # fmt: skip
    """Say in the status what stands in the way, and try again until the deadline."""
    blocked = with_condition(status, kind, asking.now, reason=told.value, message=message)
    if blocked is not status:
        verdict = yield from asking.put(blocked, definition, [Notice(told, message, True)])
        if isinstance(verdict, Verdict):
            return verdict
    return Verdict(trouble=message)
