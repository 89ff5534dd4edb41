"""
What asking for something comes to, whatever the store: runs by hand, backfills, periods left out.

A run that is asked for is a row that waits, with a key of its own kind; nothing else about the
schedule changes. A period that is to be left out, and is not opened yet, is remembered by its
nominal instant, so that an edit of the schedule in between does not bring it back.

Spec: ASK-1, ASK-2, ASK-7.
"""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import State
from gnomon.core.ledger.period import Fact, backfill_key, manual_key
from gnomon.core.schedule import Schedule
from gnomon.errors import DefinitionError
from gnomon.ports import RunRow

__all__ = [
    "SKIPS_MAX",
    "Triggered",
    "backfill_facts",
    "manual_fact",
    "next_ahead",
    "read_skips",
    "write_skips",
]

SKIPS_MAX = 100
"""How many periods of a schedule can be left out ahead."""


class Triggered(NamedTuple):
    """What a request for a run by hand came to; true when it asked for something new."""

    row: RunRow | None = None
    """The run; None when its schedule is not there."""
    is_new: bool = False

    def __bool__(self) -> bool:
        return self.is_new


def manual_fact(schedule_id: str, name: str, now_ms: int, nominal: int | None = None) -> Fact:
    key = manual_key(schedule_id, name)
    nominal = now_ms // 1000 if nominal is None else nominal
    return Fact(key, nominal, now_ms, State.PLANNED, is_new=True)


def backfill_facts(
    schedule_id: str, name: str, nominals: Iterable[int], now_ms: int
) -> dict[str, Fact]:
    """A row for each instant, by key; an instant that is named twice has one."""
    facts = [
        Fact(backfill_key(schedule_id, name, nominal), nominal, now_ms, State.PLANNED, is_new=True)
        for nominal in nominals
    ]
    return {fact.key: fact for fact in facts}


def next_ahead(schedule: Schedule, cursor: int, skips: Sequence[int], *, now_ms: int) -> int | None:
    """The next nominal instant that lies ahead, is not opened and not left out already."""
    if len(skips) >= SKIPS_MAX:
        raise DefinitionError(
            f"has {SKIPS_MAX} periods ahead that are left out", where="schedule_id",
            got=schedule.schedule_id, hint="pause it until an instant instead",
        )  # fmt: skip
    nominals = schedule.recurrence.iterate_epochs(max(cursor, now_ms // 1000))
    return next((nominal for nominal in nominals if nominal not in skips), None)


def read_skips(text: str, cursor: int) -> tuple[int, ...]:
    """The nominal instants that are left out and not past."""
    if not text:
        return ()
    return tuple(nominal for nominal in json.loads(text) if nominal > cursor)


def write_skips(skips: Sequence[int]) -> str:
    return json.dumps(sorted(skips), separators=(",", ":")) if skips else ""
