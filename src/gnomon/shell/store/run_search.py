"""
Runs of all schedules: those that are open, and those that are over, the last ended first.

A page that ended in the middle is gone on with from the place of its last run. What ends between
two pages is among those that are over then, ahead of all that was read: nothing is left out, and
what was over is not shown twice.

Spec: LEDGER-40.
"""

from collections.abc import Sequence
from typing import NamedTuple

from gnomon.ports.ledger_rows import RunsOnly, RunsPlace
from gnomon.shell.store.instant_text import END_MS

__all__ = ["PAGE_MAX", "Part", "parts_of"]

PAGE_MAX = 10_000
"""The most rows that one call returns."""


class Part(NamedTuple):
    """One question to a store: open runs, or those that are over."""

    is_open: bool
    before_ms: int
    key: str
    limit: int


def parts_of(only: RunsOnly, after: RunsPlace | None, limit: int) -> Sequence[Part]:
    """What to ask, in this order, until there are as many as are wanted."""
    limit = min(limit, PAGE_MAX)
    end_ms = END_MS - 1
    until_ms = end_ms if only.until_ms is None else only.until_ms
    if after is not None and not after.is_open:
        return [Part(False, *min((after.at, after.key), (until_ms, "")), limit)]
    ended = Part(False, until_ms, "", limit)
    if only.until_ms is not None:
        return [ended]
    if after is None:
        return [Part(True, end_ms, "", limit), ended]
    return [Part(True, after.at * 1000, after.key, limit), ended]
