"""
What people ask of a ledger on SQLite: run it now, make up for these, leave that out, end this.

What such a request comes to is decided in `asking`; here it is written down, and the schedule is
looked at again. A run that never began is ended here; one in flight, or that may be, is marked for
the worker that holds it, or can end it.

Spec: ASK-1, ASK-2, ASK-7 to ASK-10.
"""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from gnomon.core.ledger.period import Fact
from gnomon.ports import By, RunRow
from gnomon.shell.store.asking import (
    Triggered,
    backfill_facts,
    manual_fact,
    next_ahead,
    read_skips,
    write_skips,
)
from gnomon.shell.store.commitment import insert_runs, new_row
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.history import run_of
from gnomon.shell.store.instant_text import from_text, to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.transaction import SqliteTransaction, driven

__all__ = ["backfill", "kill", "run", "skip_next", "trigger"]

_SQL = named("ledger.sql")


def trigger(
    connection: sqlite3.Connection, schedule_id: str, *, name: str, now_ms: int,
    nominal: int | None = None, params: str | None = None,
) -> Triggered:  # fmt: skip
    fact = manual_fact(schedule_id, name, now_ms, nominal)
    added = _add(connection, schedule_id, [fact], now_ms)
    if added and params is not None:
        connection.execute(_SQL["give_params"], {"key": fact.key, "params": params})
    return Triggered() if added is None else Triggered(run(connection, fact.key), added > 0)


def backfill(
    connection: sqlite3.Connection, schedule_id: str, *, name: str, nominals: Sequence[int],
    now_ms: int,
) -> int | None:  # fmt: skip
    facts = backfill_facts(schedule_id, name, nominals, now_ms)
    return _add(connection, schedule_id, facts.values(), now_ms)


def skip_next(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule_id: str, *, now_ms: int
) -> int | None:
    head = _head(connection, schedule_id)
    if head is None:
        return None
    revision, cursor, text = head
    now = to_text(now_ms)
    waiting = connection.execute(_SQL["next_waiting"], {"id": schedule_id, "now": now}).fetchone()
    if waiting is not None:
        key, run_at = waiting
        connection.execute(_SQL["leave_out"], {"key": key, "now": now})
        values = {"ids": json.dumps([schedule_id]), "now": now}
        connection.execute(_SQL["new_versions"], values)
        return from_text(run_at) // 1000
    skips = read_skips(text, cursor)
    schedule = cache.get(connection, schedule_id, revision)
    nominal = next_ahead(schedule, cursor, skips, now_ms=now_ms)
    if nominal is not None:
        values = {"id": schedule_id, "skips": write_skips([*skips, nominal]), "now": now}
        connection.execute(_SQL["set_skips"], values)
    return nominal


def kill(connection: sqlite3.Connection, key: str, *, by: By, now_ms: int) -> RunRow | None:
    values = {"key": key, "by": by.subject, "now": to_text(now_ms)}
    asked = connection.execute(_SQL["ask_to_end"], values).fetchone()
    if asked is not None:
        connection.execute(_SQL["end_waiting"], values)
        # A plan that starts it, made before and not yet committed, does not count any more.
        connection.execute(_SQL["wake"], {"id": asked[0], "at": values["now"]} | values)
    return run(connection, key)


def run(connection: sqlite3.Connection, key: str) -> RunRow | None:
    return driven(run_of(SqliteTransaction(connection, _SQL), key))


def _add(
    connection: sqlite3.Connection, schedule_id: str, facts: Iterable[Fact], now_ms: int
) -> int | None:
    """Add what is not there yet; how many that are, None when there is no such schedule."""
    head = _head(connection, schedule_id)
    if head is None:
        return None
    keys = json.dumps([fact.key for fact in facts])
    known = {row[0] for row in connection.execute(_SQL["written_runs"], {"keys": keys})}
    now = to_text(now_ms)
    rows = [new_row(fact, schedule_id, head[0], now) for fact in facts if fact.key not in known]
    if rows:
        insert_runs(connection, rows)
        connection.execute(_SQL["wake"], {"id": schedule_id, "at": now, "now": now})
    return len(rows)


def _head(connection: sqlite3.Connection, schedule_id: str) -> tuple[int, int, str] | None:
    """Revision, cursor and what is left out; None when it is not there."""
    row = connection.execute(_SQL["asked_head"], {"id": schedule_id}).fetchone()
    return None if row is None else (row[0], from_text(row[1]) // 1000, row[2])
