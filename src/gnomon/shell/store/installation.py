"""
Installing: how do the schedules of a ledger become exactly these?

What is not among them is deleted, with its history kept; what is new or different is saved; what
is to be suspended is paused, and what no longer is, is resumed. All of it is one transaction, so
that no turn sees a schedule between its definition and its suspension.

Spec: LEDGER-23.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.schedule import Schedule
from gnomon.ports import Saved
from gnomon.shell.store import definition
from gnomon.shell.store.commitment import insert_runs, new_row
from gnomon.shell.store.definition_cache import DefinitionCache, definition_text
from gnomon.shell.store.instant_text import from_text, to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.revision import passed_over

__all__ = ["SUSPENDED", "Installed", "install"]

SUSPENDED = "suspended"
"""The reason of a pause that belongs to the definition."""

_SQL = named("ledger.sql")


class Installed(NamedTuple):
    """What installing has changed."""

    saved: list[Saved]
    """Those that are new or different."""
    removed: list[str]
    suspended: list[str]
    resumed: list[str]


class _Present(NamedTuple):
    """A schedule that is there."""

    pause: str
    """Why it is paused until further notice; empty when it is not."""
    revision: int
    effective_at: str
    definition: str


def install(
    connection: sqlite3.Connection, cache: DefinitionCache, schedules: Sequence[Schedule], *,
    suspended: Collection[str], now_ms: int, after_ms: int = 0,
) -> Installed:  # fmt: skip
    """Make these all the schedules there are; a new one owes nothing that opened by `after_ms`."""
    present = {row[0]: _Present(*row[1:]) for row in connection.execute(_SQL["present"])}
    wanted = {schedule.schedule_id for schedule in schedules}
    removed = [name for name in present if name not in wanted]
    for name in removed:
        definition.delete(connection, cache, name, now_ms=now_ms)
    saved = []
    for schedule in schedules:
        known = present.get(schedule.schedule_id)
        # Most have not changed, and to compare what is written is quicker than to read it.
        if known is not None and known.definition == definition_text(schedule):
            cache.keep(schedule, known.revision, from_text(known.effective_at))
            continue
        one = definition.save(connection, cache, schedule, now_ms=now_ms, after_ms=after_ms)
        if one.changed:
            saved.append(one)
            cache.keep(schedule, one.revision, now_ms)
        if known is None and after_ms and schedule.lead_ms:
            _forgo(connection, schedule, one.revision, after_ms, now_ms)
    held = {name for name in wanted if name in present and present[name].pause == SUSPENDED}
    to_suspend = [name for name in suspended if name not in held]
    to_resume = [name for name in held if name not in suspended]
    for name in to_suspend:
        definition.pause(connection, name, until_ms=None, reason=SUSPENDED, now_ms=now_ms)
    for name in to_resume:
        definition.resume(connection, name, now_ms=now_ms)
    return Installed(saved, removed, to_suspend, to_resume)


def _forgo(
    connection: sqlite3.Connection, schedule: Schedule, revision: int, after_ms: int, now_ms: int
) -> None:
    """Record as withdrawn what had opened ahead of its nominal instant by then."""
    until = (after_ms + schedule.lead_ms) // 1000
    before = schedule.recurrence.latest_epoch((now_ms - 1) // 1000) or 0
    cursor, facts = passed_over(schedule, before, until, Reason.WITHDRAWN)
    now = to_text(now_ms)
    insert_runs(connection, [new_row(fact, schedule.schedule_id, revision, now) for fact in facts])
    following = schedule.recurrence.next_epoch(cursor)
    values = {
        "id": schedule.schedule_id, "cursor": to_text(cursor * 1000),
        "next": None if following is None else to_text(following * 1000),
        "wake": None if following is None else to_text(following * 1000 - schedule.lead_ms),
    }  # fmt: skip
    if facts:
        connection.execute(_SQL["forgo"], values)
