"""
Gnomon: when does it run, did it run, and why not.

    import gnomon

    nightly = gnomon.cron("30 2 * * *", zone="Europe/Berlin")
    nightly.next_after(now)

The names below are the whole public surface, besides `gnomon.errors`, `gnomon.batch` (with the
extra `fast`) and the command line.
"""

from gnomon.core.civil.zone import tzdata_version
from gnomon.core.decision import (
    Chosen,
    Decider,
    Decision,
    Unschedulable,
    decide,
    recompute,
)
from gnomon.core.recurrence import Recurrence, cron, every, once
from gnomon.errors import DefinitionError, GnomonError

__all__ = [
    "Chosen",
    "Decider",
    "Decision",
    "DefinitionError",
    "GnomonError",
    "Recurrence",
    "Unschedulable",
    "cron",
    "decide",
    "every",
    "once",
    "recompute",
    "tzdata_version",
]
