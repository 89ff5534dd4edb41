"""
What saving or deleting a definition comes to, whatever the store.

A definition that equals the stored one changes nothing. Of a new schedule nothing is owed that was
nominal before it, but for the periods of windows that are open and whose chosen instant is ahead.
Any other definition is a new revision, and nothing nominal before it is owed: periods of the former
definition that no worker had come to are recorded as skipped, in ranges. The cursor never goes
back; periods of the new definition that it has passed are withdrawn too, so that each has a row.

Spec: LEDGER-13, LEDGER-16, LEDGER-26.
"""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from gnomon.core.civil.instant import parse_instant, to_epoch
from gnomon.core.engine import USUAL
from gnomon.core.engine.opening import was_before
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, range_key
from gnomon.core.recurrence import Recurrence
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import Record, write_schedule

__all__ = [
    "FORGOTTEN_REVISION",
    "Columns",
    "Head",
    "Revised",
    "columns_of",
    "passed_over",
    "revise",
]

FORGOTTEN_REVISION = "forgotten_revision"
"""Under this name a store has the highest revision that retention has removed."""

_MS = timedelta(milliseconds=1)


class Head(NamedTuple):
    """What a store has of a schedule that is to be saved or deleted."""

    revision: int
    cursor: int
    is_paused: bool
    paused_until_ms: int | None
    is_deleted: bool
    has_waiting: bool
    covered: Sequence[tuple[int, int, int]] = ()
    """First, last and day of making of the rows that reach beyond now, where `reaches_ahead`."""

    def reaches_ahead(self, now_ms: int) -> bool:
        """Whether periods are past that lie ahead, as with windows that open before them."""
        return self.cursor > (now_ms - 1) // 1000


class Revised(NamedTuple):
    """A schedule as it is to be written."""

    revision: int
    cursor: int
    following: int | None
    """The next nominal instant."""
    wake_ms: int | None
    passed: list[tuple[Fact, int]]
    """What is recorded as withdrawn, with the revision that it belongs to."""


class Columns(NamedTuple):
    """The columns that readers of the table know; the definition itself is the revision's."""

    workflow_id: str | None
    version: int | None
    user_id: str | None
    cron_expr: str | None
    timezone: str
    start_ms: int | None
    end_ms: int | None
    jitter_ms: int
    overlap: str
    catchup: str
    lease_ms: int


def revise(
    schedule: Schedule, head: Head | None, former: Schedule | None, *, now_ms: int,
    forgotten: int = 0, after_ms: int = 0,
) -> Revised | None:  # fmt: skip
    """
    What saving comes to; None when an equal definition is there already.

    `forgotten` is the highest revision of all that retention has removed: a process that has read
    one of those must not take it for the definition that follows under the same name. Of a new
    schedule nothing is owed that had opened by `after_ms`.
    """
    recurrence = schedule.recurrence
    before = (now_ms - 1) // 1000
    cursor = recurrence.latest_epoch(before)
    passed: list[tuple[Fact, int]] = []
    revision = 1 + (forgotten if head is None else head.revision)
    if head is None:
        cursor = _before_open(schedule, before if cursor is None else cursor, now_ms, after_ms)
    else:
        if former == schedule and not head.is_deleted:
            return None
        stored = head.cursor
        if former is not None and not head.is_deleted:
            stored, facts = passed_over(former, stored, before, Reason.WITHDRAWN)
            passed += [(fact, head.revision) for fact in facts]
        cursor = stored if cursor is None else max(stored, cursor)
        passed += [(fact, revision) for fact in _opened_ahead(schedule, head, before, stored)]
    following = recurrence.next_epoch(cursor)
    wake_ms = _wake_ms(schedule, following, head, now_ms)
    return Revised(revision, cursor, following, wake_ms, passed)


def _before_open(schedule: Schedule, cursor: int, now_ms: int, after_ms: int) -> int:
    """
    The cursor of a new schedule, before the first period that may run after all.

    That is one whose window is open, with its chosen instant ahead.
    """
    tail = (schedule.tail_ms - schedule.jitter_ms) // 1000
    if not tail:
        return cursor
    after = cursor - tail - 1
    if after_ms:
        after = max(after, (after_ms + schedule.lead_ms) // 1000)
    for nominal in _nominals(schedule.recurrence, after, cursor):
        if not was_before(schedule, nominal, schedule.chosen_ms(nominal), now_ms):
            return nominal - 1
    return cursor


def passed_over(
    schedule: Schedule, cursor: int, until: int, reason: Reason
) -> tuple[int, list[Fact]]:
    """The periods that no worker had come to, as skipped; and the cursor after them."""
    nominals = _nominals(schedule.recurrence, cursor, until)
    facts = _skipped(schedule.schedule_id, nominals, reason)
    return facts[-1].last_nominal if facts else cursor, facts


def columns_of(schedule: Schedule, record: Record | None = None) -> Columns:
    """The columns; a caller that has the record of the schedule already gives it."""
    record = write_schedule(schedule) if record is None else record
    target = json.loads(schedule.target) if schedule.target.startswith("{") else {}
    workflow_id, version, user_id = (
        target.get(key) for key in ("workflow_id", "version", "user_id")
    )
    return Columns(
        workflow_id=_text(workflow_id),
        version=version if type(version) is int else None,
        user_id=_text(user_id),
        cron_expr=_text(record.get("cron_expr")),
        timezone=schedule.decider.zone,
        start_ms=_instant_ms(record.get("start_at")),
        end_ms=_instant_ms(record.get("end_at")),
        jitter_ms=schedule.jitter_ms,
        overlap=schedule.policy.overlap.value,
        catchup=schedule.policy.catchup.value,
        lease_ms=schedule.policy.lease // _MS,
    )


def _opened_ahead(schedule: Schedule, head: Head, after: int, cursor: int) -> list[Fact]:
    """
    The periods of a new definition that the cursor has passed already.

    That happens where the former definition opened its windows ahead. Its periods keep their rows.
    """
    if cursor <= after:
        return []
    # Only what was opened ahead; where the clock was set back since, most of it was not.
    opened = [created for _, last, created in head.covered if last == cursor]
    after = max([after, *opened]) if opened else cursor
    covered = sorted((first, last) for first, last, _ in head.covered)
    facts: list[Fact] = []
    for free, until in pairwise([(after, after), *covered, (cursor + 1, cursor + 1)]):
        nominals = _nominals(schedule.recurrence, max(free[1], after), until[0] - 1)
        facts += _skipped(schedule.schedule_id, nominals, Reason.WITHDRAWN)
    return facts


def _skipped(schedule_id: str, nominals: Iterator[int], reason: Reason) -> list[Fact]:
    return [
        Fact(
            range_key(schedule_id, first), first, first * 1000, State.DONE, Outcome.SKIPPED,
            reason, is_new=True, last_nominal=last, periods=count,
        )
        for first, last, count in _ranges(nominals)
    ]  # fmt: skip


def _nominals(recurrence: Recurrence, after: int, until: int) -> Iterator[int]:
    return takewhile(until.__ge__, recurrence.iterate_epochs(after))


def _ranges(nominals: Iterator[int]) -> Iterator[tuple[int, int, int]]:
    """First, last and number of these, a bounded number in each."""
    for first in nominals:
        numbered = deque(enumerate(islice(nominals, USUAL.count_max - 1), 2), maxlen=1)
        count, last = numbered[0] if numbered else (1, first)
        yield first, last, count


def _wake_ms(
    schedule: Schedule, following: int | None, head: Head | None, now_ms: int
) -> int | None:
    """When to look at a schedule that was saved: at once if it has something that waits."""
    if head is not None and head.has_waiting:
        return now_ms
    if head is not None and head.is_paused:
        return head.paused_until_ms
    return None if following is None else max(0, following * 1000 - schedule.lead_ms)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _instant_ms(value: object) -> int | None:
    if not isinstance(value, str):
        return None
    return to_epoch(parse_instant(value, where="instant")) * 1000
