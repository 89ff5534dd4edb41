"""
Which tasks are to be started now, and when is there something to do again?

The task plan holds all tasks of a scheduler in memory. `next_step` says what is to be written and
started, and changes nothing but its own reminders; only when that has been written does `apply`
make it so. Finding what is due costs as much as there is due, not as many tasks as there are.

Spec: TASK-2 to TASK-4, TASK-7, POLL-2, POLL-3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from gnomon.apps.declarative import task
from gnomon.apps.declarative.callback import Callback, RunContext
from gnomon.apps.declarative.journal_time import Back, JournalTime
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.task import TaskRecord, TaskState, Why, reason_to_start
from gnomon.core.civil.instant import format_instant
from gnomon.errors import CronCalculationError
from gnomon.ports import Entry, Event

__all__ = ["End", "Start", "Step", "TaskPlan"]


class End(NamedTuple):
    """A run has ended in this process."""

    task: str
    error: BaseException | None
    """None when it succeeded."""
    detail: str = ""
    """How it failed, in one line."""


class Start(NamedTuple):
    """A run to start, once that is written."""

    callback: Callback
    context: RunContext
    why: Why
    preempts: bool
    """Whether a pending retry is forgotten over it."""
    was_interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one turn does."""

    entries: list[Entry] = field(default_factory=list)
    records: dict[str, TaskRecord] = field(default_factory=dict)
    ends: list[tuple[End, TaskRecord | None]] = field(default_factory=list)
    """Each end, with the record that follows from it, or None for a task that was removed."""
    starts: list[Start] = field(default_factory=list)


@dataclass(slots=True)
class _Planned:
    registration: Registration
    record: TaskRecord
    due: int | None = None


class TaskPlan:
    """All tasks, by name."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Planned] = {}
        self._running: dict[str, tuple[str, int]] = {}
        """The runs that go on, each with the cron text and the delay it was started under."""
        self._unwritten: dict[str, None] = {}
        """The tasks whose records have changed with the clock, and are to be written."""
        self._ready: set[str] = set()
        self._dues: list[tuple[int, str]] = []
        self._retries: list[tuple[int, str]] = []

    @property
    def running(self) -> list[str]:
        return list(self._running)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to wait for."""
        return not self._tasks and not self._running

    def records(self) -> dict[str, TaskRecord]:
        return {name: planned.record for name, planned in self._tasks.items()}

    def unwritten(self) -> dict[str, TaskRecord]:
        """The records that are to be written with whatever is written next."""
        return {name: self._tasks[name].record for name in self._unwritten if name in self._tasks}

    def go_back(self, back: Back, *, now: JournalTime) -> list[CronCalculationError]:
        """The clock was set back; what went wrong in looking ahead from there."""
        errors = []
        self._dues = []
        for name, planned in self._tasks.items():
            before = planned.record
            try:
                planned.record = task.gone_back(before, planned.registration.recurrence, back)
                planned.due = _next_due(planned.registration, planned.record, now)
            except Exception as error:  # a recurrence of the user's own
                planned.due = None
                errors.append(_incalculable(planned.registration, now, error))
            if planned.record != before:
                self._unwritten[name] = None
            self._remind(name, planned)
        return errors

    def prepare(
        self,
        registrations: Sequence[Registration],
        records: dict[str, TaskRecord],
        now: JournalTime,
    ) -> "TaskPlan":
        """The task plan as it will be with these; runs that go on are kept."""
        new = TaskPlan()
        for one in registrations:
            planned = _Planned(one, records[one.name])
            planned.due = _next_due(one, planned.record, now)
            new._tasks[one.name] = planned
        new._running = dict(self._running)
        for name, planned in new._tasks.items():
            new._remind(name, planned)
        return new

    def next_step(self, ends: Sequence[End], *, now: JournalTime, starting: bool) -> Step:
        """What is to be written: the ends, and the starts that are due."""
        step = Step(records=self.unwritten())
        for end in ends:
            self._plan_end(step, end, now)
        if starting:
            self._ripen(now)
            ended = [end.task for end in ends]
            for name in dict.fromkeys([*ended, *sorted(self._ready)]):
                self._plan_start(step, name, now)
        return step

    def apply(self, step: Step, *, now: JournalTime) -> list[CronCalculationError]:
        """The step has been written; what went wrong in looking further ahead."""
        errors = []
        for end, _ in step.ends:
            del self._running[end.task]
        for start in step.starts:
            name = start.context.task
            self._running[name] = _definition(self._tasks[name].record)
            self._ready.discard(name)
        for name, record in step.records.items():
            planned = self._tasks[name]
            self._unwritten.pop(name, None)
            settled = record.settled_ms != planned.record.settled_ms
            planned.record = record
            if settled:
                try:
                    planned.due = _next_due(planned.registration, record, now)
                except CronCalculationError as error:
                    planned.due = None
                    errors.append(error)
            self._remind(name, planned)
        return errors

    def rest_ms(self, now: JournalTime) -> int | None:
        """How long there is nothing to do; None until a caller changes that."""
        if self._ready:  # what was planned has not been written
            return 0
        rests = []
        while self._dues and not self._is_due_valid(*self._dues[0]):
            heappop(self._dues)
        while self._retries and not self._is_retry_valid(*self._retries[0]):
            heappop(self._retries)
        if self._dues:
            due_ms = self._dues[0][0] * 1000
            rests.append(0 if due_ms <= now.through_ms else due_ms - now.wall_ms)
        if self._retries:
            rests.append(self._retries[0][0] - now.t_ms)
        return max(min(rests), 0) if rests else None

    def _plan_end(self, step: Step, end: End, now: JournalTime) -> None:
        succeeded = end.error is None
        event = Event.RUN_SUCCESS if succeeded else Event.RUN_FAILURE
        step.entries.append(Entry(event, now.t_ms, now.wall_ms, task=end.task, detail=end.detail))
        planned, record = self._tasks.get(end.task), None
        if planned is not None:
            if self._running[end.task] != _definition(planned.record):
                record = task.ended_for_another(planned.record)
            elif succeeded:
                record = task.succeeded(planned.record, now=now)
            else:
                record = task.failed(planned.record, now=now)
            step.records[end.task] = record
        step.ends.append((end, record))

    def _plan_start(self, step: Step, name: str, now: JournalTime) -> None:
        planned = self._tasks.get(name)
        if planned is None:  # its run has ended after it was removed
            return
        record = step.records.get(name, planned.record)
        if record.state is TaskState.RUNNING:
            self._ready.discard(name)
            return
        why = reason_to_start(record, planned.due, now=now)
        if why is None:
            self._ready.discard(name)
            return
        nominal = self._nominal(planned, record, why, now)
        after = task.started(record, nominal=nominal, now=now)
        context = RunContext(name, nominal, after.attempts, why.value)
        step.records[name] = after
        step.entries.append(
            Entry(
                Event.RUN_START, now.t_ms, now.wall_ms, task=name,
                detail=f"{why} {format_instant(nominal)} attempt {after.attempts}",
            )
        )  # fmt: skip
        preempts = why is Why.DUE and record.state is TaskState.AWAITING_RETRY
        step.starts.append(
            Start(planned.registration.callback, context, why, preempts, record.interrupted)
        )

    def _nominal(self, planned: _Planned, record: TaskRecord, why: Why, now: JournalTime) -> int:
        """The occurrence that a run is for: of several that are owed, the latest."""
        if why is not Why.DUE:
            return record.nominal if record.nominal is not None else now.minute_ms // 1000
        recurrence, through = planned.registration.recurrence, now.through_ms // 1000
        if planned.due is None or planned.due > through:
            assert record.owed is not None
            return record.owed
        try:
            later = recurrence.next_epoch(planned.due)
            if later is None or later > through:
                return planned.due
            return task.latest_due(recurrence, planned.due, through, now.islands)
        except Exception:  # a recurrence of the user's own; what is due is due all the same
            return planned.due

    def _ripen(self, now: JournalTime) -> None:
        self._ready.update(
            _popped(self._dues, now.through_ms // 1000), _popped(self._retries, now.t_ms)
        )

    def _remind(self, name: str, planned: _Planned) -> None:
        if planned.record.state is TaskState.RUNNING:
            return
        if planned.record.owed is not None:
            self._ready.add(name)
        if planned.due is not None:
            heappush(self._dues, (planned.due, name))
        if planned.record.retry_t_ms is not None:
            heappush(self._retries, (planned.record.retry_t_ms, name))

    def _is_due_valid(self, due: int, name: str) -> bool:
        planned = self._tasks.get(name)
        return planned is not None and planned.due == due and name not in self._running

    def _is_retry_valid(self, at_ms: int, name: str) -> bool:
        planned = self._tasks.get(name)
        return (
            planned is not None and planned.record.retry_t_ms == at_ms and name not in self._running
        )


def _definition(record: TaskRecord) -> tuple[str, int]:
    """What makes a task of this name the one it is."""
    return record.cron, record.retry_ms


def _popped(heap: list[tuple[int, str]], through: int) -> Iterable[str]:
    found: list[str] = []
    while heap and heap[0][0] <= through:
        found.append(heappop(heap)[1])
    return found


def _next_due(registration: Registration, record: TaskRecord, now: JournalTime) -> int | None:
    try:
        return task.next_due(record, registration.recurrence, now.islands)
    except Exception as error:
        raise _incalculable(registration, now, error) from error


def _incalculable(
    registration: Registration, now: JournalTime, error: Exception
) -> CronCalculationError:
    if isinstance(error, CronCalculationError):
        return error
    return CronCalculationError(registration.cron, format_instant(now.wall_ms // 1000), error)
