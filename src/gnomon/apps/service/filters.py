"""
Which schedules or runs are meant? A filter: everything that is said must hold.

Spec: SERVICE-1.
"""

from dataclasses import dataclass

__all__ = ["Filter", "RunFilter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What schedules must have to be found; None for anything."""

    user_id: str | None = None
    workflow_id: str | None = None
    paused: bool | None = None
    text: str | None = None
    """What the id contains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """What runs must have to be found, of whatever schedule; None for anything."""

    user_id: str | None = None
    workflow_id: str | None = None
    state: str | None = None
    status: str | None = None
    outcome: str | None = None
    reason: str | None = None
    since: str | None = None
    """An instant, or how long ago: those that ended since then, and those that are open."""
    until: str | None = None
    """An instant, or how long ago: those that had ended before."""
