"""
Runs of all schedules: those that are open, and those that are over, the last ended first.

A page that ended in the middle is gone on with from the place of its last run. What ends between
two pages is among those that are over then, ahead of all that was read: nothing is left out, and
what was over is not shown twice.

Spec: LEDGER-40.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from gnomon.ports import RunRow
from gnomon.ports.ledger_rows import RunsOnly, RunsPlace
from gnomon.shell.store.history import PAGE_MAX, run_rows
from gnomon.shell.store.instant_text import END_MS, to_text

__all__ = ["Part", "find", "parts_of"]


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


def find(
    connection: sqlite3.Connection, only: RunsOnly, *, after: RunsPlace | None, limit: int
) -> list[RunRow]:
    found: list[RunRow] = []
    for part in parts_of(only, after, limit):
        values: dict[str, str | int | None] = {
            **only._asdict(), "since": to_text(only.since_ms), "before": to_text(part.before_ms),
            "key": part.key, "limit": part.limit - len(found),
        }  # fmt: skip
        query = "find_open" if part.is_open else "find_ended"
        found += run_rows(connection, query, values)
    return found
