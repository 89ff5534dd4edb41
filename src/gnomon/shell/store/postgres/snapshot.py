"""
What is due: the schedules to look at, each with its open periods, by one statement.

One statement is one view. What an idle look costs does not depend on what is stored: two indexes
are asked for their first entries. When commits have been lost to other workers, the look passes
over the schedules that somebody is just committing, so that workers take different ones.

Spec: LEDGER-5, LEDGER-8, PG-2, PG-5.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import asyncpg

from gnomon.core.engine import Due, Lost, Pause
from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import InFlight, Waiting
from gnomon.core.schedule import Schedule

__all__ = ["Look", "in_flight_of", "lock_version_of", "look_at", "version_of"]

_IN_FLIGHT_BITS = 20
_IN_FLIGHT = {"claimed": State.CLAIMED, "running": State.RUNNING}


class _Head(NamedTuple):
    schedule_id: str
    revision: int
    lock_version: int
    cursor_ms: int
    paused: bool
    paused_until_ms: int | None


def version_of(lock_version: int, in_flight: int) -> int:
    """
    What a plan is made from: the version of the row, and how many runs were in flight.

    As long as the row has its version nothing is claimed, so that this number can only fall; and
    whatever a report says that could change a plan makes it fall.
    """
    return (lock_version << _IN_FLIGHT_BITS) + in_flight


def lock_version_of(version: int) -> int:
    return version >> _IN_FLIGHT_BITS


def in_flight_of(version: int) -> int:
    return version & (1 << _IN_FLIGHT_BITS) - 1


class _Open:
    """The open periods of one schedule."""

    __slots__ = ("in_flight", "lost", "waiting")

    def __init__(self) -> None:
        self.waiting: list[Waiting] = []
        self.in_flight: list[InFlight] = []
        self.lost: list[Lost] = []


class Look(NamedTuple):
    """What one look has found, before definitions are known."""

    lease_now_ms: int
    """The instant that counted for leases."""
    heads: list[_Head]
    periods: dict[str, _Open]
    buried: list[str]
    """Deleted schedules with lost runs, which are nobody's to plan."""

    def revisions(self) -> Iterable[tuple[str, int]]:
        return ((head.schedule_id, head.revision) for head in self.heads)

    def dues(self, schedules: dict[str, Schedule]) -> list[Due]:
        """What is due; a schedule that is gone meanwhile is left out."""
        nothing = _Open()
        found = []
        for head in self.heads:
            schedule = schedules.get(head.schedule_id)
            if schedule is None:
                continue
            periods = self.periods.get(head.schedule_id, nothing)
            pause = Pause(head.paused_until_ms) if head.paused else None
            in_flight = len(periods.in_flight) + len(periods.lost)
            version = version_of(head.lock_version, in_flight)
            found.append(
                Due(
                    schedule, version, head.cursor_ms // 1000, pause, periods.waiting,
                    periods.in_flight, periods.lost,
                )
            )  # fmt: skip
        return found


def look_at(rows: Sequence[asyncpg.Record]) -> Look:
    """Put together what the statement `load` gave: a row for each open period, at least one."""
    look = Look(rows[0][0], [], {}, [])
    last = None
    for row in rows:
        schedule_id, deleted, key = row[1], row[7], row[8]
        if schedule_id is None:
            continue
        if schedule_id != last:
            last = schedule_id
            if deleted:
                look.buried.append(schedule_id)
            else:
                look.heads.append(_Head(*row[1:7]))
        if key is not None and not deleted:
            periods = look.periods.get(schedule_id)
            if periods is None:
                periods = look.periods[schedule_id] = _Open()
            _add(periods, row[8:])
    return look


def _add(periods: _Open, values: tuple[object, ...]) -> None:
    key, run_ms, fire_ms, state, fence, launches, is_lost, confirmed = values
    assert isinstance(key, str)
    assert isinstance(run_ms, int)
    assert isinstance(fire_ms, int)
    assert isinstance(fence, int)
    assert isinstance(launches, int)
    nominal, running = run_ms // 1000, _IN_FLIGHT.get(str(state))
    if running is None:
        periods.waiting.append(Waiting(key, nominal, fire_ms, state == "queued", launches))
        return
    run = InFlight(key, nominal, fire_ms, running, fence, launches)
    if is_lost:
        periods.lost.append(Lost(run, bool(confirmed) and running is State.CLAIMED))
    else:
        periods.in_flight.append(run)
