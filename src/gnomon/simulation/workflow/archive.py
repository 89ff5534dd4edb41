"""
What a store has known, also after it has forgotten it; and whether it was allowed to forget it.

Before some is forgotten all tables are copied, row by row, so that the audit can judge the whole
history. What is gone afterwards must have been over: a run that is not one of the newest, an event
that was consumed or skipped and that the producer has not published for as long as is kept. An
event that was forgotten and comes again would be dealt with twice.

Spec: WSIM-14.
"""

import sqlite3
from collections.abc import Callable

from gnomon.simulation.kit.notes import Notes
from gnomon.simulation.workflow.outside import Outside

__all__ = ["Archive"]

_HOUR_MS = 3_600_000
"""A store notes when an event was last published once an hour."""
_KEYS = {
    "workflows": ("name",), "topics": ("name",), "runs": ("number",), "mutations": ("run",),
    "events": ("topic", "id"),
}  # fmt: skip
_Rows = set[tuple[object, ...]]


class Archive:
    """All rows that ever were, as they were last."""

    def __init__(
        self, tables: Callable[[], sqlite3.Connection], outside: Outside, notes: Notes, *,
        keep_ms: int, runs_kept: int,
    ) -> None:  # fmt: skip
        self._tables = tables
        self._outside = outside
        self._notes = notes
        self._keep_ms = keep_ms
        self._runs_kept = runs_kept
        self._known = sqlite3.connect(":memory:")
        for name, keys in _KEYS.items():
            columns = ", ".join(_columns(tables(), name))
            self._known.execute(f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({', '.join(keys)}))")
        self._runs: _Rows = set()
        self._events: _Rows = set()
        self._numbers: dict[object, object] = {}

    def whole(self) -> sqlite3.Connection:
        """Everything that was ever known."""
        now = self._tables()
        for name in _KEYS:
            columns = _columns(now, name)
            marks = ", ".join("?" * len(columns))
            rows = now.execute(" ".join(("SELECT", ", ".join(columns), "FROM", name))).fetchall()
            self._known.executemany(" ".join(("REPLACE INTO", name, f"VALUES ({marks})")), rows)
        return self._known

    def before(self) -> None:
        """Some is about to be forgotten."""
        self.whole()
        self._runs, self._events = self._there()

    def after(self, *, at: int) -> list[str]:
        """Some was forgotten: what of it should not have been."""
        found = []
        runs, events = self._there()
        (newest,) = self._tables().execute("SELECT max(runs) FROM workflows").fetchone()
        for (number,) in self._runs - runs:
            self._notes.hit("forgot a run")
            if isinstance(number, int) and number > newest - self._runs_kept:
                found.append(f"run {number} of {newest} was forgotten")
        for topic, id, status in self._events - events:
            self._notes.hit("forgot an event")
            if status not in ("consumed", "skipped"):
                found.append(f"{topic}/{id} was forgotten while it was {status}")
            published = self._outside.published.get(str(id))
            if topic == "orders" and published is not None and self._is_late(published, at):
                found.append(f"{topic}/{id} was forgotten, and was published lately")
        return found

    def again(self) -> list[str]:
        """The events that are there under another number than before."""
        found = []
        for topic, id, number in self._tables().execute("SELECT topic, id, number FROM events"):
            if self._numbers.setdefault((topic, id), number) != number:
                found.append(f"{topic}/{id} was forgotten, and has come again")
                self._numbers[topic, id] = number
        return found

    def close(self) -> None:
        self._known.close()

    def _is_late(self, published: int, at: int) -> bool:
        return at - published < self._keep_ms - _HOUR_MS

    def _there(self) -> tuple[_Rows, _Rows]:
        now = self._tables()
        return (
            set(now.execute("SELECT number FROM runs")),
            set(now.execute("SELECT topic, id, status FROM events")),
        )


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
