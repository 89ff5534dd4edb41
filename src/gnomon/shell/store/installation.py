"""
Installing: how do the schedules of a ledger become exactly these?

What is not among them is deleted, with its history kept; what is new or different is saved; what
is to be suspended is paused, and what no longer is, is resumed. All of it is one transaction, so
that no turn sees a schedule between its definition and its suspension.

Spec: LEDGER-22.
"""

import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from gnomon.core.schedule import Schedule
from gnomon.ports import Saved
from gnomon.shell.store import definition
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.queries import named

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


def install(
    connection: sqlite3.Connection, cache: DefinitionCache, schedules: Sequence[Schedule], *,
    suspended: Collection[str], now_ms: int,
) -> Installed:  # fmt: skip
    """Make these all the schedules there are."""
    present: dict[str, str] = dict(connection.execute(_SQL["present"]))
    wanted = {schedule.schedule_id for schedule in schedules}
    removed = [name for name in present if name not in wanted]
    for name in removed:
        definition.delete(connection, cache, name, now_ms=now_ms)
    saved = [definition.save(connection, cache, one, now_ms=now_ms) for one in schedules]
    held = {name for name in wanted if present.get(name) == SUSPENDED}
    to_suspend = [name for name in suspended if name not in held]
    to_resume = [name for name in held if name not in suspended]
    for name in to_suspend:
        definition.pause(connection, name, until_ms=None, reason=SUSPENDED, now_ms=now_ms)
    for name in to_resume:
        definition.resume(connection, name, now_ms=now_ms)
    return Installed([one for one in saved if one.changed], removed, to_suspend, to_resume)
