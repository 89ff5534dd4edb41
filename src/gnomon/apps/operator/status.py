"""
The status of a KronJob as a value: the truth about its periods.

A period is handled when it lies at or before the cursor and is not open, or when it is one of those
ahead. `opened` are periods whose window had opened under a timing that an edit has replaced,
`lapsed` those of them that became too late while the KronJob was suspended, and `ahead` those
handled whose nominal instant is after the cursor, or hardly past. `active` are the Jobs that were
claimed and have not ended; no limit on records forgets them.

Nothing here decides; what follows from what is in `periods` and `one_pass`.

Spec: OPERATOR-4, OPERATOR-5.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Outcome

__all__ = ["ACTIVE_MAX", "Active", "Condition", "ConditionKind", "Entry", "Kept", "Lapsed",
           "Opened", "Phase", "Range", "Record", "Result", "Status", "add_entries", "end_runs",
           "with_condition", "without_conditions"]  # fmt: skip

ACTIVE_MAX = 100


class ConditionKind(StrEnum):
    """The types of conditions; all but `Ready` are there only while they hold."""

    READY = "Ready"
    INVALID_SPEC = "InvalidSpec"
    SUSPENDED = "Suspended"
    CLOCK_SKEW = "ClockSkew"
    NAME_TAKEN = "NameTaken"
    STATUS_REPAIRED = "StatusRepaired"
    LAUNCH_FAILING = "LaunchFailing"


class Phase(StrEnum):
    """Where the execution of a period is."""

    STARTING = "Starting"
    """Claimed: its Job is there and is released, or about to be."""
    COMPLETED = "Completed"


class Result(StrEnum):
    """How the Job of an executed period ended."""

    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    DELETED = "Deleted"
    """It was gone before its end was seen."""
    REPLACED = "Replaced"


class Record(NamedTuple):
    """What became of one period."""

    period: int
    outcome: Outcome
    at: int
    """When it was recorded."""
    reason: str = ""
    chosen: int | None = None
    seed_hash: str = ""
    job: str = ""
    uid: str = ""
    phase: str = ""
    result: str = ""
    ended: int | None = None


class Range(NamedTuple):
    """What became of several periods at once; a size of 0 stands for an unknown one."""

    first: int
    last: int
    size: int
    outcome: Outcome
    at: int
    reason: str


Entry = Record | Range


class Opened(NamedTuple):
    """A period that keeps the instant that an older timing chose for it."""

    period: int
    chosen: int | None
    """None when that timing allowed no instant."""
    seed_hash: str


class Lapsed(NamedTuple):
    """Periods too late when an edit was taken up during a suspension; missed when it ends."""

    first: int
    last: int
    size: int


class Active(NamedTuple):
    """A Job that was claimed and has not ended."""

    job: str
    uid: str
    period: int
    void: bool = False
    """It was found by a repair, unreleased: it must not run, and is not an execution."""


class Condition(NamedTuple):
    """Something that holds now."""

    kind: str
    reason: str
    message: str
    since: int
    holds: bool = True


class Kept(NamedTuple):
    """The newest record of each outcome, however few records are kept."""

    executed: Entry | None = None
    missed: Entry | None = None
    skipped: Entry | None = None
    unschedulable: Entry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Everything that is known about the periods of one KronJob."""

    generation: int
    """The newest generation of the spec that was taken up."""
    revision: int
    """Of the timing; each that comes into force has a greater one."""
    since: int
    timing: Mapping[str, object]
    cursor: int
    opened: Sequence[Opened] = ()
    lapsed: Lapsed | None = None
    ahead: Sequence[int] = ()
    active: Sequence[Active] = ()
    recent: Sequence[Entry] = ()
    """The newest first."""
    kept: Kept = field(default_factory=Kept)
    totals: Mapping[str, int] = field(default_factory=dict)
    conditions: Sequence[Condition] = ()

    def is_handled(self, nominal: int) -> bool:
        if any(one.period == nominal for one in self.opened):
            return False
        return nominal <= self.cursor or nominal in self.ahead

    def has(self, kind: ConditionKind) -> bool:
        return any(one.kind == kind and one.holds for one in self.conditions)


def add_entries(status: Status, entries: Sequence[Entry], *, records_max: int) -> Status:
    """The status with what became of periods, oldest first."""
    recent, kept, totals = list(status.recent), status.kept, dict(status.totals)
    for one in entries:
        outcome, count = one.outcome.value, one.size if isinstance(one, Range) else 1
        totals[outcome] = totals.get(outcome, 0) + count
        if isinstance(one, Range) and recent and isinstance(recent[0], Range):
            one = _joined(recent[0], one)
            if one.first == recent[0].first:
                del recent[0]
        recent.insert(0, one)
        kept = kept._replace(**{outcome: one})
    return replace(status, recent=tuple(recent[:records_max]), kept=kept, totals=totals)


def end_runs(status: Status, ends: Mapping[str, tuple[Result, str, int]]) -> Status:
    """The status with the results of Jobs by uid; they are active no more."""
    return replace(
        status,
        active=tuple(one for one in status.active if one.uid not in ends),
        recent=tuple(_ended(one, ends) for one in status.recent),
        kept=status.kept._replace(
            executed=None if status.kept.executed is None else _ended(status.kept.executed, ends)
        ),
    )


def with_condition(
    status: Status, kind: ConditionKind, now: int, *, reason: str, message: str, holds: bool = True
) -> Status:
    """The status with a condition; its time moves when it begins to hold, or not to."""
    others = [one for one in status.conditions if one.kind != kind]
    old = next((one for one in status.conditions if one.kind == kind), None)
    since = old.since if old is not None and old.holds == holds else now
    new = Condition(kind.value, reason, message, since, holds)
    return status if new == old else replace(status, conditions=(*others, new))


def without_conditions(status: Status, *kinds: ConditionKind) -> Status:
    others = tuple(one for one in status.conditions if one.kind not in kinds)
    return replace(status, conditions=others)


def _ended(one: Entry, ends: Mapping[str, tuple[Result, str, int]]) -> Entry:
    if not isinstance(one, Record) or one.uid not in ends or one.phase == Phase.COMPLETED:
        return one
    result, reason, at = ends[one.uid]
    return one._replace(phase=Phase.COMPLETED.value, result=result.value, reason=reason, ended=at)


def _joined(older: Range, newer: Range) -> Range:
    """One range of two that tell the same, one after the other."""
    same = (older.outcome, older.reason) == (newer.outcome, newer.reason)
    if not same or not older.size or newer.first <= older.last:
        return newer
    return newer._replace(first=older.first, size=older.size + newer.size)
