"""
What a scheduler says about itself: one log line for each event, under the contract's own name.

Lines go through the standard `logging`, to the logger `gnomon.scheduler`: the text begins with the
name of the event, and the record carries the same facts as `fields`, as everywhere in Gnomon.

Spec: EVENT-1.
"""

import logging
from enum import StrEnum

__all__ = ["LOGGER", "LogEvent", "log"]

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
