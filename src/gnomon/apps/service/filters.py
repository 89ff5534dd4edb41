"""
Which schedules are meant? A filter: everything that is said must hold.

Spec: SERVICE-1.
"""

from dataclasses import dataclass

__all__ = ["Filter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What schedules must have to be found; None for anything."""

    user_id: str | None = None
    workflow_id: str | None = None
    paused: bool | None = None
    text: str | None = None
    """What the id contains."""
