"""
Installing: how do the schedules of a ledger become exactly these?

What is not among them is deleted, with its history kept; what is new or different is saved; what
is to be suspended is paused, and what no longer is, is resumed. All of it is one transaction, so
that no turn sees a schedule between its definition and its suspension.

An installation that is told of the machine's boot makes the rows of a boot that the ledger has not
seen yet, one for each schedule that runs at boot, and notes the boot: with the schedules, so that a
worker that dies has made all rows of a boot or none. What comes after it in the same boot, another
start or another file, makes none.

Spec: LEDGER-23, LEDGER-41.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.ledger.period import Fact, boot_key
from gnomon.core.recurrence import Boot
from gnomon.core.schedule import Schedule
from gnomon.ports import Saved
from gnomon.shell.boot import MachineBoot
from gnomon.shell.store import definition
from gnomon.shell.store.commitment import insert_runs, new_row
from gnomon.shell.store.definition_cache import DefinitionCache, definition_text
from gnomon.shell.store.instant_text import from_text, to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.revision import passed_over

__all__ = ["BOOT", "SUSPENDED", "Installed", "install"]

SUSPENDED = "suspended"
"""The reason of a pause that belongs to the definition."""

BOOT = "boot"
"""The note that says which boot of the machine the ledger has seen last."""

_SQL = named("ledger.sql")


class Installed(NamedTuple):
    """What installing has changed."""

    saved: list[Saved]
    """Those that are new or different."""
    removed: list[str]
    suspended: list[str]
    resumed: list[str]
    booted: list[str]
    """Those that run because of a boot that was not seen before."""


class _Present(NamedTuple):
    """A schedule that is there."""

    pause: str
    """Why it is paused until further notice; empty when it is not."""
    revision: int
    effective_at: str
    definition: str


def install(
    connection: sqlite3.Connection, cache: DefinitionCache, schedules: Sequence[Schedule], *,
    suspended: Collection[str], now_ms: int, after_ms: int = 0, boot: MachineBoot | None = None,
) -> Installed:  # fmt: skip
    """
    Make these all the schedules there are; a new one owes nothing that opened by `after_ms`.

    Only who starts says which boot it is; without it nothing runs because of one.
    """
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
    booted = [] if boot is None else _see_boot(connection, schedules, boot, now_ms, after_ms)
    return Installed(saved, removed, to_suspend, to_resume, booted)


def _see_boot(
    connection: sqlite3.Connection,
    schedules: Sequence[Schedule],
    boot: MachineBoot,
    now_ms: int,
    after_ms: int,
) -> list[str]:
    """Make the rows of a boot that is new to the ledger; which schedules have one now."""
    seen = connection.execute(_SQL["get_meta"], {"name": BOOT}).fetchone()
    if seen is not None and seen[0] == boot.boot_id:
        return []
    connection.execute(_SQL["set_meta"], {"name": BOOT, "value": boot.boot_id})
    if seen is None and boot.at * 1000 <= after_ms:
        return []  # the ledger that was lost may have seen it
    names = [one.schedule_id for one in schedules if isinstance(one.recurrence, Boot)]
    now = to_text(now_ms)
    for name in names:
        # Its chosen instant is this one: the deadline counts from when a worker could first know.
        fact = Fact(boot_key(name, boot.boot_id), boot.at, now_ms, State.PLANNED, is_new=True)
        (revision, *_) = connection.execute(_SQL["asked_head"], {"id": name}).fetchone()
        insert_runs(connection, [new_row(fact, name, revision, now)])
        connection.execute(_SQL["wake"], {"id": name, "at": now, "now": now})
    return names


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
