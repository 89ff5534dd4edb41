"""
Deliberate mistakes in what the declarative scheduler decides: records, dues, retries, zones.

A mutant is what a tired programmer could have written. None of them may survive the judges.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple
from unittest.mock import patch

from gnomon.apps.declarative import registration, session, task, task_plan
from gnomon.apps.declarative.journal_time import Island, JournalTime
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.task import TaskRecord, TaskState, read_record
from gnomon.apps.declarative.task_plan import End, Step, TaskPlan
from gnomon.core.recurrence import Recurrence, cron
from gnomon.simulation.declarative.plan import World

__all__ = ["DECISIONS", "Mutant", "Patch"]

Patch = AbstractContextManager[object]


class Mutant(NamedTuple):
    """A mistake, and the worlds in which it must show."""

    name: str
    world: World
    make: Callable[[], Patch]


def _without_retry(record: TaskRecord) -> TaskRecord:
    return replace(record, state=TaskState.AWAITING_RUN, retry_until_ms=None, retry_t_ms=None)


def _of_task(name: str, change: Callable[[TaskRecord, JournalTime], TaskRecord]) -> Patch:
    """A step of a task whose record comes out wrong."""
    right: Callable[..., TaskRecord] = getattr(task, name)

    def wrong(record: TaskRecord, *, now: JournalTime, **more: int) -> TaskRecord:
        return change(right(record, now=now, **more), now)

    return patch.object(task, name, wrong)


def _retry_dropped() -> Patch:
    return _of_task("failed", lambda record, now: _without_retry(record))


def _retry_too_early() -> Patch:
    return _of_task(
        "failed", lambda record, now: replace(record, retry_t_ms=now.t_ms + task.RETRY_MIN_MS)
    )


def _retry_counted_from_the_start() -> Patch:
    def wrong(record: TaskRecord, now: JournalTime) -> TaskRecord:
        assert record.attempt_ms is not None
        return replace(
            record, retry_t_ms=now.t_ms - (now.wall_ms - record.attempt_ms) + record.retry_ms
        )

    return _of_task("failed", wrong)


def _retry_after_success() -> Patch:
    return _of_task(
        "succeeded",
        lambda record, now: replace(
            record, state=TaskState.AWAITING_RETRY, retry_until_ms=now.wall_ms,
            retry_t_ms=now.t_ms + 5_000,
        ),
    )  # fmt: skip


def _no_follow_up_run() -> Patch:
    """What came due during a run counts as settled by it."""
    return _of_task("succeeded", lambda record, now: replace(record, settled_ms=now.through_ms))


def _every_missed_occurrence_runs() -> Patch:
    def wrong(record: TaskRecord, *, nominal: int, now: JournalTime) -> TaskRecord:
        after = right(record, nominal=nominal, now=now)
        return replace(after, settled_ms=max(record.settled_ms, record.settled_ms + 60_000))

    right = task.started
    return patch.object(task, "started", wrong)


def _retry_survives_a_start() -> Patch:
    def wrong(record: TaskRecord, *, nominal: int, now: JournalTime) -> TaskRecord:
        after = right(record, nominal=nominal, now=now)
        return replace(after, retry_t_ms=record.retry_t_ms)

    right = task.started
    return patch.object(task, "started", wrong)


def _due_lost() -> Patch:
    """After a start the next occurrence is passed over."""

    def wrong(record: TaskRecord, recurrence: Recurrence, islands: Sequence[Island]) -> int | None:
        first = right(record, recurrence, islands)
        return first if first is None or not record.attempts else recurrence.next_epoch(first)

    right = task.next_due
    return patch.object(task, "next_due", wrong)


def _due_too_early() -> Patch:
    """A turn that is taken shortly before an occurrence starts it at once."""

    def wrong(self: TaskPlan, ends: Sequence[End], *, now: JournalTime, starting: bool) -> Step:
        soon = now._replace(through_ms=now.through_ms + 2_000)
        return right(self, ends, now=soon, starting=starting)

    right = TaskPlan.next_step
    return patch.object(TaskPlan, "next_step", wrong)


def _due_without_an_occurrence() -> Patch:
    """A start is due for which no occurrence has come: the turn fails, the next one is right."""

    def wrong(record: TaskRecord, due: int | None, *, now: JournalTime) -> task.Why | None:
        return right(record, None if due is None else due - 2, now=now)

    right = task.reason_to_start
    return patch.object(task_plan, "reason_to_start", wrong)


def _due_waits_for_the_retry() -> Patch:
    def wrong(record: TaskRecord, due: int | None, *, now: JournalTime) -> task.Why | None:
        return right(record, None if record.retry_t_ms is not None else due, now=now)

    right = task.reason_to_start
    return patch.object(task_plan, "reason_to_start", wrong)


def _interrupted_run_forgotten() -> Patch:
    def wrong(record: TaskRecord, *, now: JournalTime) -> TaskRecord:
        return _without_retry(record)

    return patch.object(registration, "crashed", wrong)


def _interrupted_run_forgotten_when_changed() -> Patch:
    def wrong(record: TaskRecord, former: TaskRecord, now: JournalTime) -> TaskRecord:
        same = (record.cron, record.retry_ms) == (former.cron, former.retry_ms)
        return right(record, former, now) if same else record

    right = registration._owed_again
    return patch.object(registration, "_owed_again", wrong)


def _new_task_owes_the_past() -> Patch:
    def wrong(one: Registration, now: JournalTime) -> TaskRecord:
        record = right(one, now)
        return replace(record, settled_ms=max(record.settled_ms - 3_600_000, 0))

    right = registration._anew
    return patch.object(registration, "_anew", wrong)


def _new_task_misses_its_minute() -> Patch:
    def wrong(one: Registration, now: JournalTime) -> TaskRecord:
        return replace(right(one, now), settled_ms=now.through_ms)

    right = registration._anew
    return patch.object(registration, "_anew", wrong)


def _outage_forgotten() -> Patch:
    """What came due while no scheduler was there is not made up for."""

    def wrong(name: str, text: str) -> TaskRecord:
        record = read_record(name, text)
        return replace(record, settled_ms=record.settled_ms + 600_000)

    return patch.object(session, "read_record", wrong)


def _retry_lost_in_a_crash() -> Patch:
    def wrong(name: str, text: str) -> TaskRecord:
        record = read_record(name, text)
        waits = record.state is TaskState.AWAITING_RETRY and not record.interrupted
        return _without_retry(record) if waits else record

    return patch.object(session, "read_record", wrong)


def _repeated_hour_runs_twice() -> Patch:
    def wrong(text: str, *, zone: str, dialect: str) -> Recurrence:
        return cron(text, zone=zone, dialect=dialect, dst="civil")

    return patch.object(registration, "cron", wrong)


def _zone_ignored() -> Patch:
    def wrong(text: str, *, zone: str, dialect: str) -> Recurrence:
        return cron(text, zone="UTC", dialect=dialect)

    return patch.object(registration, "cron", wrong)


CRASH = World.CRASH
DECISIONS = [
    Mutant("a retry is dropped", CRASH, _retry_dropped),
    Mutant("a retry comes too early", CRASH, _retry_too_early),
    Mutant("a retry is counted from the start", CRASH, _retry_counted_from_the_start),
    Mutant("a success is tried again", CRASH, _retry_after_success),
    Mutant("no run follows for what came due during one", CRASH, _no_follow_up_run),
    Mutant("every missed occurrence runs", CRASH, _every_missed_occurrence_runs),
    Mutant("a retry survives a start", CRASH, _retry_survives_a_start),
    Mutant("a due is lost", CRASH, _due_lost),
    Mutant("a run starts before its time", CRASH, _due_too_early),
    Mutant("a turn fails by its own mistake", CRASH, _due_without_an_occurrence),
    Mutant("a due waits for the retry", CRASH, _due_waits_for_the_retry),
    Mutant("an interrupted run is forgotten", CRASH, _interrupted_run_forgotten),
    Mutant("an interrupted run is forgotten when its task has changed", CRASH,
           _interrupted_run_forgotten_when_changed),
    Mutant("a new task owes the past", CRASH, _new_task_owes_the_past),
    Mutant("a new task misses its first minute", CRASH, _new_task_misses_its_minute),
    Mutant("an outage is forgotten", CRASH, _outage_forgotten),
    Mutant("a retry is lost in a crash", CRASH, _retry_lost_in_a_crash),
    Mutant("the repeated hour runs twice", CRASH, _repeated_hour_runs_twice),
    Mutant("the zone is ignored", CRASH, _zone_ignored),
]  # fmt: skip
