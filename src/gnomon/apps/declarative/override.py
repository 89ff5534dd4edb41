"""
What becomes of the tasks that are known when a list of registrations is applied?

Each task is new, preserved, overridden or removed. A preserved task goes on where it was. An
overridden one begins anew, and so does a new one: what its cron expression asked for in the past is
not owed, except in the present minute. A run that a crash cut off is owed under its name, whether
its definition is the same or not.

Spec: OVERRIDE-1 to OVERRIDE-4, INIT-2 to INIT-4.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from gnomon.apps.declarative.journal_time import Back, JournalTime
from gnomon.apps.declarative.registration import Registration
from gnomon.apps.declarative.task import TaskRecord, TaskState, crashed, gone_back

__all__ = ["Fate", "classify", "resume", "set_back"]


class Fate(StrEnum):
    """What becomes of a task."""

    NEW = "new"
    PRESERVED = "preserved"
    OVERRIDDEN = "overridden"
    REMOVED = "removed"


def classify(
    registrations: Sequence[Registration], records: Mapping[str, TaskRecord]
) -> dict[str, Fate]:
    """The fate of every task in either."""
    fates = dict.fromkeys(records, Fate.REMOVED)
    for one in registrations:
        record = records.get(one.name)
        if record is None:
            fates[one.name] = Fate.NEW
        elif (record.cron, record.retry_ms) == (one.cron, one.retry_ms):
            fates[one.name] = Fate.PRESERVED
        else:
            fates[one.name] = Fate.OVERRIDDEN
    return fates


def set_back(
    registrations: Sequence[Registration], records: Mapping[str, TaskRecord],
    backs: Sequence[tuple[int, Back]],
) -> dict[str, TaskRecord]:  # fmt: skip
    """The records of tasks that go on and are others now that the clock was set back."""
    found = {}
    for one in registrations:
        record = records.get(one.name)
        if record is None or (record.cron, record.retry_ms) != (one.cron, one.retry_ms):
            continue
        for _, back in backs:
            record = gone_back(record, one.recurrence, back)
        if record != records[one.name]:
            found[one.name] = record
    return found


def resume(
    registrations: Sequence[Registration], records: Mapping[str, TaskRecord], *, now: JournalTime,
    identifier: str, running: Collection[str],
) -> dict[str, TaskRecord]:  # fmt: skip
    """
    The records of all registered tasks.

    `running` has the names of the runs that are going on in this process; any other run that the
    records speak of was cut off.
    """
    found = {}
    for one in registrations:
        former = records.get(one.name)
        same = former is not None and (former.cron, former.retry_ms) == (one.cron, one.retry_ms)
        record = former if same and former is not None else _anew(one, now)
        record = replace(record, identifier=identifier)
        if one.name in running:
            record = replace(record, state=TaskState.RUNNING)
        elif former is not None and (former.state is TaskState.RUNNING or former.interrupted):
            record = _owed_again(record, former, now)
        found[one.name] = record
    return found


def _anew(registration: Registration, now: JournalTime) -> TaskRecord:
    return TaskRecord(
        name=registration.name,
        cron=registration.cron,
        retry_ms=registration.retry_ms,
        identifier="",
        settled_ms=max(now.new_ms, 0),
    )


def _owed_again(record: TaskRecord, former: TaskRecord, now: JournalTime) -> TaskRecord:
    kept = replace(record, nominal=former.nominal, attempts=former.attempts)
    return crashed(kept, now=now)
