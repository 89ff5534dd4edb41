"""
The facts about a period, as the engine reads and writes them.

Instants are integers: a period's nominal instant in seconds, because that is its identity; every
other instant in milliseconds, with a name that says so.

Spec: LEDGER-1, LEDGER-2.
"""

from hashlib import sha256
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Outcome, Reason, State

__all__ = ["Fact", "InFlight", "Waiting", "period_key", "range_key"]


class Waiting(NamedTuple):
    """A period that has a row and no outcome yet, and that nobody has claimed."""

    key: str
    nominal: int
    fire_ms: int
    queued: bool
    launches: int
    """How often a launch has been tried."""


class InFlight(NamedTuple):
    """A period that is claimed or running."""

    key: str
    nominal: int
    fire_ms: int
    state: State
    fence: int
    launches: int


class Fact(NamedTuple):
    """What a row says from now on."""

    key: str
    nominal: int
    fire_ms: int
    state: State
    outcome: Outcome | None = None
    reason: Reason | None = None
    launches: int = 0
    is_new: bool = False
    last_nominal: int = 0
    """For a range, its last period; else 0."""
    periods: int = 1
    """How many periods the row stands for."""


def period_key(schedule_id: str, nominal: int) -> str:
    """The unique key of a period: the claim, and the key that launchers see."""
    return sha256(f"{schedule_id}:{nominal}".encode()).hexdigest()


def range_key(schedule_id: str, first: int) -> str:
    """The key of a row that stands for many periods; never equal to a period's."""
    return f"range:{schedule_id}:{first}"
