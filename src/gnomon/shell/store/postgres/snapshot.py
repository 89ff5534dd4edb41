"""
What is due: the schedules to look at, each with its open periods, by one statement.

One statement is one view. What an idle look costs does not depend on what is stored: two indexes
are asked for their first entries.

Spec: LEDGER-5, LEDGER-8, PG-5.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import asyncpg

from gnomon.core.engine import Due, Pause
from gnomon.shell.store.asking import read_skips
from gnomon.shell.store.definition_cache import Definition
from gnomon.shell.store.open_periods import OpenPeriods

__all__ = ["Look", "look_at"]


_Head = tuple[str, int, int, int, bool, int | None, str, bool]
"""A schedule's id, revision, version, cursor, whether and until when it is paused, its skips, and
whether it was deleted."""

_new = tuple.__new__  # a named tuple in half the time that its own constructor takes


class Look(NamedTuple):
    """What one look has found, before definitions are known."""

    lease_now_ms: int
    """The instant that counted for leases."""
    heads: list[_Head]
    periods: dict[str, OpenPeriods]

    def revisions(self) -> Iterable[tuple[str, int]]:
        return [(head[0], head[1]) for head in self.heads]

    def dues(self, definitions: dict[str, Definition]) -> list[Due]:
        """What is due; a schedule whose definition is missing is left out."""
        nothing, opened = OpenPeriods(), self.periods
        found = list[Due]()
        for schedule_id, _, version, cursor_ms, paused, paused_until_ms, skips, gone in self.heads:
            definition = definitions.get(schedule_id)
            if definition is None:
                continue
            revision, schedule, effective_ms = definition
            periods = opened.get(schedule_id, nothing) if opened else nothing
            cursor = cursor_ms // 1000
            values = (
                schedule, version, cursor, Pause(paused_until_ms) if paused else None,
                periods.waiting, periods.in_flight, periods.lost, effective_ms, revision,
                read_skips(skips, cursor) if skips else (), gone,
            )  # fmt: skip
            found.append(_new(Due, values))
        return found


def look_at(rows: Sequence[asyncpg.Record]) -> Look:
    """Put together what the statement `load` gave: a row for each open period, at least one."""
    look = Look(rows[0][0], [], {})
    for row in rows:
        schedule_id, key = row[1], row[9]
        if schedule_id is None:
            continue
        periods = None if key is None else look.periods.get(schedule_id)
        if periods is None:  # the first row of its schedule
            look.heads.append(row[1:9])
            if key is None:
                continue
            periods = look.periods[schedule_id] = OpenPeriods()
        run_ms, fire_ms, state, fence, launches, is_lost, *words = row[10:]
        confirmed, detached, kill_ms, may_have_run, chosen_ms, has_failed = words
        periods.add(
            key, run_ms // 1000, fire_ms, state, fence, launches,
            is_lost=bool(is_lost), confirmed=confirmed, detached=detached, kill_ms=kill_ms,
            may_have_run=may_have_run, chosen_ms=chosen_ms, has_failed=has_failed,
        )  # fmt: skip
    return look
