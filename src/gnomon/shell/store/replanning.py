"""
A clock that was ahead has had periods judged that lie ahead. How are they planned again?

When the clock of a machine is ahead, for a moment only, whatever opens in between is judged by it:
missed, or skipped, and then nothing of it runs when its time really comes. An outcome is permanent,
and no clock that is set back takes it back. A person may: what was not started, and whose chosen
instant lies ahead, gets its place as a period that waits. What was started stays as it is, so that
nothing runs twice.

Spec: LEDGER-37, KROND-38.
"""

import sqlite3
from collections.abc import Iterator
from itertools import groupby, takewhile
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Outcome, Reason, State
from gnomon.core.ledger.period import Fact, period_key, range_key
from gnomon.core.schedule import Schedule
from gnomon.shell.store.commitment import insert_runs, new_row
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import from_text, to_text
from gnomon.shell.store.queries import named

__all__ = ["PLANNED_MAX", "Replanned", "replan"]

PLANNED_MAX = 100_000
"""How many periods are planned again at a time, in all."""

_SQL = named("ledger.sql")
_MISJUDGED = frozenset({
    Reason.DEADLINE, Reason.OUTAGE, Reason.OVERLAP, Reason.CATCHUP_LIMIT, Reason.QUEUE_FULL,
    Reason.SUPERSEDED,
})  # fmt: skip
"""Why a period has not run that a worker had come to at the wrong time."""


class Replanned(NamedTuple):
    """What was planned again."""

    schedules: int
    periods: int
    is_all: bool
    """Whether nothing is left, because there was too much."""


class _Row(NamedTuple):
    """A period, or a range of them, that was not started."""

    key: str
    nominal: int
    last_nominal: int
    outcome: Outcome
    reason: Reason


def replan(connection: sqlite3.Connection, cache: DefinitionCache, *, now_ms: int) -> Replanned:
    """Plan again what lies ahead and was judged all the same."""
    schedules = periods = 0
    is_all = True
    for schedule_id, revision in connection.execute(_SQL["newest_revisions"]).fetchall():
        schedule = cache.get(connection, schedule_id, revision)
        room = PLANNED_MAX - periods
        found, whole = _replan_one(connection, schedule, revision, now_ms, room)
        schedules, periods, is_all = schedules + bool(found), periods + found, is_all and whole
    return Replanned(schedules, periods, is_all)


def _replan_one(
    connection: sqlite3.Connection, schedule: Schedule, revision: int, now_ms: int, room: int
) -> tuple[int, bool]:
    """How many periods of a schedule were planned again, and whether that is all of them."""
    planned, whole, now = 0, True, to_text(now_ms)
    for row in _misjudged(connection, schedule, revision, now_ms):
        facts: list[Fact] = []
        before = planned
        for is_ahead, group in groupby(
            _nominals(schedule, row), lambda one: _is_ahead(schedule, one, now_ms)
        ):
            nominals = list(group)
            taken = nominals[: room - planned] if is_ahead else []
            left = nominals[len(taken) :]
            planned, whole = planned + len(taken), whole and not (is_ahead and left)
            facts += [_again(schedule, nominal) for nominal in taken]
            if left:
                facts.append(_kept(schedule, row, left))
        if planned > before:
            connection.execute(_SQL["remove_key"], (row.key,))
            insert_runs(
                connection, [new_row(one, schedule.schedule_id, revision, now) for one in facts]
            )
    if planned:
        connection.execute(_SQL["look_at_once"], {"id": schedule.schedule_id, "now": now})
    return planned, whole


def _misjudged(
    connection: sqlite3.Connection, schedule: Schedule, revision: int, now_ms: int
) -> Iterator[_Row]:
    """The rows of the definition in force that hold such a period."""
    after_ms = (now_ms - schedule.tail_ms) // 1000 * 1000 - 1000
    values = {"id": schedule.schedule_id, "revision": revision, "after": to_text(after_ms)}
    found = connection.execute(_SQL["not_started_after"], values).fetchall()
    for key, run_at, last_at, outcome, reason in found:
        nominal = from_text(run_at) // 1000
        last = nominal if last_at is None else from_text(last_at) // 1000
        row = _Row(key, nominal, last, Outcome(outcome), Reason(reason))
        nominals = _nominals(schedule, row)
        if row.reason in _MISJUDGED and any(_is_ahead(schedule, one, now_ms) for one in nominals):
            yield row


def _nominals(schedule: Schedule, row: _Row) -> Iterator[int]:
    found = schedule.recurrence.iterate_epochs(row.nominal - 1)
    return takewhile(row.last_nominal.__ge__, found)


def _is_ahead(schedule: Schedule, nominal: int, now_ms: int) -> bool:
    chosen_ms = schedule.chosen_ms(nominal)
    return chosen_ms is not None and chosen_ms >= now_ms


def _again(schedule: Schedule, nominal: int) -> Fact:
    chosen_ms = schedule.chosen_ms(nominal)
    assert chosen_ms is not None
    key = period_key(schedule.schedule_id, nominal)
    return Fact(key, nominal, chosen_ms, State.PLANNED, is_new=True)


def _kept(schedule: Schedule, row: _Row, nominals: list[int]) -> Fact:
    """What stays as it was, as a range also where it is one period of a former range."""
    first, last = nominals[0], nominals[-1]
    return Fact(
        range_key(schedule.schedule_id, first), first, first * 1000, State.DONE, row.outcome,
        row.reason, is_new=True, last_nominal=last, periods=len(nominals),
    )  # fmt: skip
