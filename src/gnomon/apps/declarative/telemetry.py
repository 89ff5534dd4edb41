"""
How is a scheduler doing? Counters, and how late it was, as plain values.

`scheduling` is the time from an occurrence to the start of its run, for occurrences that came while
the scheduler was there. `recovery` is the time from `initialize` to the restart of a run that a
crash had cut off. Either should be about a minute at most; what takes longer is counted and logged.

Spec: EVENT-2, EVENT-3, LIVE-1.
"""

from collections import Counter
from dataclasses import dataclass, field

from gnomon.shell.observe.counts import Lag

__all__ = ["LATE_MS", "SchedulerTelemetry"]

LATE_MS = 60_000


@dataclass(slots=True)
class SchedulerTelemetry:
    """What a scheduler has done since it was made."""

    starts: int = 0
    successes: int = 0
    failures: int = 0
    retries: int = 0
    preempted_retries: int = 0
    interrupted: int = 0
    """Runs that a crash had cut off, restarted."""
    store_errors: int = 0
    steps_back: int = 0
    """How often the clock on the wall was set back."""
    late: int = 0
    """Runs that were started more than a minute after their occurrence."""
    late_recoveries: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    """How often each axiom of the theory was broken, by its id."""
    scheduling: Lag = field(default_factory=Lag)
    recovery: Lag = field(default_factory=Lag)
