"""
Whose clock was ahead, and what that silences.

A ledger takes no outcome back, so when a clock was ahead, if only for a moment, what was judged
meanwhile is over, and nothing of it runs when its time comes. That is right, and it must not be
silent: the log says up to when nothing runs, and what can be done. A schedule whose next period
waits, because a person had it planned again, is not silent.

Spec: RUN-36.
"""

import asyncio
import logging
from typing import NamedTuple

from gnomon.core.civil.instant import format_instant
from gnomon.core.ledger.lifecycle import WAITING
from gnomon.core.recurrence import Boot
from gnomon.errors import StoreError
from gnomon.ports import Clock, Ledger, ScheduleRow
from gnomon.shell.observe.log import log

__all__ = ["Ahead", "ClockAhead", "handled_ahead", "look_ahead"]

_PAGE = 1_000
_NEAREST = 5
"""How many rows of a schedule that was handled ahead are asked whether they wait: the next period,
and those before it whose windows are open."""


class Ahead(NamedTuple):
    """How far schedules were handled beyond what the clock shows."""

    until: int
    """The nominal instant up to which the one that is furthest ahead was handled."""
    schedules: int


class ClockAhead:
    """Says that a clock was ahead: at the start, and whenever it is set back."""

    def __init__(self, ledger: Ledger, clock: Clock, *, hint: str) -> None:
        self._ledger, self._clock, self._hint = ledger, clock, hint
        self._is_set_back = asyncio.Event()

    def set_back(self) -> None:
        """The clock was set back just now."""
        self._is_set_back.set()

    async def work(self) -> None:
        """Look and say, for as long as this is not cancelled."""
        while True:
            await self._say()
            await self._is_set_back.wait()
            self._is_set_back.clear()

    async def _say(self) -> None:
        try:
            ahead = await look_ahead(self._ledger, self._clock.now_ms())
        except StoreError:
            return  # the runtime says so
        if ahead is not None:
            log(
                logging.WARNING, "the clock was ahead",
                message="what was handled does not run again",
                handled_up_to=format_instant(ahead.until), schedules=ahead.schedules,
                hint=self._hint,
            )  # fmt: skip


async def look_ahead(ledger: Ledger, now_ms: int) -> Ahead | None:
    """How far the schedules of a ledger were handled ahead of the clock; None when none was."""
    until, count, last = 0, 0, ""
    while page := await ledger.schedules(after=last, limit=_PAGE):
        last = page[-1].schedule.schedule_id
        for row in page:
            found = handled_ahead(row, now_ms)
            if found is not None and not await _waits(ledger, row, now_ms):
                until, count = max(until, found), count + 1
    return Ahead(until, count) if count else None


def handled_ahead(row: ScheduleRow, now_ms: int) -> int | None:
    """Up to which nominal instant a schedule was handled before its windows opened, if it was."""
    if isinstance(row.schedule.recurrence, Boot):
        return None  # a boot is told, and lies on no clock
    return row.cursor if row.cursor * 1000 - row.schedule.lead_ms > now_ms else None


async def _waits(ledger: Ledger, row: ScheduleRow, now_ms: int) -> bool:
    """Whether the next period was planned again."""
    following = row.schedule.recurrence.next_epoch(now_ms // 1000)
    if following is None:
        return False
    found = await ledger.runs(row.schedule.schedule_id, before=following + 1, limit=_NEAREST)
    return any(one.state in WAITING for one in found)
