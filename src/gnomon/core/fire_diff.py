"""
Which fires come and go when one recurrence takes the place of another?

Both are read side by side over a stretch of time. A fire is an instant; one that both have is the
same, whatever it is called. No more than `FIRES_MAX` are read of each, and what lies beyond the
last of them is not compared.

Spec: DIFF-1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile

from gnomon.core.recurrence import Recurrence

__all__ = ["FIRES_MAX", "FireDiff", "compare_fires"]

FIRES_MAX = 1_100_000
"""Two years of every minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FireDiff:
    """What is different, and how much was compared."""

    gone: list[int]
    """Epoch seconds of fires that only the former has."""
    come: list[int]
    """And those that only the newer has."""
    same: int
    """How many both have."""
    until: int
    """Up to where was compared, that second included."""


def compare_fires(before: Recurrence, after: Recurrence, *, since: int, until: int) -> FireDiff:
    """The fires later than `since` up to `until`, side by side."""
    former, newer = (_fires(one, since, until) for one in (before, after))
    reached = min([until, *(one[-1] for one in (former, newer) if len(one) == FIRES_MAX)])
    old, new = ({one for one in fires if one <= reached} for fires in (former, newer))
    return FireDiff(
        gone=sorted(old - new), come=sorted(new - old), same=len(old & new), until=reached
    )


def _fires(recurrence: Recurrence, since: int, until: int) -> list[int]:
    fires: Iterator[int] = takewhile(until.__ge__, recurrence.iterate_epochs(since))
    return list(islice(fires, FIRES_MAX))
