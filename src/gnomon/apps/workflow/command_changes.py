"""
What a person may ask of a workflow, and what that changes.

Each function gives the change to write, None when there is nothing to change, or raises a
`CommandRefusedError` that says why not and what to do instead. A command never runs anything:
the host that holds the workflow sees what has changed, and goes on from there.

Spec: WASK-1, WASK-3 to WASK-8, INPUT-3.
"""

from collections.abc import Sequence
from dataclasses import replace

from gnomon.apps.workflow.phase import PhaseEvent, follow
from gnomon.apps.workflow.recovery import retry
from gnomon.apps.workflow.run_changes import APPROVAL, SKIPPED
from gnomon.errors import CommandRefusedError
from gnomon.ports.workflow_facts import (
    Event,
    Facts,
    HandlerKind,
    Mode,
    Mutation,
    MutationStatus,
    Phase,
    Run,
    RunStatus,
    WorkflowChange,
)

__all__ = ["approve", "check_removable", "pause", "reject", "resume", "run_now", "skip_input"]

_STUCK = (RunStatus.TRANSIENT, RunStatus.LOGIC, RunStatus.INTERNAL)


def pause(facts: Facts) -> WorkflowChange | None:
    """Start nothing any more; a run that is at work comes to its end."""
    if facts.standing.mode is Mode.PAUSED:
        return None
    return WorkflowChange(standing=replace(facts.standing, mode=Mode.PAUSED))


def resume(facts: Facts, *, now_ms: int) -> WorkflowChange | None:
    """
    Go on: what was paused, and what has failed or waits to be tried again, at once.

    What only another command can help is refused, unless the workflow was paused besides.
    """
    if facts.standing.mode is Mode.ACTIVE:
        _check_resumable(facts)
    standing, run = replace(facts.standing, mode=Mode.ACTIVE), facts.run
    if run is not None and run.status in _STUCK:
        standing = replace(standing, failures=0, repairs=0, retry_ms=now_ms)
    return None if standing == facts.standing else WorkflowChange(standing=standing)


def _check_resumable(facts: Facts) -> None:
    run, mutation, name = facts.run, facts.mutation, facts.standing.name
    if run is not None and run.status is RunStatus.APPROVAL:
        raise _refused(facts, "waits for a person", f"gnomon workflow approve {name}")
    if run is None or run.status is not RunStatus.RECONCILIATION or mutation is None:
        return
    if mutation.status is MutationStatus.INDETERMINATE:
        raise _refused(
            facts, "has a mutation whose end is unknown",
            f"look whether it was made, then gnomon workflow resolve {name}",
        )  # fmt: skip
    raise _refused(facts, "is finding out by itself whether its mutation was made", "wait for it")


def run_now(facts: Facts, *, now_ms: int) -> WorkflowChange:
    """Every producer runs as soon as possible, one after the other."""
    if facts.run is not None:
        raise _refused(facts, "has a run that is not over", "wait for it, or see to what it needs")
    if facts.standing.mode is Mode.PAUSED:
        raise _refused(facts, "is stopped", "resume it first")
    producers = [one for one in facts.handlers if one.kind is HandlerKind.PRODUCER]
    if not producers:
        raise _refused(
            facts, "has no producers", "publish an event; consumers run when there is one"
        )
    due = [replace(one, next_run_ms=now_ms) for one in producers]
    return WorkflowChange(standing=facts.standing, handlers=due)


def approve(facts: Facts, *, now_ms: int, key: str = "") -> WorkflowChange:
    """
    What the run has waited for is granted, and the same run goes on where it was.

    An approval of a mutation is one of this mutation alone, by its tool, its parameters and its
    key; `key` is the one that the person has seen. That a person has signed in again, or has
    granted something, approves no mutation.
    """
    run = facts.run
    if run is None or run.status is not RunStatus.APPROVAL:
        raise _refused(facts, "waits for no approval", "gnomon workflow status says what it needs")
    _check_key(facts, run, key)
    waiting = run.asked if run.fault == APPROVAL else None
    granted = replace(
        run, status=RunStatus.ACTIVE, asked=None, approved=waiting or run.approved,
        script=facts.standing.script, fault="", error="", traceback="", updated_ms=now_ms,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(granted,))


def reject(facts: Facts, *, now_ms: int, key: str = "") -> WorkflowChange:
    """What the run has waited for is refused: its events are skipped, and `next` is told."""
    run, mutation = facts.run, facts.mutation
    if run is None or run.status is not RunStatus.APPROVAL or run.prepared is None:
        raise _refused(facts, "has no mutation that waits for approval", "pause it instead")
    if run.phase.is_settled:
        raise _refused(facts, "has made its mutation already", "approve it, so that it can go on")
    _check_key(facts, run, key)
    mutations: tuple[Mutation, ...] = ()
    if mutation is not None:
        mutations = (
            replace(
                mutation, status=MutationStatus.SKIPPED, resolved_by="user_skip",
                resolved_ms=now_ms,
            ),
        )  # fmt: skip
    refused = replace(
        run, phase=follow(run.phase, PhaseEvent.REFUSED), status=RunStatus.ACTIVE, mutated=SKIPPED,
        asked=None, fault="", error="", traceback="", updated_ms=now_ms,
    )  # fmt: skip
    return WorkflowChange(standing=facts.standing, runs=(refused,), mutations=mutations)


def check_removable(facts: Facts, *, discard: bool) -> None:
    """Refuse to remove what is at work, and, unless it is to be dropped, what still waits."""
    name, run = facts.standing.name, facts.run
    if facts.standing.mode is Mode.ACTIVE:
        raise _refused(facts, "is not stopped", f"gnomon workflow pause {name} first")
    if discard:
        return
    if run is not None:
        raise _refused(
            facts, "has a run that is not over",
            "see to what it needs, or add --discard to drop it with what it has taken",
        )  # fmt: skip
    waiting = sum(one.size for one in facts.pending.values())
    if waiting:
        raise _refused(
            facts, f"has {waiting} events that wait" if waiting > 1 else "has 1 event that waits",
            "let them be dealt with, or add --discard to drop them",
        )  # fmt: skip


def skip_input(
    facts: Facts, input_id: str, reserved: Sequence[Event], *, now_ms: int
) -> WorkflowChange:
    """
    Do nothing more about an input; `reserved` is what the open run has reserved.

    A run that has reserved some of its events, or is about to, is begun afresh, unless it mutates
    already: then it comes to its end.
    """
    run = facts.run
    if run is None or not _is_touched(run, input_id, reserved):
        return WorkflowChange(standing=facts.standing, skip_input=input_id)
    left = replace(
        run, status=RunStatus.TRANSIENT, fault="transient",
        error="an input of it was skipped by the user", updated_ms=now_ms,
    )  # fmt: skip
    return replace(retry(facts, now_ms=now_ms, left=left), skip_input=input_id)


def _check_key(facts: Facts, run: Run, key: str) -> None:
    """Refuse what a person says about a mutation that is not the one that waits."""
    waiting = run.asked if run.fault == APPROVAL else None
    if key and (waiting is None or waiting.key != key):
        raise CommandRefusedError(
            "waits for something else" if waiting is None else f"waits for {waiting.key}",
            where=facts.standing.name, got=key,
            hint="look at what it waits for now: gnomon workflow status",
        )  # fmt: skip


def _is_touched(run: Run, input_id: str, reserved: Sequence[Event]) -> bool:
    """Whether a run that has mutated nothing yet may be about the input."""
    if run.phase is Phase.PREPARING:  # it may have seen what is about to be skipped
        return run.status is RunStatus.ACTIVE and run.kind is HandlerKind.CONSUMER
    return run.phase is Phase.PREPARED and any(input_id in event.causes for event in reserved)


def _refused(facts: Facts, reason: str, hint: str) -> CommandRefusedError:
    got = facts.run.status.value if facts.run is not None else facts.standing.mode.value
    return CommandRefusedError(reason, where=facts.standing.name, got=got, hint=hint)
