"""
One workflow at work, for as long as there is something to do.

Each round loads the facts, lets `next_step` choose, and takes that step: a handler is called, its
result becomes a change, the change is committed, and only then does the next step begin. A write
whose answer was lost is made again under the same number. When another writer has changed the
workflow meanwhile, the driver reads the facts again: what was done counts if its run is still the
open one, and is dropped otherwise.

Spec: WHEN-5, PHASE-7 to PHASE-12, MUTATE-1 to MUTATE-7, RECOVER-1 to RECOVER-5, HOST-3 to HOST-6,
HOST-9.
"""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from gnomon.apps.workflow import next_step, run_changes
from gnomon.apps.workflow.alarm import Alarms
from gnomon.apps.workflow.failure import Failure, Fault, classify
from gnomon.apps.workflow.handler_calls import HandlerCalls, StepError
from gnomon.apps.workflow.host_parts import HostParts
from gnomon.apps.workflow.log import log
from gnomon.apps.workflow.mutation_changes import mutation_failed, reconciled
from gnomon.apps.workflow.pace import Hold, Pace
from gnomon.apps.workflow.phase import PhaseEvent, follow
from gnomon.apps.workflow.recovery import recover, retry
from gnomon.apps.workflow.remarks import Remarks
from gnomon.apps.workflow.repair import Trouble, repaired
from gnomon.apps.workflow.retention import WorkflowRetention
from gnomon.apps.workflow.run_changes import Emission, Request
from gnomon.apps.workflow.storable import storable
from gnomon.errors import DefinitionError, OwnershipLostError, StoreError
from gnomon.ports.workflow_facts import (
    Answer,
    Asked,
    Facts,
    HandlerKind,
    Phase,
    Run,
    RunStatus,
    WorkflowChange,
)

__all__ = ["Driver"]

BACKOFF_MS = 100
BACKOFF_MAX_MS = 30_000
TROUBLE_MAX = 1_000
LOAD_AGAIN_MS = 600_000
"""When a script that could not be loaded is looked at again; what it imports may be there then."""
LAST_TRIES = 5
"""How often a host that is to stop asks a store that does not answer."""

_T = TypeVar("_T")


class _Superseded(Exception):  # noqa: N818 - it never leaves this module
    """Another writer has changed the workflow, and what was to be done is not to be done now."""


class Driver:
    """The one hand that runs a workflow, under one fencing number."""

    def __init__(self, name: str, fence: int, around: HostParts) -> None:
        self.name = name
        self.fence = fence
        self.mark = (0, 0)
        """The version and the newest arrival that were last seen."""
        self._around = around
        self._log = around.log
        self._calls = HandlerCalls(around.log, around.functions)
        self._retention = WorkflowRetention(
            around.log, around.clock, around.keep_ms, around.runs_kept
        )
        self._seen: dict[str, int] = {}
        self._remarks = Remarks(name)
        self._alarms = Alarms(around.functions, around.alert)
        self._pace = Pace()
        self._hold: Hold | None = None
        self._writes = 0
        self._recovered = False
        self._checked = 0
        """The version of the script that was last looked at."""
        self._asked = 0
        """The run for which a repair was asked for in vain."""
        self._facts: Facts
        self._run: Run
        """The run at work, which may be ahead of what is written while nothing depends on it."""

    async def drive(self) -> int | None:
        """Do what there is to do; when to look again, None for when something rings."""
        while True:
            await self._load()
            try:
                await self._recover()
                await self._retention.forget_some(self._facts)
                await self._look_at_script()
                again_ms = None
                if self._facts.standing.trouble:
                    again_ms = self._now() + LOAD_AGAIN_MS
                step = self._choose()
                if isinstance(step, next_step.Rest):
                    await self._alarms.rest(self._facts, step.until_ms)
                    return min(step.until_ms or again_ms, again_ms) if again_ms else step.until_ms
                if again_ms is not None or self._around.is_stopping():
                    return again_ms
                await self._take(step)
            except _Superseded:
                log(logging.INFO, "RunSuperseded", workflow=self.name)

    def flags(self) -> dict[str, next_step.Flags]:
        """What each handler was called for, by the facts that were last read."""
        return next_step.flags(self._facts, self._seen, now_ms=self._now())

    def _choose(self) -> next_step.Next:
        asked = self._facts.standing.current == self._asked
        repairs = self._around.repairer is not None and not asked
        return next_step.choose(
            self._facts, self._seen, now_ms=self._now(), repairs=repairs, hold=self._hold
        )

    async def _take(self, step: next_step.Next) -> None:
        if isinstance(step, next_step.Begin):
            await self._begin(step.handler)
        elif isinstance(step, next_step.Retry):
            await self._write(retry(self._facts, now_ms=self._now()))
        elif isinstance(step, next_step.Reconcile):
            await self._reconcile()
        elif isinstance(step, next_step.Repair):
            await self._repair()
        elif isinstance(step, next_step.Continue):
            assert self._facts.run is not None
            await self._go_on(self._facts.run)

    async def _recover(self) -> None:
        """The first thing that a new holder does: see to what its predecessor was at work on."""
        if self._recovered:
            return
        change = recover(self._facts, now_ms=self._now())
        if change is not None:
            log(logging.WARNING, "RunCrashed", workflow=self.name, run=self._facts.standing.current)
            await self._write(change)
        self._recovered = True

    async def _look_at_script(self) -> None:
        """Whether the script can be loaded; if not, why is written down, and the person told."""
        version, trouble = self._facts.standing.script, self._facts.standing.trouble
        if self._checked == version and not trouble:
            return
        error = await self._trouble(version)
        if error != trouble:
            standing = replace(self._facts.standing, trouble=error)
            await self._write(WorkflowChange(standing=standing))
        self._checked = version
        if error:
            log(logging.ERROR, "ScriptNotFound", workflow=self.name, version=version, error=error)
        await self._alarms.script(self._facts)

    async def _trouble(self, version: int) -> str:
        try:
            found = await self._insist(lambda: self._around.library.find(self.name, version))
        except DefinitionError as wrong:
            return storable(str(wrong), most=TROUBLE_MAX)
        if found is None:
            return "no text of it was kept: start the program that has it, or deploy a file"
        return ""

    async def _begin(self, name: str) -> None:
        handler = self._facts.handler(name)
        await self._write(run_changes.begin(self._facts, handler, now_ms=self._now()))
        assert self._facts.run is not None
        await self._go_on(self._facts.run)

    async def _go_on(self, run: Run) -> None:
        """Go on with a run from its phase to its end, or to what stops it."""
        self._run = run
        try:
            await self._find_script()
            if run.kind is HandlerKind.PRODUCER:
                emission = await self._calls.produce(self._facts, self._run, self._now())
            else:
                if self._run.phase is Phase.PREPARING:
                    await self._prepare()
                if self._run.phase in (Phase.PREPARED, Phase.MUTATING):
                    await self._mutate()
                if self._run.status is not RunStatus.ACTIVE:
                    return
                self._run = replace(self._run, phase=follow(self._run.phase, PhaseEvent.NEXT))
                emission = await self._calls.next(self._facts, self._run, self._now())
            await self._put(
                lambda facts: run_changes.commit(facts, self._run, emission, now_ms=self._now())
            )
            log(
                logging.INFO, "RunCommitted", workflow=self.name, run=run.number,
                handler=run.handler, note=self._run.note,
            )  # fmt: skip
            if self._run.prepared is not None and _has_reserved(self._run):
                self._seen[run.handler] = 0  # there may be more than it has taken
            if run.kind is HandlerKind.CONSUMER:
                await self._pace_itself(emission)
        except (_Superseded, StoreError):
            raise
        except StepError as error:
            await self._fail(error.failure)
        except Exception as error:
            log(logging.ERROR, "HostFailed", failure=error, workflow=self.name, run=run.number)
            await self._fail(classify(error, by_tool=True)._replace(fault=Fault.INTERNAL))

    async def _pace_itself(self, emission: Emission) -> None:
        """Let consumers that feed each other wait a moment."""
        consumers = sum(one.kind is HandlerKind.CONSUMER for one in self._facts.handlers)
        circles = run_changes.rounds_of(self._run) > consumers
        if not circles and not (emission.publications and not _has_reserved(self._run)):
            return
        until_ms = self._pace.run(now_ms=self._now())
        if until_ms is None:
            return
        self._remarks.of_pace(self._run.handler, self._hold, now_ms=self._now())
        await self._load()
        self._hold = Hold(until_ms, self._facts.standing.arrivals)

    async def _find_script(self) -> None:
        """Find what to run with: the version that the run names, or else the one in force."""
        library, run = self._around.library, self._run
        try:
            found = await library.find(self.name, run.script)
        except DefinitionError:
            found = None
        if found is None:
            found = await library.find(self.name, self._facts.standing.script)
            self._run = replace(run, script=self._facts.standing.script)
        assert found is not None  # it was there before this run was chosen
        self._calls.workflow = found

    async def _prepare(self) -> None:
        self._seen[self._run.handler] = self._facts.standing.arrivals
        found = await self._calls.prepare(self._facts, self._run, self._now())
        self._remarks.of_preparation(self._run.handler, found)
        await self._put(
            lambda facts: run_changes.prepared(facts, self._run, found, now_ms=self._now())
        )

    async def _mutate(self) -> None:
        """Make the mutation that the script asks for, if it asks for one."""
        request = None
        if self._run.phase is Phase.PREPARED:
            request = run_changes.approved_request(self._run) or await self._calls.mutate(
                self._facts, self._run, self._now()
            )
            if request is None:
                self._run = run_changes.settled_without(self._run)
                return
            fresh = f"{self.name}/{self._run.number}-{self._around.draw_token()}"
            request = run_changes.under_its_key(request, self._run, fresh)
        wanted = self._unapproved(request)
        if wanted is not None:
            await self._put(
                lambda facts: run_changes.ask_approval(facts, self._run, wanted, now_ms=self._now())
            )
            return
        await self._put(
            lambda facts: run_changes.mutating(facts, self._run, request, now_ms=self._now())
        )
        await self._apply()

    def _unapproved(self, request: Request | None) -> Asked | None:
        """What a person must be asked about first; None where none must, or one has agreed."""
        if request is None:
            mutation = self._facts.mutation
            assert mutation is not None
            needs = self._calls.needs_approval(mutation.tool)
            wanted = run_changes.asked_again(mutation, self._run)
        else:
            needs = request.needs_approval
            wanted = run_changes.asked(request, self._run)
        return wanted if needs and not run_changes.is_approved(self._run, wanted) else None

    async def _apply(self) -> None:
        mutation = self._facts.mutation
        assert mutation is not None
        try:
            result = await self._calls.apply(mutation, self._now())
        except Exception as error:
            failure = self._calls.classify(error, by_tool=True)
            log(
                logging.WARNING, "MutationFailed", workflow=self.name, key=mutation.key,
                fault=failure.fault.value, error=failure.error,
            )  # fmt: skip
            await self._put(
                lambda facts: mutation_failed(facts, self._run, failure, now_ms=self._now())
            )
            return
        await self._put(
            lambda facts: run_changes.mutated(facts, self._run, result, now_ms=self._now())
        )

    async def _fail(self, failure: Failure) -> None:
        log(
            logging.WARNING, "RunFailed", workflow=self.name, run=self._run.number,
            handler=self._run.handler, phase=self._run.phase.value, fault=failure.fault.value,
            error=failure.error,
        )  # fmt: skip
        await self._put(
            lambda facts: run_changes.fail(facts, self._run, failure, now_ms=self._now())
        )

    async def _reconcile(self) -> None:
        run, mutation = self._facts.run, self._facts.mutation
        assert run is not None
        assert mutation is not None
        self._run = run
        await self._find_script()
        found = await self._calls.reconcile(mutation, self._now())
        await self._write(reconciled(self._facts, found, now_ms=self._now()))

    async def _repair(self) -> None:
        around, standing = self._around, self._facts.standing
        repairer = around.repairer
        assert repairer is not None

        async def ask(trouble: Trouble) -> object:
            return await around.functions.call(repairer, trouble, limit_ms=around.repair_ms)

        script = await self._insist(lambda: self._log.script(self.name, standing.script))
        change = await repaired(self._facts, script, ask, now_ms=self._now)
        if change is None:
            self._asked = standing.current or 0
        else:
            await self._write(change)

    async def _put(self, decide: Callable[[Facts], WorkflowChange]) -> None:
        """Write a step of the run at work, on newer facts if there are any."""
        while True:
            change = decide(self._facts)
            try:
                await self._write(change)
                break
            except _Superseded:
                await self._load()
                run = self._facts.run
                if run is None or (run.number, run.status) != (self._run.number, RunStatus.ACTIVE):
                    raise
        self._run = next(one for one in change.runs if one.number == self._run.number)

    async def _write(self, change: WorkflowChange) -> None:
        """Commit what follows from the facts, if they are still the facts."""
        number, seen = self._writes + 1, self._facts.standing.version
        done = await self._insist(
            lambda: self._log.commit(change, seen=seen, fence=self.fence, number=number)
        )
        if done.answer is Answer.STALE:
            raise _Superseded
        if done.answer is Answer.NOT_PENDING:
            events = ", ".join(f"{topic}/{id}" for topic, id in done.not_pending[:10])
            raise StepError(
                Failure(Fault.LOGIC, f"prepare: has reserved what is not pending: {events}")
            )
        self._writes = number
        self._facts = run_changes.after(self._facts, change, number=number)
        self.mark = (self._facts.standing.version, self.mark[1])

    async def _load(self) -> None:
        facts = await self._insist(lambda: self._log.load(self.name))
        if facts is None or facts.standing.fence != self.fence:
            raise OwnershipLostError(
                f"workflow {self.name} was removed, or is held by another host now",
                where=self._log.name, hint="what this one has not written is lost",
            )  # fmt: skip
        self._facts = facts
        self.mark = (facts.standing.version, facts.standing.arrivals)

    async def _insist(self, act: Callable[[], Awaitable[_T]]) -> _T:
        """Do it until the store answers; nothing else is decided meanwhile."""
        failures = 0
        while True:
            try:
                return await act()
            except StoreError as error:
                if error.lasts or (self._around.is_stopping() and failures >= LAST_TRIES):
                    raise
                wait_ms = min(BACKOFF_MS << min(failures, 20), BACKOFF_MAX_MS)
                failures += 1
                log(
                    logging.WARNING, "StoreFailed", workflow=self.name, error=str(error),
                    wait_ms=wait_ms,
                )  # fmt: skip
                await self._around.clock.sleep_ms(wait_ms)

    def _now(self) -> int:
        return self._around.clock.now_ms()


def _has_reserved(run: Run) -> bool:
    return run.prepared is not None and bool(json.loads(run.prepared)["reservations"])
