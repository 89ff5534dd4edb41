"""
What became of a period, for people and programs that are told: one value, once it is certain.
"""

from dataclasses import dataclass
from pathlib import Path

from gnomon.apps.krond.job import Job
from gnomon.apps.krond.notice import Occasion
from gnomon.core.ledger.lifecycle import Outcome, Reason

__all__ = ["Happening"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """A period of a job, or several with one fate, that came to its end."""

    job: Job
    occasion: Occasion
    period_id: str
    periods: int = 1
    chosen_ms: int | None = None
    """None for a range of periods."""
    outcome: Outcome
    reason: Reason | None = None
    detail: str = ""
    """How the run ended, or why it could not be started."""
    started_ms: int | None = None
    ended_ms: int
    output: Path | None = None
    """What the job printed, if that is kept."""
