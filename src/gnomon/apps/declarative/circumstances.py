"""
What a session works with, and who is told of what it writes.

Nothing is decided here, and nothing is opened: a scheduler makes these values from its options.

Spec: LIVE-7.
"""

from collections.abc import Callable
from dataclasses import dataclass

from gnomon.apps.declarative.live_monitor import LiveMonitor
from gnomon.apps.declarative.pen import Observer
from gnomon.apps.declarative.telemetry import SchedulerTelemetry
from gnomon.ports import Change, Clock

__all__ = ["Circumstances", "teller", "watcher"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a session works with."""

    clock: Clock
    telemetry: SchedulerTelemetry
    threads: int
    observe: Observer
    timeout_ms: int | None = None
    """How long a run may take."""
    rejects: bool = False
    """Whether a second list is turned away."""
    is_monitored: bool = True


def watcher(given: Circumstances) -> LiveMonitor | None:
    """The monitor of a session, if it is to have one."""
    return LiveMonitor(given.telemetry, rejects=given.rejects) if given.is_monitored else None


def teller(monitor: LiveMonitor | None, observe: Observer) -> Callable[[Change], None]:
    """Tell the monitor and the observer of what was written."""

    def tell(change: Change) -> None:
        if monitor is not None:
            monitor.told(change)
        observe(change.entries)

    return tell
