"""
The world outside a workflow: what comes up in it, and what was done to it.

It counts by itself. Each application of a tool is written down with its key and its items, whether
or not anybody hears of it; that record is what the audit holds the workflow's own tables against.

Spec: WSIM-2.
"""

from collections import Counter
from datetime import datetime
from typing import NamedTuple

__all__ = ["Application", "Lack", "Outside", "Question"]


class Application(NamedTuple):
    """Something was done outside."""

    tool: str
    key: str
    items: tuple[str, ...]
    at: int


class Question(NamedTuple):
    """A person was asked to approve a mutation, and agreed or not."""

    tool: str
    params: str
    script: int
    """The version that asked."""
    granted: int | None
    """The version that was in force when the person agreed; None when the person refused."""
    at: int
    first: int
    """The run that asked, or the first of the attempts that it follows."""


class Lack(NamedTuple):
    """A script that cannot be loaded: in which life, which version, why, and when."""

    life: str
    version: int
    cause: str
    at: int
    is_paused: bool = False


class Outside:
    """What there is outside, for as long as the world lasts."""

    def __init__(self, items: tuple[int, ...]) -> None:
        self._items = items
        self.applications: list[Application] = []
        self.attempts: Counter[str] = Counter()
        """How often a tool was reached with each key, whatever came of it."""
        self.fruitless: list[int] = []
        """When a tool was called in vain, or anything else that an outage had cut off."""
        self.told: list[tuple[str, int, str]] = []
        """What the person heard: from which life, about which run, and its status."""
        self.lacked: list[Lack] = []
        """When a host was given a script that cannot be loaded, or none."""
        self.told_lacking: list[Lack] = []
        """When the person heard of a script that cannot be loaded."""
        self.approved: set[tuple[str, str, str]] = set()
        """What a person has agreed to: tool, parameters and key."""
        self.asked: list[Question] = []
        """What the person was asked to approve."""
        self.restored: list[tuple[int, int]] = []
        """From when on until when the store was put back to what it was."""
        self.published: dict[str, int] = {}
        """When the producer has published an item last."""
        self.first_seen: dict[str, datetime] = {}
        """When a prepare saw an item first; where authors keep such things is their business."""

    def feed(self, at: int) -> list[str]:
        """The items that have come up so far, oldest first."""
        return [f"i{number}" for number, when in enumerate(self._items, 1) if when <= at]

    def apply(self, tool: str, key: str, items: list[str], at: int) -> None:
        self.applications.append(Application(tool, key, tuple(items), at))

    def is_forgotten(self, at: int) -> bool:
        """Whether the store knows nothing of what was done then: it was restored since."""
        return any(since <= at <= until for since, until in self.restored)

    def was_applied(self, key: str) -> Application | None:
        return next((one for one in self.applications if one.key == key), None)
