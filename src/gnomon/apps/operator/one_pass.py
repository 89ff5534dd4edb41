"""
One pass over one KronJob: what is done first, and what next?

In this order: a KronJob that is being deleted is left alone; a spec that cannot be meant is said to
be so; the first status, then the marker, then anything; a status that was lost is repaired; an edit
is taken up; Jobs are tended; what is over is recorded; what is due is claimed; what is left over is
swept. After each write everything is looked at anew, in the state that the server gave back.

Spec: OPERATOR-8 to OPERATOR-12, OPERATOR-17 to OPERATOR-24, OPERATOR-26.
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
from gnomon.apps.operator.claim import start
from gnomon.apps.operator.definition import RESERVED, Definition, read_definition
from gnomon.apps.operator.notice import Told, notices_of
from gnomon.apps.operator.periods import first_status, look, take_up
from gnomon.apps.operator.repair import repair
from gnomon.apps.operator.status import (
    ConditionKind,
    Entry,
    Status,
    with_condition,
    without_conditions,
)
from gnomon.apps.operator.status_text import Unsealed, read_status
from gnomon.apps.operator.tend import sweep, tend
from gnomon.core.civil.instant import format_instant, parse_instant, to_epoch
from gnomon.errors import DefinitionError
from gnomon.ports.kubernetes import Denial, Denied, Done, Kind, MergePatch
from gnomon.ports.kubernetes_object import at, number, say, text, things

__all__ = ["MARKER", "STEPS_MAX", "one_pass"]

MARKER = f"{RESERVED}marker"
"""The annotation that says, with the uid of its object, that a status was written."""
STEPS_MAX = 40
_POLL_S = 10


def one_pass(asking: Asking) -> Generator[Question, Heard, Verdict]:
    """Take a KronJob as far as it can go now."""
    for _ in range(STEPS_MAX):
        turn = yield from _step(asking)
        if isinstance(turn, Verdict):
            trouble = turn.trouble or asking.trouble
            return turn._replace(trouble=trouble)
    return Verdict(again=True)


def _step(asking: Asking) -> Steps:
    if at(asking.kronjob, "metadata", "deletionTimestamp") is not None:
        return Verdict()
    identity = f"{asking.namespace}/{asking.name}"
    is_marked = text(asking.kronjob, "metadata", "annotations", MARKER) == asking.uid
    found = read_status(at(asking.kronjob, "status"), asking.uid)
    try:
        definition = read_definition(identity, at(asking.kronjob, "spec"))
    except DefinitionError as error:
        return (yield from _refuse(asking, found, str(error)))
    if not isinstance(found, Status):
        if is_marked:
            return (yield from repair(asking, definition))
        return (yield from _begin(asking, definition))
    if not is_marked:
        return (yield from _mark(asking))
    if found.generation != asking.generation or found.has(ConditionKind.INVALID_SPEC):
        return (yield from _take_up(asking, identity, found, definition))
    return (yield from _go_on(asking, found, definition))


def _go_on(asking: Asking, status: Status, definition: Definition) -> Steps:
    turn = yield from tend(asking, status, definition)
    if turn is not Flow.ON:
        return turn
    if status.has(ConditionKind.CLOCK_SKEW) and asking.clock is Agreement.AGREES:
        return (yield from asking.put(status, definition))
    outlook = look(status, definition, now=asking.now)
    is_over = outlook.status is not status
    if (is_over and asking.clock is not Agreement.AGREES) or (
        outlook.eligible and asking.clock is Agreement.DIFFERS
    ):  # where one is claimed, the answer about its candidate says what time it is
        return (yield from asking.settle_clock(status, definition))
    if is_over:
        entries = _new_entries(status, outlook.status)
        notices = notices_of(entries, schedule=definition.schedule)
        return (yield from asking.put(outlook.status, definition, notices))
    if outlook.eligible:
        turn = yield from start(asking, status, definition, outlook.eligible)
        return turn._replace(wake=outlook.wake) if isinstance(turn, Verdict) else turn
    yield from sweep(asking, status, definition)
    wake = outlook.wake
    if any(job.is_deleting for job in asking.jobs.values()) and status.active:
        wake = min(wake or asking.now + _POLL_S, asking.now + _POLL_S)
    return Verdict(wake=wake)


def _begin(asking: Asking, definition: Definition) -> Steps:
    created = to_epoch(parse_instant(text(asking.kronjob, "metadata", "creationTimestamp")))
    if asking.generation > 1 and asking.clock is Agreement.UNKNOWN:
        return (yield from asking.refresh())
    status = first_status(definition, created=created, generation=asking.generation, now=asking.now)
    return (yield from asking.put(status, definition))


def _mark(asking: Asking) -> Steps:
    """Say on the object that it has a status, before anything is claimed."""
    version = text(asking.kronjob, "metadata", "resourceVersion")
    metadata = {
        "uid": asking.uid, "resourceVersion": version, "annotations": {MARKER: asking.uid},
    }  # fmt: skip
    answer = yield from asking.ask(
        MergePatch(Kind.KRONJOB, asking.namespace, asking.name, {"metadata": metadata})
    )
    match answer:
        case Done(found):
            asking.kronjob = found
            asking.touched.append(found)
            return Flow.AGAIN
        case Denied(Denial.CONFLICT | Denial.NOT_FOUND):
            return (yield from asking.refresh())
        case _:
            return Verdict(trouble=say(answer))


def _take_up(asking: Asking, identity: str, status: Status, definition: Definition) -> Steps:
    if asking.clock is not Agreement.AGREES:
        return (yield from asking.settle_clock(status, definition))
    new = take_up(identity, status, definition, generation=asking.generation, now=asking.now)
    new = without_conditions(
        new, ConditionKind.INVALID_SPEC, ConditionKind.STATUS_REPAIRED,
        ConditionKind.LAUNCH_FAILING,
    )  # fmt: skip
    notices = notices_of(_new_entries(status, new), schedule=definition.schedule)
    return (yield from asking.put(new, definition, notices))


def _refuse(asking: Asking, found: Status | Unsealed | None, problem: str) -> Steps:
    """A spec that cannot be meant: said in the status, and nothing else is done."""
    kind, told = ConditionKind.INVALID_SPEC, Told.INVALID_SPEC
    ready = ConditionKind.READY
    if _says(asking, kind, problem):
        return Verdict()
    instant = format_instant(asking.now)
    conditions = [
        {
            "type": one.value, "status": holds, "reason": told.value, "message": problem,
            "lastTransitionTime": instant, "observedGeneration": asking.generation,
        }
        for one, holds in ((kind, "True"), (ready, "False"))
    ]  # fmt: skip
    if isinstance(found, Status):
        seen = replace(found, generation=asking.generation)
        status = with_condition(seen, kind, asking.now, reason=told.value, message=problem)
        status = with_condition(
            status, ready, asking.now, reason=told.value, message=problem, holds=False
        )
        turn = yield from asking.put_sealed(status)
    else:
        turn = yield from asking.put_plain({"conditions": conditions})
    if turn is Flow.AGAIN:
        asking.tell(told, problem, is_warning=True)
    return turn


def _says(asking: Asking, kind: ConditionKind, message: str) -> bool:
    """Whether the status says this of the newest edit."""
    return any(
        text(one, "type") == kind
        and text(one, "message") == message
        and number(one, "observedGeneration") == asking.generation
        for one in things(asking.kronjob, "status", "conditions")
    )


def _new_entries(old: Status, new: Status) -> Sequence[Entry]:
    """What the newer status records that the older one does not, oldest first."""
    known = set(old.recent)
    return [one for one in reversed(new.recent) if one not in known]
