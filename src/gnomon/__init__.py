"""
Gnomon: when does it run, did it run, and why not.

Ask when something recurs:

    import gnomon

    nightly = gnomon.cron("30 2 * * *", zone="Europe/Berlin")
    nightly.next_after(now)

Or have callbacks of this process called, also those that were missed while it was down:

    tasks = gnomon.collect()

    @tasks("0 3 * * *", retry_delay="10s")
    def report() -> None:
        print("good morning")

    gnomon.run(tasks)

The names below are the whole public surface, besides `gnomon.errors`, `gnomon.batch` (with the
extra `fast`), `gnomon.workflow` for scripts of workflows, and the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from gnomon.apps.declarative.callback import RunContext, with_timeout
    from gnomon.apps.declarative.embedding import background, collect, run
    from gnomon.apps.declarative.scheduler import Scheduler
    from gnomon.apps.declarative.telemetry import SchedulerTelemetry

__all__ = [
    "Chosen",
    "Decider",
    "Decision",
    "DefinitionError",
    "GnomonError",
    "Recurrence",
    "RunContext",
    "Scheduler",
    "SchedulerTelemetry",
    "Unschedulable",
    "background",
    "collect",
    "cron",
    "decide",
    "every",
    "once",
    "recompute",
    "run",
    "tzdata_version",
    "with_timeout",
]

# A program that only asks about time loads neither a database nor an event loop.
_LATER = {
    "RunContext": "gnomon.apps.declarative.callback",
    "Scheduler": "gnomon.apps.declarative.scheduler",
    "SchedulerTelemetry": "gnomon.apps.declarative.telemetry",
    "background": "gnomon.apps.declarative.embedding",
    "collect": "gnomon.apps.declarative.embedding",
    "run": "gnomon.apps.declarative.embedding",
    "with_timeout": "gnomon.apps.declarative.callback",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name: str) -> object:
    if name == "__version__":
        found: object = import_module("gnomon.shell.version").installed_version()
        return found
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name)
    globals()[name] = found
    return found
