"""
Definitions as values: what a stored record means, read once and kept while there is room.

A record is read once for each schedule and revision. The number of values kept is bounded, so that
memory does not grow with the number of schedules; a revision never changes, so that what is kept
never goes stale.
"""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable

from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import read_schedule, write_schedule
from gnomon.errors import StoreError
from gnomon.shell.store.queries import named

__all__ = ["CACHED_MAX", "DefinitionCache", "definition_text"]

CACHED_MAX = 20_000
"""How many schedules are kept as values."""

_SQL = named("ledger.sql")


class DefinitionCache:
    """The most recently used schedules by id and revision."""

    def __init__(self, path: str, cached_max: int = CACHED_MAX) -> None:
        self._path = path
        self._cached_max = cached_max
        self._kept: OrderedDict[str, tuple[int, Schedule]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(
        self, connection: sqlite3.Connection, wanted: Iterable[tuple[str, int]]
    ) -> dict[str, Schedule]:
        """The schedules with these ids, whose present revisions are these."""
        found, missing = self.look_up(wanted)
        if missing:
            rows = connection.execute(_SQL["definitions"], {"ids": json.dumps(missing)})
            found |= self.read(rows)
        return found

    def look_up(self, wanted: Iterable[tuple[str, int]]) -> tuple[dict[str, Schedule], list[str]]:
        """Those that are kept, and the ids of the others."""
        found: dict[str, Schedule] = {}
        missing: list[str] = []
        kept, forward = self._kept, self._kept.move_to_end
        for schedule_id, revision in wanted:
            entry = kept.get(schedule_id)
            if entry is not None and entry[0] == revision:
                forward(schedule_id)
                found[schedule_id] = entry[1]
            else:
                missing.append(schedule_id)
        return found, missing

    def read(self, rows: Iterable[tuple[str, int, str]]) -> dict[str, Schedule]:
        """What rows of id, revision and definition mean; from now on kept."""
        return {
            schedule_id: self._keep(schedule_id, revision, self._read(schedule_id, text))
            for schedule_id, revision, text in rows
        }

    def _keep(self, schedule_id: str, revision: int, schedule: Schedule) -> Schedule:
        kept = self._kept
        kept[schedule_id] = (revision, schedule)
        kept.move_to_end(schedule_id)
        if len(kept) > self._cached_max:
            kept.popitem(last=False)
        return schedule

    def _read(self, schedule_id: str, text: str) -> Schedule:
        try:
            record = json.loads(text)
            if not isinstance(record, dict):
                raise ValueError("it is no record")
            return read_schedule(record)
        except ValueError as error:
            raise StoreError(
                f"holds a definition of {schedule_id} that cannot be read ({error})",
                where=self._path, hint="delete that schedule, or save it again",
            ) from error  # fmt: skip


def definition_text(schedule: Schedule) -> str:
    """The record of a schedule as one line of JSON; what is not set is left out."""
    record = {key: value for key, value in write_schedule(schedule).items() if value is not None}
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
