"""
What each call of a storm has answered: the half of the truth that the rows must agree with.

A call that raised has done nothing, so it is not in the book, only counted. Raising anything but a
transient `StoreError`, or what the call is allowed to refuse, is a problem by itself.
"""

from collections import Counter
from collections.abc import Awaitable, Sequence
from typing import TypeVar

from gnomon.errors import StoreError
from gnomon.ports import Breach, Report

__all__ = ["Book"]

_Result = TypeVar("_Result")


class Book:
    """Everything that was answered."""

    def __init__(self) -> None:
        self.calls = Counter[str]()
        self.raised = Counter[str]()
        """Transient errors, by the call and what was wrong."""
        self.problems: list[str] = []
        self.claims = Counter[tuple[str, int, str]]()
        """Key, fencing number and owner of each claim that was handed out."""
        self.settled = Counter[tuple[str, str, str]]()
        """Key, outcome and reason of each period that a commit said is over."""
        self.adopted = Counter[tuple[str, int, str]]()
        self.accepted: list[Report] = []
        self.refused: list[Report] = []
        self.asked: set[str] = set()
        """Keys of runs by hand that a person was told of."""
        self.backfilled = 0
        self.killed: set[str] = set()
        self.skipped: set[tuple[str, int]] = set()
        self.deleted: set[str] = set()
        """Schedules that a person has deleted at least once."""
        self.removed = 0
        """Rows that retention says it has removed."""
        self.breaches = Counter[tuple[str, int, str]]()
        self.logged = Counter[str]()
        """By action, changes that a person asked for by name."""
        self.maybe_logged = Counter[str]()
        """By action, changes whose answer does not say whether there was something to change."""

    async def hear(
        self, name: str, call: Awaitable[_Result], *allowed: type[Exception]
    ) -> _Result | None:
        """What a call answers; None when it raised, which is taken note of."""
        self.calls[name] += 1
        try:
            return await call
        except StoreError as error:
            if error.transient:
                self.raised[f"{name}: {error.reason}"] += 1
            else:
                self.problems.append(f"{name} raised {error}")
        except allowed:
            self.raised[f"{name}: refused"] += 1
        except Exception as error:
            self.problems.append(f"{name} raised {error!r}")
        return None

    def reported(self, reports: Sequence[Report], answers: Sequence[bool]) -> None:
        for report, is_accepted in zip(reports, answers, strict=True):
            (self.accepted if is_accepted else self.refused).append(report)

    def breached(self, schedule_id: str, breaches: Sequence[Breach]) -> None:
        self.breaches.update((schedule_id, one.nominal, one.expectation) for one in breaches)
