"""
One schedule of a world, with all that there is to judge it by: plain data and a few questions.

Spec: SIM-3.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gnomon.simulation.kit.matcher import length_ms
from gnomon.simulation.ledger.record import Effect, Grant, Record, Row

__all__ = [
    "BACKFILL",
    "FOR_EVER",
    "MANUAL",
    "PERIOD",
    "Case",
    "Text",
    "lane",
    "was_paused",
    "window",
]

Text = Mapping[str, object]

MANUAL, BACKFILL, PERIOD = "manual", "backfill", "period"
FOR_EVER = 1 << 40  # every schedule of a world has an end of its own


class Case(NamedTuple):
    """What the judges know of one schedule."""

    schedule: Text
    record: Record
    rows: list[Row]
    asked: list[Row]
    """The rows of what callers asked for, which are no periods."""
    effects: list[Effect]
    grants: list[Grant]

    def held(self, effect: Effect) -> list[Grant]:
        """The claims under which a run went on: the one it began with, and those that took over."""
        later = [e.fence for e in self.effects if e.key == effect.key and e.fence > effect.fence]
        until = min(later, default=FOR_EVER)
        own = [one for one in self.grants if one.key == effect.key]
        return [one for one in own if effect.fence <= one.fence < until]


def window(schedule: Text) -> tuple[int, int]:
    """How long before and after the nominal instant a period may be chosen to run."""
    jitter = int(str(schedule.get("jitter_ms", 0)))
    mode, _, length = str(schedule.get("window", "after,0s")).partition(",")
    whole = length_ms(length)
    before = {"after": 0, "around": whole // 2 + 1000, "before": whole}[mode]
    after = {"after": whole, "around": whole // 2 + 1000, "before": 0}[mode]
    # Nothing starts before the schedule does, so a window may be pushed forward as a whole.
    return before + jitter, after + jitter + (before if schedule.get("start_at") else 0)


def was_paused(case: Case, row: Row) -> bool:
    return any(pause.schedule_id == row.schedule_id for pause in case.record.pauses)


def lane(key: str) -> str:
    """What a key stands for, as far as it matters here."""
    word = key.partition(":")[0]
    return word if word in (MANUAL, BACKFILL) else PERIOD
