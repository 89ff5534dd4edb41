"""
What is written at each step of a run, from its beginning to its end?

Each function gives the change that one step writes, as a whole: a phase together with the data that
it stands for. The host that holds the workflow takes a step when the work of the step is done, and
before anything follows from it. It writes a mutation down before it tries it.

Spec: PHASE-7 to PHASE-12, MUTATE-1 to MUTATE-4, FAIL-3 to FAIL-7, FAIL-21, WHEN-13.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from gnomon.apps.workflow.failure import Failure, Fault, backoff_ms, status_of
from gnomon.apps.workflow.phase import PhaseEvent, follow
from gnomon.apps.workflow.timing import next_run_ms
from gnomon.ports.workflow_facts import (
    Asked,
    EventStatus,
    Facts,
    Handler,
    HandlerKind,
    Input,
    Mutation,
    MutationStatus,
    Phase,
    Publication,
    Run,
    RunStatus,
    Standing,
    WorkflowChange,
)

__all__ = [
    "APPROVAL",
    "NONE",
    "SKIPPED",
    "Emission",
    "Preparation",
    "Request",
    "after",
    "applied_text",
    "approved_request",
    "ask_approval",
    "asked",
    "asked_again",
    "begin",
    "commit",
    "fail",
    "is_approved",
    "mutated",
    "mutating",
    "new_run",
    "prepared",
    "rounds_of",
    "settled_without",
    "under_its_key",
]

NONE = '{"status": "none"}'
SKIPPED = '{"status": "skipped"}'
APPROVAL = "approval"
"""What is wrong with a run whose mutation a person must agree to."""

_T = TypeVar("_T")


class Preparation(NamedTuple):
    """What prepare gave."""

    reservations: tuple[tuple[str, str], ...]
    """Topic and id of each event."""
    text: str
    """All of it, as JSON."""
    title: str
    wake_ms: int | None
    problem: str = ""
    """What is wrong with its wish to wake."""
    unseen: Mapping[str, int] = MappingProxyType({})
    """When it takes nothing: how many events it has not looked at, by topic."""


class Request(NamedTuple):
    """The one mutation that a script asks for."""

    tool: str
    params: str
    title: str
    reconcilable: bool
    needs_approval: bool
    key: str = ""
    """What it is known by outside; empty until the host has given it one."""


class Emission(NamedTuple):
    """What a producer or `next` gave."""

    publications: tuple[Publication, ...] = ()
    inputs: tuple[Input, ...] = ()
    state: str | None = None
    """None when it is unchanged."""
    note: str = ""


def new_run(standing: Standing, handler: str, kind: HandlerKind, now_ms: int) -> Run:
    return Run(
        number=standing.runs + 1, handler=handler, kind=kind, script=standing.script,
        created_ms=now_ms, updated_ms=now_ms,
    )  # fmt: skip


def begin(facts: Facts, handler: Handler, *, now_ms: int) -> WorkflowChange:
    """A run starts."""
    if facts.run is not None:
        raise ValueError(f"run {facts.run.number} is still open")
    run = new_run(facts.standing, handler.name, handler.kind, now_ms)
    standing = replace(facts.standing, runs=run.number, current=run.number)
    return WorkflowChange(standing=standing, runs=(run,))


def prepared(facts: Facts, run: Run, found: Preparation, *, now_ms: int) -> WorkflowChange:
    """Prepare has succeeded: its result, its reservations and its wish to wake, together."""
    handler = replace(facts.handler(run.handler), wake_ms=found.wake_ms)
    after = replace(
        run, phase=follow(run.phase, PhaseEvent.PREPARED), prepared=found.text, note=found.title,
        updated_ms=now_ms,
    )  # fmt: skip
    reserve = (run.number, found.reservations) if found.reservations else None
    return WorkflowChange(
        standing=facts.standing, handlers=(handler,), runs=(after,), reserve=reserve
    )


def settled_without(run: Run) -> Run:
    """
    No mutation was asked for, or there was nothing to mutate for.

    Nothing of it needs to be written before the commit: a crash begins the run afresh, and nothing
    outside has changed.
    """
    return replace(run, phase=follow(run.phase, PhaseEvent.NOTHING_ASKED), mutated=NONE)


def under_its_key(request: Request, run: Run, fresh: str) -> Request:
    """The request with the key that its approval names, or else with a fresh one."""
    one = run.approved
    known = one is not None and one[:2] == (request.tool, request.params)
    return request._replace(key=one.key if one is not None and known else fresh)


def asked(request: Request, run: Run) -> Asked:
    """What a person is asked about, in full."""
    return Asked(
        request.tool,
        request.params,
        request.key,
        request.title,
        request.reconcilable,
        run.script,
        run.number,
    )


def asked_again(mutation: Mutation, run: Run) -> Asked:
    """The same of a mutation that was refused before."""
    return Asked(
        mutation.tool, mutation.params, mutation.key, mutation.title, mutation.reconcilable,
        run.script, mutation.run,
    )  # fmt: skip


def is_approved(run: Run, wanted: Asked) -> bool:
    """Whether a person has agreed to this mutation, and not to another or to something else."""
    return run.approved is not None and run.approved[:3] == wanted[:3]


def approved_request(run: Run) -> Request | None:
    """
    The mutation that was approved, as it was asked for.

    None when the script is another now, or when an earlier attempt asked: what this one has
    prepared may be something else.
    """
    one = run.approved
    if one is None or (one.run, one.script) != (run.number, run.script):
        return None
    if run.phase is not Phase.PREPARED:
        return None
    return Request(one.tool, one.params, one.title, one.reconcilable, True)


def ask_approval(facts: Facts, run: Run, wanted: Asked, *, now_ms: int) -> WorkflowChange:
    """The mutation waits for a person."""
    follow(run.phase, PhaseEvent.TRIED)
    waiting = replace(
        run, status=RunStatus.APPROVAL, fault=APPROVAL, asked=wanted,
        error=f"wants to: {wanted.title or wanted.tool}", updated_ms=now_ms,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(waiting,))


def mutating(facts: Facts, run: Run, request: Request | None, *, now_ms: int) -> WorkflowChange:
    """
    A mutation is about to be tried; without a request, the one that was refused before.

    One that an earlier attempt got approved, and did not make, stands under the number of that one.
    """
    if request is None:
        if facts.mutation is None or facts.mutation.status is not MutationStatus.FAILED:
            raise ValueError(f"only what was refused is tried again: {facts.mutation}")
        mutation = replace(facts.mutation, status=MutationStatus.IN_FLIGHT, error="")
    else:
        approved = run.approved
        known = approved is not None and approved.key == request.key and approved.run
        mutation = Mutation(
            run=known or run.number, tool=request.tool, params=request.params, title=request.title,
            key=request.key, reconcilable=request.reconcilable, created_ms=now_ms,
        )  # fmt: skip
    started = replace(
        run, phase=follow(run.phase, PhaseEvent.TRIED), mutation=mutation.run,
        note=mutation.title or run.note, updated_ms=now_ms,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(started,), mutations=(mutation,))


def applied_text(result: str) -> str:
    """The checkpoint of a mutation that was applied, with its result."""
    return f'{{"status": "applied", "result": {result}}}'


def mutated(facts: Facts, run: Run, result: str, *, now_ms: int) -> WorkflowChange:
    """The mutation was applied: the phase together with its result."""
    phase = follow(run.phase, PhaseEvent.SETTLED)
    assert facts.mutation is not None
    mutation = replace(facts.mutation, status=MutationStatus.APPLIED, result=result)
    done = replace(run, phase=phase, mutated=applied_text(result), updated_ms=now_ms)
    return WorkflowChange(standing=facts.standing, runs=(done,), mutations=(mutation,))


def fail(facts: Facts, run: Run, failure: Failure, *, now_ms: int) -> WorkflowChange:
    """
    A step has failed, and it is certain what has happened outside.

    Where the next attempt begins afresh, what was reserved is released now. A run that waits for a
    person, or for its maintainers, keeps what it has.
    """
    status = status_of(failure.fault)
    failed = replace(
        run, status=status, fault=failure.fault, error=failure.error,
        traceback=failure.traceback, updated_ms=now_ms,
    )  # fmt: skip
    resets = status in (RunStatus.TRANSIENT, RunStatus.LOGIC) and not run.phase.is_settled
    return WorkflowChange(
        standing=_backing_off(facts.standing, failure, now_ms=now_ms), runs=(failed,),
        settle=(run.number, EventStatus.PENDING) if resets else None,
    )  # fmt: skip


def commit(facts: Facts, run: Run, emission: Emission, *, now_ms: int) -> WorkflowChange:
    """The run has come to its end: state, events, marks and times, together."""
    handler = facts.handler(run.handler)
    if emission.state is not None:
        handler = replace(handler, state=emission.state)
    settle = None
    if run.kind is HandlerKind.PRODUCER:
        zone = facts.standing.zone
        handler = replace(
            handler, next_run_ms=next_run_ms(handler.schedule, zone=zone, now_ms=now_ms),
            ran_ms=run.created_ms,
        )  # fmt: skip
    else:
        skipped = run.mutated == SKIPPED
        settle = (run.number, EventStatus.SKIPPED if skipped else EventStatus.CONSUMED)
    done = replace(
        run, phase=follow(run.phase, PhaseEvent.COMMITTED), status=RunStatus.COMMITTED,
        note=emission.note or run.note, fault="", error="", traceback="", updated_ms=now_ms,
    )  # fmt: skip
    standing = replace(facts.standing, current=None, failures=0, retry_ms=None, repairs=0)
    return WorkflowChange(
        standing=standing, handlers=(handler,), runs=(done,), inputs=emission.inputs,
        publish=emission.publications, publisher=run.number, rounds=rounds_of(run),
        inherits=run.kind is HandlerKind.CONSUMER, settle=settle,
    )  # fmt: skip


def rounds_of(run: Run) -> int:
    """Through how many consumers what a run deals with has gone, this one included."""
    if run.prepared is None:
        return 0
    found = json.loads(run.prepared).get("rounds", 1)
    assert isinstance(found, int), found
    return found


def after(facts: Facts, change: WorkflowChange, *, number: int) -> Facts:
    """The facts as they are once a change was written; what is pending must be asked for."""
    standing = replace(change.standing, version=facts.standing.version + 1, writes=number)
    handlers = {one.name: one for one in facts.handlers if one.name not in change.removed}
    handlers |= {one.name: one for one in change.handlers}
    run = _current(standing, [*change.runs, *_some(facts.run)])
    return Facts(
        standing=standing, handlers=tuple(handlers.values()), run=run,
        mutation=_of_run(run, [*change.mutations, *_some(facts.mutation)]),
        pending=facts.pending,
    )  # fmt: skip


def _backing_off(standing: Standing, failure: Failure, *, now_ms: int) -> Standing:
    """A transient failure is tried again after a while, however long the outage lasts."""
    if failure.fault is not Fault.TRANSIENT:
        return replace(standing, retry_ms=None)
    failures = standing.failures + 1
    return replace(standing, failures=failures, retry_ms=now_ms + backoff_ms(failures))


def _current(standing: Standing, runs: Sequence[Run]) -> Run | None:
    return next((one for one in runs if one.number == standing.current), None)


def _of_run(run: Run | None, mutations: Sequence[Mutation]) -> Mutation | None:
    if run is None or run.mutation is None:
        return None
    return next(one for one in mutations if one.run == run.mutation)


def _some(value: _T | None) -> list[_T]:
    return [] if value is None else [value]
