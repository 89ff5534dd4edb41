"""
What launchers said: launched, failed, ended.

A report counts if it carries the row's fencing number and its step may be taken; else it comes from
a worker that has lost the run, and changes nothing. Reports are judged in order, so that a launch
and an end in one batch are both written. Each accepted report gives its schedule a new version, and
wakes it when periods wait in its queue.

Spec: LEDGER-7, LEDGER-9.
"""

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import assert_never

from gnomon.core.ledger.lifecycle import ENDS, Outcome, Reason, State, Status, Step, follow
from gnomon.core.policy.retry import retry_ms
from gnomon.core.schedule import Schedule
from gnomon.ports import Ended, Failed, Launched, Report
from gnomon.shell.store.commitment import Parameters
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.queries import named

__all__ = ["report", "touch"]

_SQL = named("ledger.sql")


def _table(step: Step) -> dict[str, str]:
    return {state.value: after.value for state in State if (after := follow(state, step))}


_START, _FINISH, _RETRY = _table(Step.START), _table(Step.FINISH), _table(Step.RETRY)
_EXECUTED = ENDS[Step.FINISH].value
_SUCCESS, _FAILED = Status.SUCCESS.value, Status.FAILED.value


class _Run:
    """A row as it stands while a batch is judged."""

    __slots__ = ("fence", "launches", "ran", "row", "schedule_id", "state")

    def __init__(
        self, row: int, schedule_id: str, state: str, fence: int, launches: int,
        outcome: str | None,
    ) -> None:  # fmt: skip
        self.row = row
        self.schedule_id = schedule_id
        self.state = state
        self.fence = fence
        self.launches = launches
        self.ran = outcome is not None
        """Whether it was executed before and is being started again: it cannot be unplanned."""


class _Batch:
    """The statements that a batch of reports comes to."""

    def __init__(self, now_ms: int, schedules: dict[str, Schedule | None]) -> None:
        self.now_ms = now_ms
        self.now = to_text(now_ms)
        self.schedules = schedules
        self.starts: dict[int, Parameters] = {}
        self.throughs: list[Parameters] = []
        """Started and ended in one batch, as short runs are: one statement instead of two."""
        self.retries: list[Parameters] = []
        self.ends: list[Parameters] = []
        self.touched: dict[str, None] = {}
        self.wakes: list[dict[str, str]] = []

    def accept(self, run: _Run, report: Report) -> bool:
        if run.fence != report.fence:
            return False
        match report:
            case Ended():
                accepted = self._end(run, report)
            case Launched():
                accepted = self._start(run, report)
            case Failed():
                accepted = self._fail(run, report)
            case _:
                assert_never(report)
        if accepted:
            self.touched[run.schedule_id] = None
        return accepted

    def write(self, connection: sqlite3.Connection) -> None:
        connection.executemany(_SQL["start_run"], self.starts.values())
        connection.executemany(_SQL["start_and_end_run"], self.throughs)
        connection.executemany(_SQL["retry_run"], self.retries)
        connection.executemany(_SQL["end_run"], self.ends)
        touch(connection, self.touched, self.now)
        connection.executemany(_SQL["wake"], self.wakes)

    def _start(self, run: _Run, report: Launched) -> bool:
        after = _START.get(run.state)
        if after is None:
            return False
        run.state = after
        self.starts[run.row] = (report.run_id, self.now, self.now, run.row)
        return True

    def _end(self, run: _Run, report: Ended) -> bool:
        after = _FINISH.get(run.state)
        if after is None:
            return False
        run.state = after
        reason, now = report.reason, self.now
        status = _SUCCESS if report.success else _FAILED
        why = None if reason is None else reason.value
        start = self.starts.pop(run.row, None) if self.starts else None
        if start is None:
            self.ends.append((_EXECUTED, why, status, report.detail, now, now, run.row))
        else:
            values = (why, status, report.detail, now, now, start[0], now, run.row)
            self.throughs.append(values)
        return True

    def _fail(self, run: _Run, report: Failed) -> bool:
        after = _RETRY.get(run.state)
        if after is None:
            return False
        schedule = self.schedules[run.schedule_id]
        if schedule is None and not run.ran:
            self._close(run, report, Outcome.SKIPPED, "deleted", Status.SKIPPED)
            return True
        if report.reason is Reason.SUPERSEDED and not run.ran:
            self._close(run, report, ENDS[Step.SKIP], "superseded", Status.SKIPPED)
            return True
        again_ms = None if report.permanent or run.ran else self._again_ms(run, schedule)
        if again_ms is None:
            self._close(run, report, ENDS[Step.GIVE_UP], "launch_failed", Status.FAILED)
            return True
        run.state = after
        again = to_text(again_ms)
        self.retries.append((report.message, again, self.now, run.row))
        self.wakes.append({"id": run.schedule_id, "at": again})
        return True

    def _again_ms(self, run: _Run, schedule: Schedule | None) -> int | None:
        assert schedule is not None
        policy = schedule.policy
        return retry_ms(
            run.launches, policy.launches_max, policy.launch_backoff, now_ms=self.now_ms
        )

    def _close(
        self, run: _Run, report: Failed, outcome: Outcome, reason: str, status: Status
    ) -> None:
        run.state = State.DONE.value
        values = (outcome.value, reason, status.value, report.message, self.now, self.now)
        self.ends.append((*values, run.row))


def report(
    connection: sqlite3.Connection, cache: DefinitionCache, reports: Sequence[Report], *,
    now_ms: int,
) -> list[bool]:  # fmt: skip
    """For each report, whether it was written."""
    keys = json.dumps([report.key for report in reports])
    runs = {
        key: _Run(*values)
        for key, *values in connection.execute(_SQL["reported_runs"], {"keys": keys})
    }
    batch = _Batch(now_ms, _schedules_of_failures(connection, cache, reports, runs))
    accepted = [
        (run := runs.get(report.key)) is not None and batch.accept(run, report)
        for report in reports
    ]
    batch.write(connection)
    return accepted


def touch(connection: sqlite3.Connection, schedule_ids: Collection[str], now: str) -> None:
    """Something happened to runs of these schedules: plans made before no longer hold."""
    connection.executemany(_SQL["touch"], [(now, schedule_id) for schedule_id in schedule_ids])
    queues = connection.execute(_SQL["with_queue"], {"ids": json.dumps(list(schedule_ids))})
    wakes = [{"id": schedule_id, "at": now} for (schedule_id,) in queues.fetchall()]
    connection.executemany(_SQL["wake"], wakes)


def _schedules_of_failures(
    connection: sqlite3.Connection, cache: DefinitionCache, reports: Sequence[Report],
    runs: dict[str, _Run],
) -> dict[str, Schedule | None]:  # fmt: skip
    """The schedules whose policy says what follows a failure; None for a deleted one."""
    failed = [runs.get(report.key) for report in reports if type(report) is Failed]
    found: dict[str, Schedule | None] = {}
    for schedule_id in {run.schedule_id for run in failed if run is not None}:
        head = connection.execute(_SQL["head"], {"id": schedule_id}).fetchone()
        is_deleted = head[6] is not None
        found[schedule_id] = (
            None if is_deleted else cache.find(connection, [(schedule_id, head[0])])[schedule_id]
        )
    return found
