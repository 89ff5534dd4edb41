"""
The theory of schedulers, executable: when is a scheduler right?

The axioms speak of what can be seen from outside: initialize and stop, runs and how they end, dues,
retries, crashes. S1 to S6 say what a scheduler must never do, L1 to L3 what it must do in time, and
EA1 to EA7 what it may expect of its surroundings. A trace of any scheduler can be put before them.

    monitor = Monitor(header)
    for event in events:
        for violation in monitor.see(event):
            ...
    report = monitor.verdicts()

`Monitor` judges event by event and is quick; `evaluation` gives the same answers straight from the
formulas and is slow; `check` takes a whole trace, also with the axioms as they were printed.

Nothing here knows cron, zones or any scheduler, and nothing here imports the core: a judge cannot
use what it judges.
"""

from gnomon.theory.axioms import AXIOMS, Axiom
from gnomon.theory.monitor import Monitor, check
from gnomon.theory.pulses import merge, retry_pulses
from gnomon.theory.verdict import Judgement, Party, Report, Verdict, Violation

__all__ = [
    "AXIOMS",
    "Axiom",
    "Judgement",
    "Monitor",
    "Party",
    "Report",
    "Verdict",
    "Violation",
    "check",
    "merge",
    "retry_pulses",
]
