"""
The ports: what schedulers need from outside, as contracts.

Each port is a Protocol with a suite of tests that every implementation passes; the observer is a
class, of which a door overrides what it wants to hear. Every `await` of a
scheduler is a call of a port, so that the supplier of the ports owns every interleaving: the
operating system in production, the simulator in tests. A port holds no code but its own values.
"""

from gnomon.ports.clock import Clock
from gnomon.ports.journal import (
    Change,
    Entry,
    Event,
    Head,
    Journal,
    JournalOpener,
    JournalView,
    Looked,
    Registered,
    Stretch,
)
from gnomon.ports.launcher import Launcher, Strained
from gnomon.ports.ledger import Ledger
from gnomon.ports.ledger_rows import (
    Breach,
    By,
    Claim,
    Committed,
    Ended,
    Expected,
    Failed,
    Held,
    Judged,
    Launched,
    LogRow,
    Only,
    Renewal,
    Report,
    RevisionRow,
    RunRow,
    Saved,
    ScheduleRow,
    ToEnd,
)
from gnomon.ports.observer import Observer

__all__ = [
    "Breach",
    "By",
    "Change",
    "Claim",
    "Clock",
    "Committed",
    "Ended",
    "Entry",
    "Event",
    "Expected",
    "Failed",
    "Head",
    "Held",
    "Journal",
    "JournalOpener",
    "JournalView",
    "Judged",
    "Launched",
    "Launcher",
    "Ledger",
    "LogRow",
    "Looked",
    "Observer",
    "Only",
    "Registered",
    "Renewal",
    "Report",
    "RevisionRow",
    "RunRow",
    "Saved",
    "ScheduleRow",
    "Strained",
    "Stretch",
    "ToEnd",
]
