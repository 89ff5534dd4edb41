"""
Definitions as values: what a stored record means, read once and kept while there is room.

A record is read once for each schedule and revision. The number of values kept is bounded, so that
memory does not grow with the number of schedules; a revision never changes, so that what is kept
never goes stale. Many schedules have policies in common; those are kept once.
"""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from gnomon.core.schedule import Policy, Schedule
from gnomon.core.schedule_record import Record, read_schedule, write_schedule
from gnomon.errors import StoreError
from gnomon.shell.store.instant_text import from_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.transaction import Transaction

__all__ = ["CACHED_MAX", "Definition", "DefinitionCache", "definition_text"]

CACHED_MAX = 10_000
"""How many schedules are kept as values."""

_SQL = named("ledger.sql")


class _DefinitionRow(NamedTuple):
    """A definition as it is stored."""

    schedule_id: str
    revision: int
    effective_at: int
    definition: str


class Definition(NamedTuple):
    """A revision of a schedule."""

    revision: int
    schedule: Schedule
    effective_ms: int
    """Since when it is in force."""


class DefinitionCache:
    """The most recently used schedules by id and revision."""

    def __init__(self, path: str, cached_max: int = CACHED_MAX) -> None:
        self._path = path
        self._cached_max = cached_max
        self._kept: OrderedDict[str, Definition] = OrderedDict()
        self._policies: dict[Policy, Policy] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, connection: sqlite3.Connection, schedule_id: str, revision: int) -> Schedule:
        """The schedule with this id, whose present revision is this; an error if unreadable."""
        found, errors = self.find(connection, [(schedule_id, revision)])
        for error in errors:
            raise error
        return found[schedule_id].schedule

    def find(
        self, connection: sqlite3.Connection, wanted: Iterable[tuple[str, int]]
    ) -> tuple[dict[str, Definition], list[StoreError]]:
        """The definitions of these ids and revisions, and what is wrong with the others."""
        found, missing = self.look_up(wanted)
        if not missing:
            return found, []
        rows = connection.execute(_SQL["definitions"], {"ids": json.dumps(missing)})
        errors = self.read(
            (
                (schedule_id, revision, from_text(effective_at), text)
                for schedule_id, revision, effective_at, text in rows
            ),
            found,
        )
        return found, errors

    async def find_in(
        self, transaction: Transaction, wanted: Iterable[tuple[str, int]]
    ) -> tuple[dict[str, Definition], list[StoreError]]:
        """The same in a transaction of either database."""
        found, missing = self.look_up(wanted)
        if not missing:
            return found, []
        rows = await transaction.rows(_DefinitionRow, "definitions", ids=missing)
        return found, self.read(rows, found)

    def look_up(self, wanted: Iterable[tuple[str, int]]) -> tuple[dict[str, Definition], list[str]]:
        """Those that are kept, and the ids of the others."""
        found: dict[str, Definition] = {}
        missing: list[str] = []
        kept, forward = self._kept, self._kept.move_to_end
        for schedule_id, revision in wanted:
            entry = kept.get(schedule_id)
            if entry is not None and entry[0] == revision:
                forward(schedule_id)
                found[schedule_id] = entry
            else:
                missing.append(schedule_id)
        return found, missing

    def read(
        self, rows: Iterable[tuple[str, int, int, str]], found: dict[str, Definition]
    ) -> list[StoreError]:
        """
        Add to `found`, and keep, what rows of id, revision, instant and record mean.

        What is wrong with those that cannot be read is returned.
        """
        errors = []
        for schedule_id, revision, effective_ms, text in rows:
            try:
                schedule = self.value_of(schedule_id, text)
            except StoreError as error:
                errors.append(error)
                continue
            definition = Definition(revision, schedule, effective_ms)
            found[schedule_id] = self._keep(schedule_id, definition)
        return errors

    def keep(self, schedule: Schedule, revision: int, effective_ms: int) -> None:
        """Keep a value that is there already, so that it need not be read."""
        self._keep(schedule.schedule_id, Definition(revision, schedule, effective_ms))

    def _keep(self, schedule_id: str, definition: Definition) -> Definition:
        kept = self._kept
        kept[schedule_id] = definition
        kept.move_to_end(schedule_id)
        if len(kept) > self._cached_max:
            kept.popitem(last=False)
        return definition

    def value_of(self, schedule_id: str, text: str) -> Schedule:
        """What a stored record means, read afresh."""
        try:
            record = json.loads(text)
            if not isinstance(record, dict):
                raise ValueError("it is no record")
            schedule = read_schedule(record)
        except ValueError as error:
            raise StoreError(
                f"holds a definition of {schedule_id} that cannot be read ({error})",
                where=self._path, hint="delete that schedule, or save it again",
            ) from error  # fmt: skip
        policy = self._policies.setdefault(schedule.policy, schedule.policy)
        return replace(schedule, policy=policy)


def definition_text(schedule: Schedule, record: Record | None = None) -> str:
    """The record of a schedule as one line of JSON; what is not set is left out."""
    whole = write_schedule(schedule) if record is None else record
    record = {key: value for key, value in whole.items() if value is not None}
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
