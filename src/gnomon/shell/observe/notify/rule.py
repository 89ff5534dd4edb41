"""
Who is told what became of a job: by mail, by a call of a URL, by a ping that a watcher misses.

These are the wishes of a job as values; the messages are made elsewhere.
"""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["TROUBLE", "NotifyRule", "Occasion"]


class Occasion(StrEnum):
    """What may become of a period, as far as a person or program may want to know."""

    SUCCESS = "success"
    FAILURE = "failure"
    """It was executed and did not end well: exit status, signal, time-out."""
    MISSED = "missed"
    SKIPPED = "skipped"
    UNSCHEDULABLE = "unschedulable"


TROUBLE = frozenset((Occasion.FAILURE, Occasion.MISSED))
"""What is told unless a job says otherwise. That constraints leave no second is what they say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyRule:
    """Whom to tell of a job, and when; without an address nothing is sent."""

    on: frozenset[Occasion] = TROUBLE
    """When mail is sent and the webhook called; the ping has its own rule."""
    mail: tuple[str, ...] = ()
    webhook: str = ""
    ping: str = ""
    """Called after each success, and with `/fail` at its end after each failure."""
