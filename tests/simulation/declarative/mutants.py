"""
Deliberate mistakes in what the declarative scheduler does: runs, writes, stops, waits.

A mutant is what a tired programmer could have written. None of them may survive the judges.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from unittest.mock import patch

from gnomon.apps.declarative import journal_time, scheduler, session, task_plan
from gnomon.apps.declarative.journal_time import Back, JournalTime, Sight, Timekeeper
from gnomon.apps.declarative.journal_writer import JournalWriter
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.runner import Run, Runner
from gnomon.apps.declarative.session import Session
from gnomon.apps.declarative.task import TaskRecord, TaskState
from gnomon.apps.declarative.task_plan import End, Start, Step, TaskPlan
from gnomon.errors import StoreError
from gnomon.ports import Change, Entry, Event
from gnomon.simulation.declarative.plan import World
from tests.simulation.declarative.decision_mutants import DECISIONS, Mutant, Patch

__all__ = ["MUTANTS", "Mutant"]


def _started_twice() -> Patch:
    def wrong(self: Runner, start: Start) -> None:
        right(self, start)
        right(self, start)

    right = Runner.start
    return patch.object(Runner, "start", wrong)


def _never_called() -> Patch:
    """A run that is tried again is written down and not called."""

    def wrong(self: Runner, start: Start) -> None:
        if start.context.attempt > 1:
            self._on_end(End(start.context.task, None))
        else:
            right(self, start)

    right = Runner.start
    return patch.object(Runner, "start", wrong)


def _failure_called_success() -> Patch:
    def wrong(self: Session, end: End) -> None:
        right(self, End(end.task, None))

    right = Session._on_end
    return patch.object(Session, "_on_end", wrong)


def _exit_not_contained() -> Patch:
    async def wrong(self: Runner, run: Run) -> None:
        await self._call(run)
        self._on_end(End(run.name, None))

    return patch.object(Runner, "_run", wrong)


def _run_before_the_commit() -> Patch:
    async def wrong(self: Session) -> None:
        async with self._writer.taken() as now:
            step = self._plan.next_step(list(self._ends), now=now, starting=not self._held.is_set)
            entries = list(step.entries)
            call = self._ask_to_stop(entries, now)
            for start in step.starts:
                self._runner.start(start)
            if entries:
                change = self._writer.change(now, entries, step.records)
                without = replace(step, starts=[])
                await self._writer.write(change, lambda: follow(self, step, without, now, call))

    def follow(self: Session, step: Step, without: Step, now: JournalTime, call: int) -> None:
        with patch.object(self._runner, "start", lambda start: None):
            self._follow(step, now, call)

    return patch.object(Session, "turn", wrong)


def _overlapping_runs() -> Patch:
    """A run that takes longer than half a minute is taken for lost."""
    right = TaskPlan._plan_start

    def wrong(self: TaskPlan, step: Step, name: str, now: JournalTime) -> None:
        task = self._tasks.get(name)
        before = None if task is None else task.record
        if task is not None and before is not None and before.state is TaskState.RUNNING:
            task.record = replace(before, state=TaskState.AWAITING_RUN)
        right(self, step, name, now)
        if task is not None and before is not None:
            task.record = before

    @contextmanager
    def both() -> Iterator[None]:
        def remind(self: TaskPlan, name: str, task: task_plan._Planned) -> None:
            state = task.record.state
            task.record = replace(task.record, state=TaskState.AWAITING_RUN)
            always(self, name, task)
            task.record = replace(task.record, state=state)

        always = TaskPlan._remind
        with (
            patch.object(TaskPlan, "_plan_start", wrong),
            patch.object(TaskPlan, "_remind", remind),
            patch.object(TaskPlan, "_is_due_valid", lambda *_: True),
        ):
            yield

    return both()


def _stop_does_not_wait() -> Patch:
    async def wrong(self: Session) -> None:
        if self._polling is not None:
            self._polling.cancel()
        async with self._writer.taken() as now:
            entries: list[Entry] = []
            call = self._ask_to_stop(entries, now)
            entries.append(Entry(Event.STOP_END, now.t_ms, now.wall_ms, call=call))
            change = self._writer.change(now, entries, ended=True)
            await self._writer.write(change, lambda: None)

    return patch.object(Session, "_leave", wrong)


def _starts_after_stop() -> Patch:
    def wrong(self: TaskPlan, ends: Sequence[End], *, now: JournalTime, starting: bool) -> Step:
        return right(self, ends, now=now, starting=True)

    right = TaskPlan.next_step
    return patch.object(TaskPlan, "next_step", wrong)


def _end_of_stop_not_written() -> Patch:
    async def wrong(self: Session) -> None:
        while self._polling is not None:
            await asyncio.wait([self._polling])
        await self._runner.idle()

    return patch.object(Session, "_leave", wrong)


def _end_of_a_removed_task_not_written() -> Patch:
    def wrong(self: Session, end: End) -> None:
        if end.task in self._plan._tasks:
            right(self, end)
        else:
            self._plan._running.pop(end.task, None)
            self._wake.set()

    right = Session._on_end
    return patch.object(Session, "_on_end", wrong)


def _crash_not_noticed() -> Patch:
    """The next owner takes a crash for a stop."""
    right = Session._application

    def wrong(
        self: Session, registrations: Sequence[Registration], records: dict[str, TaskRecord],
        now: JournalTime, entries: Sequence[Entry],
    ) -> tuple[Change, TaskPlan]:  # fmt: skip
        return right(self, registrations, records, now, [])

    return patch.object(Session, "_application", wrong)


def _clock_believed() -> Patch:
    """What is due is decided by the clock on the wall alone."""

    def wrong(self: Timekeeper) -> JournalTime:
        now = right(self)
        return now._replace(through_ms=now.wall_ms)

    right = Timekeeper.time
    return patch.object(Timekeeper, "time", wrong)


def _clock_ahead_for_ever() -> Patch:
    """The latest instant that the clock ever showed is a mark that nothing goes back behind."""

    def wrong(self: Sight, wall_ms: int) -> Back | None:
        before_ms = self.through_ms
        right(self, wall_ms)
        self.through_ms, self.islands = max(self.through_ms, before_ms), ()
        return None

    right = Sight.look
    return patch.object(Sight, "look", wrong)


def _minutes_come_again() -> Patch:
    """What was looked at ahead of its time comes when its time has come."""
    return patch.object(journal_time, "_islands", lambda stretches: ())


def _records_not_set_back() -> Patch:
    """The next owner believes the clock, and the records too."""
    return patch.object(session, "set_back", lambda *_: {})


def _retries_not_waited_for() -> Patch:
    """The next look is for what is due; a retry waits until the scheduler looks anyway."""

    def wrong(self: TaskPlan, now: JournalTime) -> int | None:
        self._retries.clear()
        return right(self, now)

    right = TaskPlan.rest_ms
    return patch.object(TaskPlan, "rest_ms", wrong)


def _long_rests() -> Patch:
    return patch.object(TaskPlan, "rest_ms", lambda self, now: None)


def _lost_answer_taken_for_no() -> Patch:
    """A write without an answer is made again, as another."""

    async def wrong(self: JournalWriter, change: Change, follow: Callable[[], None]) -> None:
        number = self._writes + 1
        await self._journal.write(change, fence=self.fence, number=number)
        self._written(number, change, follow)

    return patch.object(JournalWriter, "write", wrong)


def _lost_answer_taken_for_yes() -> Patch:
    async def wrong(self: JournalWriter, change: Change, follow: Callable[[], None]) -> None:
        number = self._writes + 1
        try:
            await self._journal.write(change, fence=self.fence, number=number)
        except StoreError:
            pass
        else:
            self._writes = number
        self._tell(change)
        follow()

    return patch.object(JournalWriter, "write", wrong)


def _two_hands_write() -> Patch:
    """Each writer decides at once, whatever another is about to write."""

    @asynccontextmanager
    async def wrong(self: JournalWriter) -> AsyncIterator[JournalTime]:
        await self._settle()  # or a turn would follow the other for ever, without a write
        yield self._keeper.time()

    @contextmanager
    def both() -> Iterator[None]:
        with (
            patch.object(JournalWriter, "taken", wrong),
            patch.object(asyncio.Lock, "locked", lambda self: True),
        ):
            yield

    return both()


def _nobody_waits_for_anybody() -> Patch:
    """Calls of initialize and stop go on beside each other."""

    class Open:
        async def __aenter__(self) -> None:
            return

        async def __aexit__(self, *_: object) -> None:
            return

    right = scheduler.Scheduler.__init__

    def wrong(self: scheduler.Scheduler, *arguments: object, **more: object) -> None:
        right(self, *arguments, **more)  # type: ignore[arg-type]
        self._lock = Open()  # type: ignore[assignment]

    return patch.object(scheduler.Scheduler, "__init__", wrong)


def _list_in_force_before_it_is_written() -> Patch:
    async def wrong(self: Session, registrations: Sequence[Registration]) -> None:
        async with self._writer.taken() as now:
            change, plan = self._application(registrations, self._plan.records(), now, [])
            self._plan = plan
            self.poll()
            await asyncio.sleep(0)
        async with self._writer.taken():
            await self._writer.write(change, lambda: None)

    return patch.object(Session, "reconcile", wrong)


CRASH, STORM = World.CRASH, World.STORM
MUTANTS = [
    *DECISIONS,
    Mutant("a run is started twice", CRASH, _started_twice),
    Mutant("a retry is never called", CRASH, _never_called),
    Mutant("a failure is called a success", CRASH, _failure_called_success),
    Mutant("an exception of a callback is not contained", CRASH, _exit_not_contained),
    Mutant("a run is started before the commit", CRASH, _run_before_the_commit),
    Mutant("two runs of one task overlap", CRASH, _overlapping_runs),
    Mutant("stop does not wait", CRASH, _stop_does_not_wait),
    Mutant("a run starts after stop", CRASH, _starts_after_stop),
    Mutant("the end of stop is not written", CRASH, _end_of_stop_not_written),
    Mutant("the end of a removed task is not written", STORM, _end_of_a_removed_task_not_written),
    Mutant("a crash is taken for a stop", CRASH, _crash_not_noticed),
    Mutant("the clock on the wall is believed", STORM, _clock_believed),
    Mutant("a clock that was ahead is ahead for ever", STORM, _clock_ahead_for_ever),
    Mutant("minutes that were looked at come again", STORM, _minutes_come_again),
    Mutant("records are not set back with the clock", STORM, _records_not_set_back),
    Mutant("retries are not waited for", CRASH, _retries_not_waited_for),
    Mutant("rests are always as long as can be", CRASH, _long_rests),
    Mutant("a lost answer is taken for no", STORM, _lost_answer_taken_for_no),
    Mutant("a lost answer is taken for yes", STORM, _lost_answer_taken_for_yes),
    Mutant("two hands write", STORM, _two_hands_write),
    Mutant("calls do not wait for each other", CRASH, _nobody_waits_for_anybody),
    Mutant("a list is in force before it is written", STORM, _list_in_force_before_it_is_written),
]  # fmt: skip
