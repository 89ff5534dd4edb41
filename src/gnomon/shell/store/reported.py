"""
What reports do to rows, whichever database keeps them.

A report counts if it carries the row's fencing number and its step may be taken; else it comes from
a worker that has lost the run, and changes nothing. Reports are judged in order, so that a launch
and an end in one batch both count. What they come to is collected in `Batch`, ends that are alike
together, because most are; a store writes it down.

Spec: LEDGER-7, LEDGER-9, ASK-9, ASK-10, ASK-15.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple, assert_never

from gnomon.core.ledger.lifecycle import ENDS, Outcome, Reason, State, Status, Step, follow
from gnomon.core.ledger.period import is_backfill
from gnomon.core.policy import BACKOFF_MAX, retry_ms
from gnomon.core.schedule import Schedule
from gnomon.ports import Ended, Failed, Launched, Report

__all__ = ["ENDING", "Batch", "End", "ReportedRun", "alike", "end_of", "late_start"]


def _table(step: Step) -> dict[str, str]:
    return {state.value: after.value for state in State if (after := follow(state, step))}


_START, _FINISH, _RETRY = _table(Step.START), _table(Step.FINISH), _table(Step.RETRY)
_DONE = State.DONE.value
_MS = timedelta(milliseconds=1)
_OF_WHAT_RAN = {Reason.SUPERSEDED: Reason.REPLACED, Reason.KILLED: Reason.UNCERTAIN}
"""The reason that is given when an earlier try may be running: a claim that gives way has had it
ended, a claim that is killed has not, and once its schedule is deleted no worker will."""
ENDING = tuple(_FINISH)
"""The states in which a run can end."""


class ReportedRun:
    """A row as it stands while a batch is judged."""

    __slots__ = ("fence", "killed", "launches", "ran", "row", "schedule_id", "state")

    def __init__(
        self, row: int, schedule_id: str, state: str, fence: int, launches: int,
        outcome: str | None, killed: bool,
    ) -> None:  # fmt: skip
        self.row = row
        self.schedule_id = schedule_id
        self.state = state
        self.fence = fence
        self.launches = launches
        self.ran = outcome is not None
        """Whether it was executed before, as far as is known, and is being started again."""
        self.killed = killed
        """Whether a caller has asked to end it."""


class End(NamedTuple):
    """How a run, or the attempt to start it, came to its end; an outcome that is there stays."""

    outcome: Outcome
    reason: Reason | None
    status: Status
    detail: str
    run_id: str | None = None
    """What the launcher called it and when it began, where the launch itself was not written."""
    started_ms: int | None = None
    ended_ms: int | None = None
    """When it ended; None for now."""


def end_of(report: Ended) -> End:
    """What is to be written about a run that has ended."""
    return _end_of(report[2:])


_How = tuple[bool, str, Reason | None, str | None, int | None, int | None]
"""What the report of an end says, but for whose it is."""


def alike(ends: Iterable[Ended]) -> list[tuple[End, dict[str, int]]]:
    """Ends by what they have in common, each with the keys and fencing numbers of its runs."""
    found: dict[_How, dict[str, int]] = {}
    last: _How | None = None
    for end in ends:
        how = end[2:]
        if how != last:
            last, fences = how, found.setdefault(how, {})
        fences[end[0]] = end[1]
    return [(_end_of(how), fences) for how, fences in found.items()]


class Batch:
    """What a batch of reports comes to, by row."""

    def __init__(self, now_ms: int, schedules: dict[str, Schedule | None]) -> None:
        self._now_ms = now_ms
        self._schedules = schedules
        """Those of failed launches; None for one that was deleted."""
        self.starts: dict[int, tuple[str, int | None, int | None]] = {}
        """Runs that have begun, with what their launcher calls them, for how long to wait for the
        end of one that goes on without its worker, and when it began, None for now."""
        self.retries: dict[int, tuple[str | None, int, bool]] = {}
        """Launches to be tried again, with why they failed if they did, when, and whether they may
        have been executed: then that is their outcome, whatever comes of it."""
        self.ends: dict[End, list[int]] = {}
        self._alike: dict[_How, list[int]] = {}
        """The same by what the reports say, which is quicker to look up."""
        self.ended: set[str] = set()
        """Schedules of which a run is over, or is not in flight until it is tried again."""
        self.wakes: dict[str, int] = {}
        """Schedules to look at, and when at the latest."""

    def accept(self, run: ReportedRun, report: Report) -> bool:
        """Take note of a report; False when it does not count."""
        if run.fence != report.fence:
            return False
        match report:
            case Ended():
                return self._end(run, report)
            case Launched():
                return self._start(run, report)
            case Failed():
                return self._fail(run, report)
            case _:
                assert_never(report)

    def _start(self, run: ReportedRun, report: Launched) -> bool:
        after = _START.get(run.state)
        if after is None:
            return False
        run.state = after
        self.starts[run.row] = report.run_id, report.detached_ms, report.started_ms
        return True

    def _end(self, run: ReportedRun, report: Ended) -> bool:
        after = _FINISH.get(run.state)
        if after is None:
            return False
        run.state = after
        how = report[2:]
        alike = self._alike.get(how)
        if alike is None:
            alike = self._alike[how] = self.ends.setdefault(_end_of(how), [])
        alike.append(run.row)
        self._note_end(run, report)
        return True

    def _fail(self, run: ReportedRun, report: Failed) -> bool:
        after = _RETRY.get(run.state)
        if after is None:
            return False
        may_run = run.ran or report.reason is Reason.UNCERTAIN
        if run.killed and not report.permanent and not may_run:
            # It has not begun, and must not: as if it had been dropped before its launch.
            report = report._replace(permanent=True, reason=Reason.KILLED)
        # One that may be running waits to be ended, whatever failed, and is looked at now.
        is_to_be_ended = run.killed and may_run and self._schedules[run.schedule_id] is not None
        again_ms = self._now_ms if is_to_be_ended else self._again_ms(run, report)
        if again_ms is None:
            run.state = _DONE
            self.ends.setdefault(self._given_up(run, report), []).append(run.row)
            self._note_end(run, report)
            return True
        run.state = after
        why = None if report.reason is Reason.STOPPED else report.message
        self.retries[run.row] = why, again_ms, report.reason is Reason.UNCERTAIN
        self._wake(run, again_ms)
        if is_backfill(report.key):  # another one of it may begin meanwhile
            self._wake(run, self._now_ms)
        return True

    def _note_end(self, run: ReportedRun, report: Ended | Failed) -> None:
        self.ended.add(run.schedule_id)
        if is_backfill(report.key):  # the next one of it may begin
            self._wake(run, self._now_ms)

    def _wake(self, run: ReportedRun, at_ms: int) -> None:
        self.wakes[run.schedule_id] = min(at_ms, self.wakes.get(run.schedule_id, at_ms))

    def _again_ms(self, run: ReportedRun, report: Failed) -> int | None:
        schedule = self._schedules[run.schedule_id]
        if schedule is None or report.permanent:
            return None
        if report.reason is Reason.STOPPED:
            return self._now_ms  # this was no try, however many tries there were before
        policy = schedule.policy
        again_ms = retry_ms(
            run.launches, policy.launches_max, policy.launch_backoff, now_ms=self._now_ms
        )
        if again_ms is None or report.wait_ms is None:
            return again_ms
        return max(again_ms, self._now_ms + min(report.wait_ms, BACKOFF_MAX // _MS))

    def _given_up(self, run: ReportedRun, report: Failed) -> End:
        if run.ran or report.reason is Reason.UNCERTAIN:
            reason = _OF_WHAT_RAN.get(report.reason, report.reason)
            return End(ENDS[Step.FINISH], reason, Status.FAILED, report.message)
        if report.reason in (Reason.SUPERSEDED, Reason.KILLED):
            return End(ENDS[Step.SKIP], report.reason, Status.SKIPPED, report.message)
        if self._schedules[run.schedule_id] is None:
            return End(ENDS[Step.SKIP], Reason.DELETED, Status.SKIPPED, report.message)
        return End(ENDS[Step.GIVE_UP], Reason.LAUNCH_FAILED, Status.FAILED, report.message)


def late_start(report: Report, now_ms: int) -> tuple[str, int, str | None, int] | None:
    """What a report says of the beginning of a run that is over by now: key, fence, id, instant."""
    match report:
        case Launched(key, fence, run_id, _, started_ms):
            return key, fence, run_id, now_ms if started_ms is None else started_ms
        case Failed(key, fence, started_ms=int(started_ms)):
            return key, fence, None, started_ms
    return None


def _end_of(how: _How) -> End:
    success, detail, reason, run_id, started_ms, ended_ms = how
    status = Status.SUCCESS if success else Status.FAILED
    return End(ENDS[Step.FINISH], reason, status, detail, run_id, started_ms, ended_ms)
