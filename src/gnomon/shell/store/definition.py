"""
Definitions: saved, paused, resumed, deleted.

A definition that equals the stored one changes nothing. Any other is a new revision, and nothing
that was nominal before it is owed: periods of the former definition that nobody had come to are
recorded as skipped, in one range with the reason `withdrawn`. The cursor never goes back; periods
of the new definition that it has passed are withdrawn too, so that none is without a row. Deleting
keeps the history, settles what still waits, and leaves runs in flight to end.

Spec: LEDGER-13 to LEDGER-17.
"""

import json
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice, pairwise, takewhile

from gnomon.core.engine import USUAL
from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, range_key
from gnomon.core.recurrence import Recurrence
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import write_schedule
from gnomon.errors import StoreError
from gnomon.ports import Saved
from gnomon.shell.store.commitment import insert_runs, new_row
from gnomon.shell.store.definition_cache import DefinitionCache, definition_text
from gnomon.shell.store.instant_text import from_text, maybe_to_text, to_text
from gnomon.shell.store.queries import named

__all__ = ["delete", "pause", "resume", "save"]

_SQL = named("ledger.sql")
_MS = timedelta(milliseconds=1)

_Head = tuple[int, int, str, str | None, int, str | None, str | None]
"""Revision, version, cursor, wake, paused, paused until, deleted."""


def save(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule: Schedule, *, now_ms: int
) -> Saved:
    schedule_id, recurrence = schedule.schedule_id, schedule.recurrence
    text, now = definition_text(schedule), to_text(now_ms)
    head: _Head | None = connection.execute(_SQL["head"], {"id": schedule_id}).fetchone()
    before = (now_ms - 1) // 1000
    cursor = recurrence.latest_epoch(before)
    revision, former = 1, None
    if head is not None:
        stored = from_text(head[2]) // 1000
        former = _former(connection, cache, schedule_id, head)
        if former == schedule and head[6] is None:
            following = recurrence.next_epoch(stored)
            return Saved(schedule_id, head[0], changed=False, next_nominal=following)
        if former is not None and head[6] is None:
            stored = _pass_owed(connection, former, head[0], stored, before, Reason.WITHDRAWN, now)
        revision = head[0] + 1
        cursor = stored if cursor is None else max(stored, cursor)
        _withdraw_opened(connection, schedule, revision, before, stored, now)
    elif cursor is None:
        cursor = before
    following = recurrence.next_epoch(cursor)
    values = _columns(schedule) | {
        "id": schedule_id, "now": now, "revision": revision, "cursor": to_text(cursor * 1000),
        "next": None if following is None else to_text(following * 1000),
        "wake": _wake(connection, schedule, following, head, now),
    }  # fmt: skip
    connection.execute(_SQL["insert_schedule" if head is None else "change_schedule"], values)
    connection.execute(_SQL["insert_revision"], (schedule_id, revision, now, text))
    return Saved(schedule_id, revision, changed=True, next_nominal=following)


def pause(
    connection: sqlite3.Connection, schedule_id: str, *, until_ms: int | None, reason: str,
    now_ms: int,
) -> bool:  # fmt: skip
    values = {
        "id": schedule_id, "until": maybe_to_text(until_ms), "reason": reason,
        "now": to_text(now_ms),
    }  # fmt: skip
    return connection.execute(_SQL["pause"], values).rowcount > 0


def resume(connection: sqlite3.Connection, schedule_id: str, *, now_ms: int) -> bool:
    """The pause ends now; the next turn says what becomes of the periods that fell into it."""
    head: _Head | None = connection.execute(_SQL["head"], {"id": schedule_id}).fetchone()
    if head is None or head[6] is not None:
        return False
    connection.execute(_SQL["resume"], {"id": schedule_id, "now": to_text(now_ms)})
    return True


def delete(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule_id: str, *, now_ms: int
) -> bool:
    head: _Head | None = connection.execute(_SQL["head"], {"id": schedule_id}).fetchone()
    if head is None or head[6] is not None:
        return False
    now, cursor = to_text(now_ms), from_text(head[2]) // 1000
    former = _former(connection, cache, schedule_id, head)
    if former is not None:
        cursor = _pass_owed(
            connection, former, head[0], cursor, now_ms // 1000, Reason.DELETED, now
        )
    connection.execute(_SQL["delete_waiting"], {"id": schedule_id, "now": now})
    values = {"id": schedule_id, "now": now, "cursor": to_text(cursor * 1000)}
    connection.execute(_SQL["delete_schedule"], values)
    return True


def _former(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule_id: str, head: _Head
) -> Schedule | None:
    """The stored definition; None when it cannot be read, which must not keep it from going."""
    try:
        return cache.get(connection, schedule_id, head[0])
    except StoreError:
        return None


def _pass_owed(
    connection: sqlite3.Connection, schedule: Schedule, revision: int, cursor: int, until: int,
    reason: Reason, now: str,
) -> int:  # fmt: skip
    """Record what nobody had come to as skipped; return the cursor after it."""
    nominals = _nominals(schedule.recurrence, cursor, until)
    ranges = list(_ranges(nominals))
    _skip(connection, schedule.schedule_id, revision, ranges, reason, now)
    return ranges[-1][1] if ranges else cursor


def _withdraw_opened(
    connection: sqlite3.Connection, schedule: Schedule, revision: int, after: int, cursor: int,
    now: str,
) -> None:  # fmt: skip
    """
    Record the periods of a new definition that the cursor has passed already.

    That happens where the former definition opened its windows ahead. Its periods keep their rows.
    """
    if cursor <= after:
        return
    schedule_id = schedule.schedule_id
    values = {"id": schedule_id, "after": to_text(after * 1000)}
    rows = connection.execute(_SQL["covered"], values).fetchall()
    # Only what was opened ahead; where the clock was set back since, most of it was not.
    opened = [from_text(row[2]) // 1000 for row in rows if from_text(row[1]) == cursor * 1000]
    after = max([after, *opened]) if opened else cursor
    covered = sorted((from_text(row[0]) // 1000, from_text(row[1]) // 1000) for row in rows)
    for free, until in pairwise([(after, after), *covered, (cursor + 1, cursor + 1)]):
        nominals = _nominals(schedule.recurrence, max(free[1], after), until[0] - 1)
        ranges = list(_ranges(nominals))
        _skip(connection, schedule_id, revision, ranges, Reason.WITHDRAWN, now)


def _skip(
    connection: sqlite3.Connection, schedule_id: str, revision: int,
    ranges: Iterable[tuple[int, int, int]], reason: Reason, now: str,
) -> None:  # fmt: skip
    facts = [
        Fact(
            range_key(schedule_id, first), first, first * 1000, State.DONE, Outcome.SKIPPED,
            reason, is_new=True, last_nominal=last, periods=count,
        )
        for first, last, count in ranges
    ]  # fmt: skip
    insert_runs(connection, [new_row(fact, schedule_id, revision, now) for fact in facts])


def _nominals(recurrence: Recurrence, after: int, until: int) -> Iterator[int]:
    return takewhile(until.__ge__, recurrence.iterate_epochs(after))


def _ranges(nominals: Iterator[int]) -> Iterator[tuple[int, int, int]]:
    """First, last and number of these, a bounded number in each."""
    for first in nominals:
        numbered = deque(enumerate(islice(nominals, USUAL.count_max - 1), 2), maxlen=1)
        count, last = numbered[0] if numbered else (1, first)
        yield first, last, count


def _wake(
    connection: sqlite3.Connection, schedule: Schedule, following: int | None, head: _Head | None,
    now: str,
) -> str | None:  # fmt: skip
    """When to look at a schedule that was saved: at once if it has something that waits."""
    if head is not None and head[4]:
        return head[5]
    if head is not None:
        (waits,) = connection.execute(_SQL["has_waiting"], {"id": schedule.schedule_id}).fetchone()
        if waits:
            return now
    return None if following is None else to_text(max(0, following * 1000 - schedule.lead_ms))


def _columns(schedule: Schedule) -> dict[str, str | int | None]:
    """The columns that readers of the table know; the definition itself is the revision's."""
    record = write_schedule(schedule)
    target = json.loads(schedule.target) if schedule.target.startswith("{") else {}
    workflow_id, version, user_id = (
        target.get(key) for key in ("workflow_id", "version", "user_id")
    )
    return {
        "workflow_id": workflow_id if isinstance(workflow_id, str) else None,
        "version": version if type(version) is int else None,
        "user_id": user_id if isinstance(user_id, str) else None,
        "cron_expr": _text(record.get("cron_expr")),
        "timezone": schedule.decider.zone,
        "start_at": _instant(record.get("start_at")),
        "end_at": _instant(record.get("end_at")),
        "jitter_ms": schedule.jitter_ms,
        "overlap": schedule.policy.overlap.value,
        "catchup": schedule.policy.catchup.value,
        "lease_ms": schedule.policy.lease // _MS,
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _instant(value: object) -> str | None:
    """`2026-03-01T00:00:00Z` in the width of all instants on disk."""
    return f"{value[:-1]}.000Z" if isinstance(value, str) else None
