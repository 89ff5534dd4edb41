"""
The steps of a run, as far as the functions of the author go.

Each gives its function a context that allows what the step allows, calls it, and reads what came
back. Whatever goes wrong in that is a `StepError` with its class; what goes wrong elsewhere is
not the author's.

Spec: FLOW-13 to FLOW-20, FAIL-16, MUTATE-5.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from gnomon.apps.workflow.context import (
    MUTATE,
    NEXT,
    PREPARE,
    PRODUCER,
    Context,
    Outcome,
    Prepared,
    to_json,
)
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.failure import Failure, Fault, classify
from gnomon.apps.workflow.function_calls import RECONCILE_MAX_MS, FunctionCalls, waiting_here
from gnomon.apps.workflow.mutation_changes import Finding, Verdict
from gnomon.apps.workflow.pending_events import PendingEvents, Source
from gnomon.apps.workflow.run_changes import Emission, Preparation, Request
from gnomon.errors import LogicError
from gnomon.ports.workflow_facts import Facts, Mutation, Run
from gnomon.ports.workflow_log import WorkflowLog

__all__ = ["Call", "HandlerCalls", "StepError", "applied", "not_applied", "unknown"]

_T = TypeVar("_T")


class StepError(Exception):
    """A function of the author has failed."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.error)


class Call(NamedTuple):
    """What a tool is called with, and asked about."""

    params: object
    key: str
    """The same whenever this one mutation is meant; send it to a server that can tell by it."""
    first_tried: datetime
    """When it was written down that this mutation is about to be tried, in UTC."""
    now: datetime


def applied(result: object = None) -> Finding:
    """A tool has found out that its mutation was made."""
    return Finding(Verdict.APPLIED, to_json(result, "result"))


def not_applied() -> Finding:
    """A tool has found out that its mutation was not made, and cannot be any more."""
    return Finding(Verdict.FAILED)


def unknown(error: str = "") -> Finding:
    """A tool cannot tell yet."""
    return Finding(Verdict.UNKNOWN, error=error)


class HandlerCalls:
    """The functions of one version of a workflow; `workflow` is set before any is called."""

    def __init__(self, log: WorkflowLog, functions: FunctionCalls) -> None:
        self.workflow: Workflow
        self._log = log
        self._functions = functions

    async def produce(self, facts: Facts, run: Run, now_ms: int) -> Emission:
        handler = facts.handler(run.handler)
        function = self.workflow.producers[run.handler].handler
        assert function is not None
        context = Context(PRODUCER, handler, now=_instant(now_ms), run=run.number)
        result = await self._call(context, function, context, json.loads(handler.state))
        return self._read(lambda: context.emission(result))

    async def prepare(self, facts: Facts, run: Run, now_ms: int) -> Preparation:
        handler = facts.handler(run.handler)
        consumer = self.workflow.consumers[run.handler]
        function = consumer.on_prepare
        assert function is not None
        events = await self._log.peek(facts.standing.name, handler.subscribes, limit=consumer.sees)
        pending = PendingEvents(
            events, {topic: one.size for topic, one in facts.pending.items()},
            Source(self._log, facts.standing.name, waiting_here()),
        )  # fmt: skip
        context = Context(PREPARE, handler, now=_instant(now_ms), run=run.number, pending=pending)
        try:
            result = await self._call(context, function, context, json.loads(handler.state))
        except StepError:
            if pending.failure is not None:  # nothing of the script has failed
                raise pending.failure from None
            raise
        if pending.failure is not None:  # it was caught, and not all was seen
            raise pending.failure
        return self._read(lambda: context.preparation(result, now_ms=now_ms))

    async def mutate(self, facts: Facts, run: Run, now_ms: int) -> Request | None:
        """The mutation that the script asks for; it is not asked when nothing was reserved."""
        prepared = _prepared(run)
        function = self.workflow.consumers[run.handler].on_mutate
        if function is None or not prepared.reservations:
            return None
        context = Context(
            MUTATE, facts.handler(run.handler), now=_instant(now_ms), run=run.number,
            tools=self.workflow.tools,
        )  # fmt: skip
        await self._call(context, function, context, prepared)
        return context.request()

    async def next(self, facts: Facts, run: Run, now_ms: int) -> Emission:
        function = self.workflow.consumers[run.handler].on_next
        if function is None:
            return Emission()
        context = Context(NEXT, facts.handler(run.handler), now=_instant(now_ms), run=run.number)
        result = await self._call(context, function, context, _prepared(run), _outcome(run))
        return self._read(lambda: context.emission(result))

    def needs_approval(self, tool: str) -> bool:
        """Whether a person must agree to what this tool does."""
        found = self.workflow.tools.get(tool)
        return found is not None and found.approval

    def classify(self, error: BaseException, *, by_tool: bool) -> Failure:
        """The failure that an exception means, as the author of the script has it."""
        return classify(error, by_tool=by_tool, treated=self.workflow.treated)

    async def apply(self, mutation: Mutation, now_ms: int) -> str:
        """Make the mutation; its result as JSON. Whatever is raised comes from the tool."""
        tool = self.workflow.tools.get(mutation.tool)
        if tool is None:
            raise LogicError(f"tool {mutation.tool} is not there any more; declare it again")
        function = tool.on_call
        assert function is not None
        result = await self._functions.mutate(function, _call_of(mutation, now_ms))
        try:
            return to_json(result, "result")
        except LogicError:  # it was made, whatever it says about itself
            return json.dumps(repr(result)[:1000])

    async def reconcile(self, mutation: Mutation, now_ms: int) -> Finding:
        """Ask the tool what became of its mutation; if it raises, it cannot tell."""
        tool = self.workflow.tools.get(mutation.tool)
        if tool is None or tool.on_reconcile is None:
            return unknown(f"tool {mutation.tool} has no reconcile any more")
        try:
            found = await self._functions.call(
                tool.on_reconcile, _call_of(mutation, now_ms), limit_ms=RECONCILE_MAX_MS
            )
        except Exception as error:
            return unknown(self.classify(error, by_tool=True).error)
        if not isinstance(found, Finding):
            return unknown(
                f"reconcile of {mutation.tool} must return applied(...), not_applied() or "
                f"unknown(), got {found!r:.100}"
            )
        return found

    async def _call(
        self, context: Context, function: Callable[..., object], *arguments: object
    ) -> object:
        try:
            result = await self._functions.call(function, *arguments)
            context.close()
            return result
        except Exception as error:
            raise StepError(self._classified(context, error)) from error

    def _classified(self, context: Context, error: BaseException) -> Failure:
        """What the context remembers goes before what came out: scripts cannot hide it."""
        try:
            context.close()
        except Exception as first:
            return self.classify(first, by_tool=False)
        return self.classify(error, by_tool=False)

    def _read(self, read: Callable[[], _T]) -> _T:
        try:
            return read()
        except LogicError as error:
            raise StepError(Failure(Fault.LOGIC, error.reason)) from error


def _prepared(run: Run) -> Prepared:
    assert run.prepared is not None, run
    found = json.loads(run.prepared)
    return Prepared(found["data"], found["reservations"], found["title"])


def _outcome(run: Run) -> Outcome:
    assert run.mutated is not None, run
    found = json.loads(run.mutated)
    return Outcome(found["status"], found.get("result"))


def _call_of(mutation: Mutation, now_ms: int) -> Call:
    params = json.loads(mutation.params)
    return Call(params, mutation.key, _instant(mutation.created_ms), _instant(now_ms))


def _instant(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
