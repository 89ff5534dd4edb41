"""
A lease that is to be renewed, and what a worker hears of it.

Spec: LEDGER-8, LEDGER-38.
"""

from enum import StrEnum
from typing import NamedTuple

__all__ = ["Held", "Renewal"]


class Held(NamedTuple):
    """A run that a worker holds, and for how long from now on it will not be heard of again."""

    key: str
    fence: int
    lease_ms: int | None = None
    """The length that the worker reckons with; None for that of the definition by now."""


class Renewal(StrEnum):
    """What a worker hears when it renews the lease of a run."""

    HELD = "held"
    """It is this worker's, and its lease is longer by now."""
    OVER = "over"
    """It has ended, as its worker or its executor said."""
    TAKEN = "taken"
    """It is not this worker's any more: another has it, has judged it lost, or may try it again."""
