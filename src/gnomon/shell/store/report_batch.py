"""
What a batch of reports comes to, whatever the store.

A report counts if it carries the row's fencing number and its step may be taken; else it comes from
a worker that has lost the run, and changes nothing. Reports are judged in order, so that a launch
and an end in one batch are both written. What is to be written is left in lists, one for each
statement; the store writes them, gives each touched schedule a new version, and wakes those that
are to be woken.

Spec: LEDGER-7, LEDGER-9.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar, assert_never

from gnomon.core.ledger.lifecycle import ENDS, Outcome, Reason, State, Status, Step, follow
from gnomon.core.policy.retry import retry_ms
from gnomon.core.schedule import Schedule
from gnomon.ports import Ended, Failed, Launched, Report

__all__ = ["ReportBatch", "ReportedRun", "schedules_of_failures"]

Row = TypeVar("Row", bound=int | str)
"""What a store calls a row."""


def _table(step: Step) -> dict[str, str]:
    return {state.value: after.value for state in State if (after := follow(state, step))}


_START, _FINISH, _RETRY = _table(Step.START), _table(Step.FINISH), _table(Step.RETRY)
_EXECUTED = ENDS[Step.FINISH].value
_SUCCESS, _FAILED = Status.SUCCESS.value, Status.FAILED.value


class ReportedRun(Generic[Row]):
    """A row as it stands while a batch is judged."""

    __slots__ = ("fence", "launches", "ran", "row", "schedule_id", "state")

    def __init__(
        self, row: Row, schedule_id: str, state: str, fence: int, launches: int,
        outcome: str | None,
    ) -> None:  # fmt: skip
        self.row = row
        self.schedule_id = schedule_id
        self.state = state
        self.fence = fence
        self.launches = launches
        self.ran = outcome is not None
        """Whether it was executed before and is being started again: it cannot be unplanned."""


class ReportBatch(Generic[Row]):
    """What is to be written for a batch of reports."""

    def __init__(self, now_ms: int, schedules: dict[str, Schedule | None]) -> None:
        self._now_ms = now_ms
        self._schedules = schedules
        self.starts: dict[Row, str] = {}
        """The run id of each row that has started."""
        self.throughs: list[tuple[str | None, str, str, str, Row]] = []
        """Started and ended in one batch, as short runs are: reason, status, detail, run id."""
        self.ends: list[tuple[str, str | None, str, str, Row]] = []
        """Outcome, reason, status, detail."""
        self.retries: list[tuple[str, int, Row]] = []
        """Detail, and the instant of the next try."""
        self.touched: dict[str, None] = {}
        self.wakes: list[tuple[str, int]] = []

    def judge(self, reports: Sequence[Report], runs: dict[str, ReportedRun[Row]]) -> list[bool]:
        """For each report, whether it is to be written."""
        return [
            (run := runs.get(report.key)) is not None and self._accept(run, report)
            for report in reports
        ]

    def _accept(self, run: ReportedRun[Row], report: Report) -> bool:
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

    def _start(self, run: ReportedRun[Row], report: Launched) -> bool:
        after = _START.get(run.state)
        if after is None:
            return False
        run.state = after
        self.starts[run.row] = report.run_id
        return True

    def _end(self, run: ReportedRun[Row], report: Ended) -> bool:
        after = _FINISH.get(run.state)
        if after is None:
            return False
        run.state = after
        status = _SUCCESS if report.success else _FAILED
        why = None if report.reason is None else report.reason.value
        run_id = self.starts.pop(run.row, None) if self.starts else None
        if run_id is None:
            self.ends.append((_EXECUTED, why, status, report.detail, run.row))
        else:
            self.throughs.append((why, status, report.detail, run_id, run.row))
        return True

    def _fail(self, run: ReportedRun[Row], report: Failed) -> bool:
        after = _RETRY.get(run.state)
        if after is None:
            return False
        schedule = self._schedules[run.schedule_id]
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
        self.retries.append((report.message, again_ms, run.row))
        self.wakes.append((run.schedule_id, again_ms))
        return True

    def _again_ms(self, run: ReportedRun[Row], schedule: Schedule | None) -> int | None:
        assert schedule is not None
        policy = schedule.policy
        return retry_ms(
            run.launches, policy.launches_max, policy.launch_backoff, now_ms=self._now_ms
        )

    def _close(
        self, run: ReportedRun[Row], report: Failed, outcome: Outcome, reason: str, status: Status
    ) -> None:
        run.state = State.DONE.value
        self.ends.append((outcome.value, reason, status.value, report.message, run.row))


def schedules_of_failures(reports: Iterable[Report], runs: dict[str, ReportedRun[Row]]) -> set[str]:
    """The schedules whose policy says what follows a failure."""
    failed = [runs.get(report.key) for report in reports if type(report) is Failed]
    return {run.schedule_id for run in failed if run is not None}
