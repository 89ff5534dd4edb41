"""
Deliberate mistakes in the workflow host and its machine.

A mutant is what a tired programmer could have written. None of them may survive the audit.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import patch

from gnomon.apps.workflow import context, driver, mutation_changes, recovery, retention, run_changes
from gnomon.apps.workflow.driver import Driver
from gnomon.apps.workflow.failure import Failure, Fault
from gnomon.apps.workflow.handler_calls import HandlerCalls
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.mutation_changes import Finding, Verdict
from gnomon.apps.workflow.pace import Pace
from gnomon.apps.workflow.pending_events import PendingEvents
from gnomon.apps.workflow.recovery import Reset, reset_of
from gnomon.apps.workflow.retention import WorkflowRetention
from gnomon.apps.workflow.run_changes import NONE, Emission, Preparation
from gnomon.apps.workflow.timing import Wake, read_wake
from gnomon.errors import LogicError
from gnomon.ports.workflow_facts import (
    Event,
    EventStatus,
    Facts,
    Mutation,
    MutationStatus,
    Phase,
    Run,
    WorkflowChange,
)
from gnomon.shell.store import workflow_writing
from gnomon.simulation.workflow.plan import World
from gnomon.simulation.workflow.world import _World
from tests.simulation.workflow import mistold_needs

__all__ = ["MUTANTS", "Mutant"]

Patch = AbstractContextManager[object]


class Mutant(NamedTuple):
    name: str
    world: World
    """The worlds that find it."""
    make: Callable[[], Patch]
    first: int = 1
    """The seed of the first world that is tried; later where few worlds can find it."""


def _reset(wrong: Callable[[Run, Mutation | None], Reset]) -> Patch:
    return patch.object(recovery, "reset_of", wrong)


def _uncertain_events_released() -> Patch:
    """Whether the mutation was settled is asked first, and everything else starts afresh."""

    def wrong(run: Run, mutation: Mutation | None) -> Reset:
        return Reset.FORWARD if run.phase.is_settled else Reset.FRESH

    return _reset(wrong)


def _crash_taken_for_applied() -> Patch:
    def wrong(run: Run, mutation: Mutation | None) -> Reset:
        return Reset.FORWARD if run.phase is Phase.MUTATING else reset_of(run, mutation)

    return _reset(wrong)


def _settled_runs_begun_afresh() -> Patch:
    def wrong(run: Run, mutation: Mutation | None) -> Reset:
        found = reset_of(run, mutation)
        return Reset.FRESH if found is Reset.FORWARD else found

    return _reset(wrong)


def _mutation_made_before_it_is_written() -> Patch:
    async def wrong(self: Driver) -> None:
        if self._run.phase is not Phase.PREPARED:
            await right(self)
            return
        request = await self._calls.mutate(self._facts, self._run, self._now())
        if request is None:
            self._run = run_changes.settled_without(self._run)
            return
        change = run_changes.mutating(self._facts, self._run, request, now_ms=self._now())
        result = await self._calls.apply(change.mutations[0], self._now())
        await self._put(lambda facts: run_changes.mutating(facts, self._run, request, now_ms=0))
        await self._put(lambda facts: run_changes.mutated(facts, self._run, result, now_ms=0))

    right = Driver._mutate
    return patch.object(Driver, "_mutate", wrong)


def _no_answer_taken_for_failure() -> Patch:
    def wrong(facts: Facts, run: Run, failure: Failure, *, now_ms: int) -> WorkflowChange:
        return right(facts, run, failure._replace(fault=Fault.LOGIC, acted=False), now_ms=now_ms)

    right = mutation_changes.mutation_failed
    return patch.object(driver, "mutation_failed", wrong)


def _no_answer_taken_for_success() -> Patch:
    def wrong(facts: Facts, run: Run, failure: Failure, *, now_ms: int) -> WorkflowChange:
        return run_changes.mutated(facts, run, "null", now_ms=now_ms)

    return patch.object(driver, "mutation_failed", wrong)


def _cannot_tell_taken_for_no() -> Patch:
    def wrong(facts: Facts, found: Finding, *, now_ms: int) -> WorkflowChange:
        if found.verdict is Verdict.UNKNOWN:
            found = Finding(Verdict.FAILED)
        return right(facts, found, now_ms=now_ms)

    right = mutation_changes.reconciled
    return patch.object(driver, "reconciled", wrong)


def _next_skipped_after_a_crash() -> Patch:
    async def wrong(self: HandlerCalls, facts: Facts, run: Run, now_ms: int) -> Emission:
        return Emission() if run.retry_of else await right(self, facts, run, now_ms)

    right = HandlerCalls.next
    return patch.object(HandlerCalls, "next", wrong)


def _outcome_forgotten_by_the_next_attempt() -> Patch:
    def wrong(attempt: Run, before: Run, phase: Phase) -> Run:
        found = right(attempt, before, phase)
        return replace(found, mutated=NONE) if phase is Phase.EMITTING else found

    right = recovery._with_results
    return patch.object(recovery, "_with_results", wrong)


def _events_not_handed_over() -> Patch:
    def wrong(facts: Facts, *, now_ms: int, left: Run | None = None) -> WorkflowChange:
        return replace(right(facts, now_ms=now_ms, left=left), hand_over=None)

    right = recovery.retry
    return _both(patch.object(recovery, "retry", wrong), patch.object(driver, "retry", wrong))


def _events_not_released() -> Patch:
    def fail(facts: Facts, run: Run, failure: Failure, *, now_ms: int) -> WorkflowChange:
        return replace(right(facts, run, failure, now_ms=now_ms), settle=None)

    def retry(facts: Facts, *, now_ms: int, left: Run | None = None) -> WorkflowChange:
        return replace(again(facts, now_ms=now_ms, left=left), settle=None)

    right, again = run_changes.fail, recovery.retry
    return _both(
        patch.object(run_changes, "fail", fail), patch.object(recovery, "retry", retry),
        patch.object(driver, "retry", retry), patch.object(mutation_changes, "retry", retry),
    )  # fmt: skip


def _events_seen_that_came_during_the_run() -> Patch:
    """What was called for is forgotten at the end of a run, and not when its prepare begins."""

    async def wrong(self: Driver, run: Run) -> None:
        await right(self, run)
        facts = await self._log.load(self.name)
        assert facts is not None
        self._seen[run.handler] = facts.standing.arrivals

    right = Driver._go_on
    return patch.object(Driver, "_go_on", wrong)


def _not_called_again_for_the_rest() -> Patch:
    return patch.object(driver, "_has_reserved", lambda run: False)


def _wish_to_wake_forgotten() -> Patch:
    def wrong(facts: Facts, run: Run, found: Preparation, *, now_ms: int) -> WorkflowChange:
        return right(facts, run, found._replace(wake_ms=None), now_ms=now_ms)

    right = run_changes.prepared
    return patch.object(run_changes, "prepared", wrong)


def _two_at_a_time() -> Patch:
    """The host looks at a workflow that is rung for, even while a driver is at work on it."""

    def wrong(self: Host) -> None:
        tasks, self._tasks = self._tasks, {}
        right(self)
        self._tasks = tasks | self._tasks

    async def drive(self: Host, one: Driver) -> None:
        self._tasks.setdefault(one.name, None)  # type: ignore[arg-type]
        await again(self, one)

    right, again = Host._start_due, Host._drive
    return _both(patch.object(Host, "_start_due", wrong), patch.object(Host, "_drive", drive))


def _state_without_its_events() -> Patch:
    """What an attempt after another publishes is left out, and its state is not."""

    def wrong(facts: Facts, run: Run, emission: Emission, *, now_ms: int) -> WorkflowChange:
        found = right(facts, run, emission, now_ms=now_ms)
        return replace(found, publish=()) if run.retry_of else found

    right = run_changes.commit
    return patch.object(run_changes, "commit", wrong)


def _skipped_taken_for_consumed() -> Patch:
    def wrong(facts: Facts, run: Run, emission: Emission, *, now_ms: int) -> WorkflowChange:
        found = right(facts, run, emission, now_ms=now_ms)
        return replace(found, settle=found.settle and (run.number, EventStatus.CONSUMED))

    right = run_changes.commit
    return patch.object(run_changes, "commit", wrong)


def _pause_forgets_the_open_run() -> Patch:
    """A driver that finds a run that failed takes the workflow for idle."""

    async def wrong(self: Driver) -> None:
        await right(self)
        run = self._facts.run
        if run is not None and run.status.value == "paused:transient":
            standing = replace(self._facts.standing, current=None)
            self._facts = replace(self._facts, standing=standing, run=None)

    right = Driver._load
    return patch.object(Driver, "_load", wrong)


def _any_approval_will_do() -> Patch:
    return patch.object(run_changes, "is_approved", lambda run, wanted: True)


def _keys_are_counted() -> Patch:
    """A key is the name of the workflow and the number of the run, as in every store."""
    return patch.object(_World, "_draw_token", lambda self: "")


def _not_applied_is_tried_at_once() -> Patch:
    def wrong(facts: Facts, *, tries: int, now_ms: int) -> WorkflowChange:
        run, mutation = mutation_changes._uncertain(facts)
        failed = replace(mutation, status=MutationStatus.FAILED, next_ms=None)
        return mutation_changes._afresh(facts, run, failed, now_ms=now_ms)

    return patch.object(mutation_changes, "_found_not_applied", wrong)


def _circles_go_on_at_full_speed() -> Patch:
    return patch.object(Pace, "run", lambda self, *, now_ms: None)


def _rounds_are_not_counted() -> Patch:
    return patch.object(run_changes, "rounds_of", lambda run: 1)


def _odd_wishes_are_refused() -> Patch:
    def wrong(value: object, *, now_ms: int) -> Wake:
        found = right(value, now_ms=now_ms)
        if found.problem:
            raise LogicError(found.problem)
        return found

    right = read_wake
    return patch.object(context, "read_wake", wrong)


def _only_the_oldest_are_gone_through() -> Patch:
    async def wrong(self: PendingEvents, topic: str, number: int) -> list[Event]:
        return []

    return patch.object(PendingEvents, "_after", wrong)


def _only_the_oldest_are_found() -> Patch:
    async def wrong(self: PendingEvents, topic: str, ids: list[str]) -> list[Event]:
        return [one for one in self._loaded.get(topic, ()) if one.id in ids]

    return patch.object(PendingEvents, "_found", wrong)


def _forgotten_by_age_alone() -> Patch:
    """What a producer would publish again is forgotten while its host is away."""

    def wrong(facts: Facts, *, keep_ms: int, now_ms: int) -> int:
        return now_ms - keep_ms

    return patch.object(retention, "published_before_ms", wrong)


def _publishing_again_is_not_noted() -> Patch:
    return patch.object(workflow_writing, "REFRESH_MS", 10**12)


def _too_many_runs_forgotten() -> Patch:
    async def wrong(self: WorkflowRetention, facts: Facts) -> None:
        self._runs_kept = 0
        await right(self, facts)

    right = WorkflowRetention.forget_some
    return patch.object(WorkflowRetention, "forget_some", wrong)


def _backing_off(wait_ms: Callable[[int], int]) -> Patch:
    return _both(patch.object(run_changes, "backoff_ms", wait_ms),
                 patch.object(mutation_changes, "backoff_ms", wait_ms))  # fmt: skip


def _an_outage_stops_it_for_good() -> Patch:
    return patch.object(run_changes, "backoff_ms", lambda tries: NEVER_MS if tries > 5 else 10_000)


def _a_doubt_is_left_to_the_person() -> Patch:
    return patch.object(
        mutation_changes, "backoff_ms", lambda tries: NEVER_MS if tries > 4 else 10_000
    )


def _waits_do_not_grow() -> Patch:
    return _backing_off(lambda tries: 10_000)


def _a_script_is_looked_at_once() -> Patch:
    return patch.object(driver, "LOAD_AGAIN_MS", NEVER_MS)


def _an_approval_holds_for_one_try() -> Patch:
    return patch.object(recovery, "_still_approved", lambda before, attempt: None)


@contextmanager
def _both(*patches: Patch) -> Iterator[None]:
    with ExitStack() as stack:
        for one in patches:
            stack.enter_context(one)
        yield


CRASH, STORM, ODD, OLD = World.CRASH, World.STORM, World.ODD, World.OLD
NEVER_MS = 10**11
MUTANTS = [
    Mutant("events of an uncertain mutation are released", CRASH, _uncertain_events_released),
    Mutant("a crash is taken for applied", CRASH, _crash_taken_for_applied),
    Mutant("a settled run is begun afresh", CRASH, _settled_runs_begun_afresh),
    Mutant("a mutation is made before it is written", CRASH, _mutation_made_before_it_is_written),
    Mutant("no answer is taken for failure", STORM, _no_answer_taken_for_failure),
    Mutant("no answer is taken for success", STORM, _no_answer_taken_for_success),
    Mutant("cannot tell is taken for no", STORM, _cannot_tell_taken_for_no),
    Mutant("next is skipped after a crash", CRASH, _next_skipped_after_a_crash),
    Mutant("the outcome is forgotten by the next attempt", CRASH,
           _outcome_forgotten_by_the_next_attempt),
    Mutant("events are not handed over", CRASH, _events_not_handed_over),
    Mutant("events are not released", CRASH, _events_not_released),
    Mutant("events are seen that came during a run", STORM, _events_seen_that_came_during_the_run),
    Mutant("a consumer is not called again for the rest", STORM, _not_called_again_for_the_rest),
    Mutant("a wish to wake is forgotten", STORM, _wish_to_wake_forgotten),
    Mutant("two handlers run at a time", STORM, _two_at_a_time),
    Mutant("a state is written without its events", CRASH, _state_without_its_events),
    Mutant("skipped is taken for consumed", STORM, _skipped_taken_for_consumed),
    Mutant("a failed run is passed over", STORM, _pause_forgets_the_open_run),
    Mutant("any approval will do", ODD, _any_approval_will_do),
    Mutant("keys are counted", ODD, _keys_are_counted),
    Mutant("what was not applied is tried at once", ODD, _not_applied_is_tried_at_once),
    Mutant("circles go on at full speed", ODD, _circles_go_on_at_full_speed),
    Mutant("rounds are not counted", ODD, _rounds_are_not_counted),
    Mutant("odd wishes are refused", ODD, _odd_wishes_are_refused),
    Mutant("only the oldest are gone through", ODD, _only_the_oldest_are_gone_through, 35),
    Mutant("only the oldest are found", ODD, _only_the_oldest_are_found, 48),
    Mutant("events are forgotten by age alone", OLD, _forgotten_by_age_alone, 17),
    Mutant("publishing again is not noted", OLD, _publishing_again_is_not_noted),
    Mutant("too many runs are forgotten", OLD, _too_many_runs_forgotten),
    Mutant("an outage stops it for good", World.OUTAGE, _an_outage_stops_it_for_good),
    Mutant("a doubt is left to the person", World.OUTAGE, _a_doubt_is_left_to_the_person),
    Mutant("waits do not grow", World.OUTAGE, _waits_do_not_grow),
    Mutant("a script is looked at once", World.OUTAGE, _a_script_is_looked_at_once),
    Mutant("each try is told of", World.OUTAGE, mistold_needs.each_try),
    Mutant("outages are told of to no person", World.OUTAGE, mistold_needs.no_outage),
    Mutant("an approval holds for one try", World.OUTAGE, _an_approval_holds_for_one_try),
    Mutant("scripts are told of to no person", World.OUTAGE, mistold_needs.no_script),
    Mutant("each look is told of", World.OUTAGE, mistold_needs.each_look),
]  # fmt: skip
