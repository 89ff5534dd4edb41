"""
What a scheduler says about itself: one log line for each event, under the contract's own name.

Lines go through the standard `logging`, to the logger `gnomon.scheduler`: the text begins with the
name of the event, and the record carries the same facts as `fields`, as everywhere in Gnomon. A
`SessionLog` says what a session has done, and counts it.

Spec: EVENT-1 to EVENT-3, CLOCK-2.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from gnomon.apps.declarative.journal_time import JournalTime
from gnomon.apps.declarative.registration import Fate
from gnomon.apps.declarative.task import TaskRecord, TaskState, Why
from gnomon.apps.declarative.task_plan import End, Start, Step
from gnomon.apps.declarative.telemetry import LATE_MS, SchedulerTelemetry
from gnomon.shell.store.instant_text import maybe_to_text, to_text

__all__ = ["LOGGER", "LogEvent", "SessionLog", "log"]

LOGGER = logging.getLogger("gnomon.scheduler")


class LogEvent(StrEnum):
    """The names of the events; those from `Standby` on are not the contract's but ours."""

    INITIALIZATION_STARTED = "SchedulerInitializationStarted"
    INITIALIZATION_COMPLETED = "SchedulerInitializationCompleted"
    INITIALIZATION_FAILED = "SchedulerInitializationFailed"
    REINITIALIZATION_STARTED = "SchedulerReinitializationStarted"
    STOP_REQUESTED = "SchedulerStopRequested"
    STOPPED = "SchedulerStopped"
    RUN_STARTED = "TaskRunStarted"
    RUN_COMPLETED = "TaskRunCompleted"
    RUN_FAILED = "TaskRunFailed"
    RETRY_STARTED = "TaskRetryStarted"
    RETRY_PREEMPTED = "TaskRetryPreempted"
    POLLING_STARTED = "PollingStarted"
    POLLING_STOP_REQUESTED = "PollingStopRequested"
    POLLING_STOPPED = "PollingStopped"
    STANDBY = "SchedulerStandby"
    REINITIALIZATION_COMPLETED = "SchedulerReinitializationCompleted"
    REINITIALIZATION_FAILED = "SchedulerReinitializationFailed"
    OWNERSHIP_LOST = "SchedulerOwnershipLost"
    STORE_LOST = "SchedulerStoreLost"
    STOP_FAILED = "SchedulerStopFailed"
    TASKS_RESOLVED = "TasksResolved"
    TASK_INTERRUPTED = "TaskRunInterrupted"
    RUN_OVERDUE = "TaskRunOverdue"
    RUN_WAITS = "TaskRunWaits"
    RUNS_LEFT = "SchedulerRunsLeft"
    LATENCY_EXCEEDED = "SchedulingLatencyExceeded"
    RECOVERY_EXCEEDED = "RecoveryLatencyExceeded"
    CLOCK_STEPPED_BACK = "ClockSteppedBack"
    STORE_FAILED = "StoreFailed"
    STORE_RECOVERED = "StoreRecovered"
    TURN_FAILED = "TurnFailed"
    OBSERVER_FAILED = "ObserverFailed"
    CALCULATION_FAILED = "CronCalculationFailed"
    AXIOM_VIOLATED = "AxiomViolated"
    MONITOR_FAILED = "MonitorFailed"


def log(
    level: int, event: LogEvent, *, failure: BaseException | None = None, **facts: object
) -> None:
    """One line: the name of an event and its facts."""
    if LOGGER.isEnabledFor(level):
        text = "".join(f" {name}={fact!r}" for name, fact in facts.items())
        fields = {"event": event.value, **facts}
        LOGGER.log(level, "%s:%s", event.value, text, exc_info=failure, extra={"fields": fields})


class SessionLog:
    """Tells of one session."""

    def __init__(self, telemetry: SchedulerTelemetry) -> None:
        self._telemetry = telemetry
        self._began: JournalTime | None = None

    def began(self, now: JournalTime) -> None:
        """Latency counts from here: this scheduler was not there before."""
        self._began = now

    def clock_stepped_back(self, by_ms: int, through_ms: int) -> None:
        """Up to `through_ms` nothing comes again."""
        self._telemetry.steps_back += 1
        log(
            logging.WARNING, LogEvent.CLOCK_STEPPED_BACK, by_ms=by_ms,
            nothingDueBefore=to_text(through_ms),
        )  # fmt: skip

    def resolved(self, fates: Mapping[str, Fate]) -> None:
        """Registrations were applied."""
        counts = Counter(fates.values())
        log(
            logging.INFO, LogEvent.TASKS_RESOLVED, new=counts[Fate.NEW],
            preserved=counts[Fate.PRESERVED], overridden=counts[Fate.OVERRIDDEN],
            removed=counts[Fate.REMOVED],
            changed=sorted(name for name, fate in fates.items() if fate is not Fate.PRESERVED),
        )  # fmt: skip

    def interrupted(self, record: TaskRecord) -> None:
        """A former owner died during this run."""
        log(
            logging.WARNING, LogEvent.TASK_INTERRUPTED, task=record.name,
            lastAttemptAt=maybe_to_text(record.attempt_ms), schedulerIdentifier=record.identifier,
        )  # fmt: skip

    def stepped(self, step: Step, now: JournalTime) -> None:
        """A turn was written."""
        for end, record in step.ends:
            self._ended(end, record)
        ended = {end.task for end, _ in step.ends}
        for start in step.starts:
            self._started(start, now, waited=start.context.task in ended)

    def _ended(self, end: End, record: TaskRecord | None) -> None:
        state = None if record is None else record.state.value
        if end.error is None:
            self._telemetry.successes += 1
            log(logging.INFO, LogEvent.RUN_COMPLETED, task=end.task, state=state)
            return
        self._telemetry.failures += 1
        until = record.retry_until_ms if record is not None else None
        log(
            logging.WARNING, LogEvent.RUN_FAILED, failure=end.error, task=end.task, state=state,
            error=end.detail, pendingRetryUntil=maybe_to_text(until),
        )  # fmt: skip

    def _started(self, start: Start, now: JournalTime, *, waited: bool) -> None:
        telemetry, context = self._telemetry, start.context
        telemetry.starts += 1
        if start.preempts:
            telemetry.preempted_retries += 1
            log(logging.INFO, LogEvent.RETRY_PREEMPTED, task=context.task)
        event = LogEvent.RUN_STARTED if start.why is Why.DUE else LogEvent.RETRY_STARTED
        telemetry.retries += start.why is Why.RETRY
        telemetry.interrupted += start.was_interrupted
        log(
            logging.INFO, event, task=context.task, state=TaskState.RUNNING.value,
            period=context.period, reason=context.reason, attempt=context.attempt,
        )  # fmt: skip
        self._measure(start, now, waited=waited)

    def _measure(self, start: Start, now: JournalTime, *, waited: bool) -> None:
        """How late a run is, unless it waited for the one before or was due before `began`."""
        began, telemetry, context = self._began, self._telemetry, start.context
        assert began is not None
        if start.was_interrupted:
            recovery_ms = now.t_ms - began.t_ms
            telemetry.recovery.add(recovery_ms)
            if recovery_ms > LATE_MS:
                telemetry.late_recoveries += 1
                log(
                    logging.WARNING,
                    LogEvent.RECOVERY_EXCEEDED,
                    task=context.task,
                    latency_ms=recovery_ms,
                )
        elif start.why is Why.DUE and not waited and context.nominal * 1000 >= began.wall_ms:
            latency_ms = now.wall_ms - context.nominal * 1000
            telemetry.scheduling.add(latency_ms)
            if latency_ms > LATE_MS:
                telemetry.late += 1
                log(
                    logging.WARNING,
                    LogEvent.LATENCY_EXCEEDED,
                    task=context.task,
                    latency_ms=latency_ms,
                )
