"""
Has everything begun and ended in time? When not, a worker says so, even if nothing began.

A run must have begun within `start_by` of its planned instant, and have ended well within
`finish_by`. When to look stands in the ledger, so that it survives the worker that was to look. A
breach is noted once, and the worker that noted it tells of it. What was left out on purpose is no
breach: what fell into a pause, was skipped or ended on request, or was withdrawn.

After an outage the newest hundred periods are judged; the older ones are in the ledger anyway.

Spec: SERVICE-20, SERVICE-21, SERVICE-66.
"""

import logging
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from gnomon.apps.service.log import ServiceLog
from gnomon.apps.service.schedule_input import target_of
from gnomon.core.ledger.lifecycle import Reason, Status
from gnomon.core.ledger.period import Kind, period_key
from gnomon.errors import StoreError
from gnomon.ports import Breach, Clock, Expected, Judged, Ledger, RunRow, ScheduleRow
from gnomon.shell.observe.log import log

__all__ = ["FINISH_BY", "START_BY", "Expectations", "is_met"]

START_BY, FINISH_BY = "start_by", "finish_by"
LOOK_MAX = 100
"""How many schedules are looked at in one go, and how many periods of each."""
_ON_PURPOSE = frozenset(
    {Reason.PAUSED, Reason.REQUESTED, Reason.WITHDRAWN, Reason.DELETED, Reason.KILLED}
)


class _Owed(NamedTuple):
    """One thing that is expected of one period, and by when."""

    nominal: int
    expectation: str
    by_ms: int


class Expectations:
    """Looks at what is expected, whenever it is time."""

    def __init__(self, ledger: Ledger, clock: Clock, log: ServiceLog, *, tick_ms: int) -> None:
        self._ledger, self._clock, self._log = ledger, clock, log
        self._tick_ms = tick_ms

    async def work(self) -> None:
        """Look each tick, until cancelled; an outage is a line in the log, and its end another."""
        failures = 0
        while True:
            try:
                await self.look()
                if failures:
                    log(logging.INFO, "expectations are looked at again", failures=failures)
                failures = 0
            except StoreError as error:
                failures += 1
                if failures == 1:
                    log(logging.WARNING, "expectations could not be looked at", error=str(error))
            await self._clock.sleep_ms(self._tick_ms)

    async def look(self) -> None:
        """Judge what is to be judged by now."""
        now_ms = self._clock.now_ms()
        for one in await self._ledger.expected(now_ms=now_ms, limit=LOOK_MAX):
            row = await self._ledger.get(one.schedule_id)
            judged = Judged(one.after, None)
            if row is not None:
                judged = await self._judged(row, one, now_ms)
            for breach in await self._ledger.judge(one, judged, now_ms=now_ms):
                if row is not None:
                    key = period_key(one.schedule_id, breach.nominal)
                    self._log.breached(row.schedule, key, breach.nominal, breach.expectation)

    async def _judged(self, row: ScheduleRow, one: Expected, now_ms: int) -> Judged:
        lengths = _lengths(row)
        if not lengths:
            return Judged(one.after, None)
        after, breaches = one.after, list[Breach]()
        last_ms = max(lengths.values())
        for nominal in _overdue(row, one.after, now_ms - min(lengths.values())):
            run = await self._run(row, nominal)
            for expectation, length_ms in lengths.items():
                owed = _Owed(nominal, expectation, nominal * 1000 + length_ms)
                if owed.by_ms > now_ms or _is_on_purpose(row, run, now_ms):
                    continue
                if not is_met(run, expectation, by_ms=owed.by_ms):
                    breaches.append(Breach(nominal, expectation))
            if nominal * 1000 + last_ms <= now_ms:
                after = nominal
        return Judged(after, _next_check_ms(row, after, lengths, now_ms), tuple(breaches))

    async def _run(self, row: ScheduleRow, nominal: int) -> RunRow | None:
        rows = await self._ledger.covering(row.schedule.schedule_id, nominal)
        kinds = (Kind.PERIOD, Kind.RANGE)
        return next((run for run in rows if run.kind in kinds), None)


def is_met(run: RunRow | None, expectation: str, *, by_ms: int) -> bool:
    """Whether what is expected of a run has come true in time."""
    if run is None:
        return False
    if expectation == START_BY:
        began_ms = run.started_ms
        if began_ms is None and run.status in (Status.SUCCESS, Status.STARTED):
            began_ms = run.ended_ms  # one so short that no worker wrote down when it began
        return began_ms is not None and began_ms <= by_ms
    ended_ms = run.ended_ms
    return run.status is Status.SUCCESS and ended_ms is not None and ended_ms <= by_ms


def _lengths(row: ScheduleRow) -> dict[str, int]:
    target = target_of(row.schedule)
    given = {} if target is None else {
        START_BY: target.start_by_ms, FINISH_BY: target.finish_by_ms
    }  # fmt: skip
    return {name: length for name, length in given.items() if length is not None}


def _overdue(row: ScheduleRow, after: int, until_ms: int) -> Iterator[int]:
    """The newest of the periods that have something overdue, oldest first."""
    recurrence, until = row.schedule.recurrence, until_ms // 1000
    first = until + 1
    for _ in range(LOOK_MAX):
        earlier = recurrence.latest_epoch(first - 1)
        if earlier is None or earlier <= after:
            break
        first = earlier
    return takewhile(until.__ge__, recurrence.iterate_epochs(max(first - 1, after)))


def _next_check_ms(
    row: ScheduleRow, after: int, lengths: dict[str, int], now_ms: int
) -> int | None:
    """The first instant ahead at which something that is expected is overdue."""
    instants = []
    for length_ms in lengths.values():
        following = row.schedule.recurrence.next_epoch(max(after, (now_ms - length_ms) // 1000))
        if following is not None:
            instants.append(following * 1000 + length_ms)
    return min(instants, default=None)


def _is_on_purpose(row: ScheduleRow, run: RunRow | None, now_ms: int) -> bool:
    """Whether a caller wanted it not to run."""
    if run is None:
        return row.pause is not None and row.pause.lasts(now_ms)
    return run.reason in _ON_PURPOSE
