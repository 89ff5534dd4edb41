"""
What would a script do? It is tried on a store that is thrown away, and its tools are not called.

Producers are called, since they only look; so are `prepare`, `mutate` and `next`, with the events
that they are given. What a tool would be called with is written down, and its mutation is taken for
made, with the result that was said for it. No approval is asked for, and nothing is tried again.

Spec: WCLI-8.
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gnomon.apps.workflow.commands import WorkflowCommands
from gnomon.apps.workflow.definition import Tool, Workflow
from gnomon.apps.workflow.driver import Driver
from gnomon.apps.workflow.function_calls import FunctionCalls
from gnomon.apps.workflow.handler_calls import Call
from gnomon.apps.workflow.host_parts import HostParts
from gnomon.apps.workflow.script import Library
from gnomon.errors import DefinitionError
from gnomon.ports import Clock
from gnomon.ports.workflow_facts import Event, EventStatus, Mutation, Publication, Run
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["RUNS_MAX", "Trial", "Tried", "try_out"]

RUNS_MAX = 1_000
"""The most runs that are shown."""
_EVENTS_MAX = 10_000


class Tried(NamedTuple):
    """One run of a trial."""

    run: Run
    takes: list[tuple[str, str]]
    """Topic and id of each event that it reserved."""
    would_call: Mutation | None
    publishes: list[tuple[str, str]]


class Trial(NamedTuple):
    """What a script did."""

    workflow: Workflow
    runs: list[Tried]
    left: dict[str, int]
    """How many events were pending at the end, by topic."""
    stopped: bool
    """Whether a run did not come to its end, so that nothing followed it."""


async def try_out(
    workflow: Workflow, text: str, events: Sequence[Publication], results: Mapping[str, object], *,
    log: WorkflowLog, clock: Clock, producers: bool,
) -> Trial:  # fmt: skip
    """Try a script that was loaded for this alone, on an empty store."""
    for name in results:
        if name not in workflow.tools:
            known = ", ".join(workflow.tools) or "none"
            raise DefinitionError(
                "must be a tool of the script", where="result", got=name,
                hint=f"declared are: {known}",
            )  # fmt: skip
    for name, tool in workflow.tools.items():
        _disarm(tool, results.get(name))
    if not producers:
        for producer in workflow.producers.values():
            producer.handler = _keep_still
    functions, library = FunctionCalls(clock, threads=1), Library(log)
    library.add(workflow, text)
    commands = WorkflowCommands(log, clock, ring=lambda name: None)
    await commands.deploy(workflow, text=text)
    for one in events:
        await commands.publish(workflow.name, one.topic, one.id, json.loads(one.payload))
    (fence,) = (await log.take(holder="a trial")).values()
    numbers = iter(range(1, 1 << 62))
    around = HostParts(
        log=log, clock=clock, functions=functions, library=library, keep_ms=None,
        draw_token=lambda: f"trial-{next(numbers)}", is_stopping=lambda: False,
    )  # fmt: skip
    try:
        await Driver(workflow.name, fence, around).drive()
    finally:
        functions.close()
    return await _found(workflow, log)


def _disarm(tool: Tool, result: object) -> None:
    """Instead of the tool, give what it is taken to give."""

    async def call(call: Call) -> object:
        return result

    tool.on_call = call
    tool.approval = False


def _keep_still(context: object, state: object) -> object:
    return state


async def _found(workflow: Workflow, log: WorkflowLog) -> Trial:
    runs = (await log.runs(workflow.name, limit=RUNS_MAX))[::-1]
    events = await log.events(workflow.name, limit=_EVENTS_MAX)
    numbers = [one.mutation for one in runs if one.mutation is not None]
    mutations = {one.run: one for one in await log.mutations(workflow.name, numbers)}
    left: dict[str, int] = {}
    for one in events:
        if one.status is EventStatus.PENDING:
            left[one.topic] = left.get(one.topic, 0) + 1
    facts = await log.load(workflow.name)
    assert facts is not None
    return Trial(
        workflow, [_tried(one, mutations, events[::-1]) for one in runs],
        dict(sorted(left.items())), facts.run is not None,
    )  # fmt: skip


def _tried(run: Run, mutations: Mapping[int, Mutation], events: Sequence[Event]) -> Tried:
    taken = json.loads(run.prepared)["reservations"] if run.prepared else []
    return Tried(
        run, [(one["topic"], id) for one in taken for id in one["ids"]],
        mutations.get(run.mutation or 0),
        [(one.topic, one.id) for one in events if one.created_by == run.number],
    )  # fmt: skip
