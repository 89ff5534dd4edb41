"""
What is due: the schedules to look at, each with its open periods.

A schedule is looked at when its wake has come, or when a run of it is lost: in flight with a lease
that is over. Lost runs come first, because callers wait for them and they are soon settled; then
the oldest wake. The cost follows from what is due and not from what is stored.

A schedule whose definition cannot be read is put off for a minute each time, with a line in the
log, and the others go on. A deleted schedule comes with what is lost of it, which the engine
settles as it does everything else.

Spec: LEDGER-5, LEDGER-8.
"""

import json
import logging
import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from gnomon.core.engine import Due, Pause
from gnomon.shell.observe.log import log
from gnomon.shell.store.asking import read_skips
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import from_text, maybe_from_text, to_text
from gnomon.shell.store.open_periods import OpenPeriods
from gnomon.shell.store.queries import named

__all__ = ["UNREAD_MS", "Loaded", "load", "next_wake_ms", "put_off", "still_owes"]

UNREAD_MS = 60_000
"""How long a schedule that cannot be read is left alone."""

_SQL = named("ledger.sql")

_new = tuple.__new__  # a named tuple in half the time that its own constructor takes

_Head = tuple[str, int, int, str, str | None]
"""Id, revision, version, cursor, and what few have: a pause and periods to leave out."""


class Loaded(NamedTuple):
    """What is to be looked at."""

    dues: list[Due]
    unread: list[str]
    """Schedules whose definition cannot be read."""


def load(
    connection: sqlite3.Connection, cache: DefinitionCache, *, now_ms: int, limit: int
) -> Loaded:
    now = to_text(now_ms)
    lost = dict(connection.execute(_SQL["lost"], {"now": now, "limit": limit}).fetchall())
    heads = _heads(connection, lost, now, limit)
    if not heads:
        return Loaded([], [])
    opened = _open_periods(connection, [head[0] for head in heads], now)
    definitions, errors = cache.find(connection, [(head[0], head[1]) for head in heads])
    nothing = OpenPeriods()
    dues, unread = list[Due](), list[str]()
    last_at, cursor = "", 0  # many are as far as their neighbour
    for schedule_id, _, version, cursor_at, apart in heads:
        definition = definitions.get(schedule_id)
        if definition is None:
            unread.append(schedule_id)
            continue
        revision, schedule, effective_ms = definition
        if cursor_at != last_at:
            last_at, cursor = cursor_at, from_text(cursor_at) // 1000
        pause, skips = (None, ()) if apart is None else _read_apart(apart, cursor)
        open_now = opened.get(schedule_id, nothing)
        values = (
            schedule, version, cursor, pause, open_now.waiting, open_now.in_flight, open_now.lost,
            effective_ms, revision, skips, bool(lost and lost.get(schedule_id)),
        )  # fmt: skip
        dues.append(_new(Due, values))
    for error in errors:
        log(logging.ERROR, "a schedule cannot be read, the others go on", error=str(error))
    return Loaded(dues, unread)


def put_off(connection: sqlite3.Connection, schedule_ids: list[str], *, now_ms: int) -> None:
    """Look again later at schedules that cannot be read, so that they are not in the way."""
    values = {"ids": json.dumps(schedule_ids), "at": to_text(now_ms + UNREAD_MS)}
    connection.execute(_SQL["look_later"], values)
    connection.execute(_SQL["lose_later"], values | {"now": to_text(now_ms)})


def next_wake_ms(connection: sqlite3.Connection) -> int | None:
    (wake,) = connection.execute(_SQL["next_wake"]).fetchone()
    (lease,) = connection.execute(_SQL["next_lease"]).fetchone()
    instants = [] if wake is None else [from_text(wake)]
    if lease is not None:
        instants.append(from_text(lease) + 1)  # a lease is over when its last instant has passed
    return min(instants, default=None)


def still_owes(connection: sqlite3.Connection, *, at_ms: int) -> bool:
    """Whether something that was to be started by an instant has not been started yet."""
    next_ms = next_wake_ms(connection)
    if next_ms is not None and next_ms <= at_ms:
        return True
    (found,) = connection.execute(_SQL["still_owes"], {"at": to_text(at_ms)}).fetchone()
    return bool(found)


def _heads(
    connection: sqlite3.Connection, lost: Mapping[str, int], now: str, limit: int
) -> list[_Head]:
    if not lost:
        return connection.execute(_SQL["due"], {"now": now, "limit": limit}).fetchall()
    heads = connection.execute(_SQL["chosen"], {"ids": json.dumps(list(lost))}).fetchall()
    due = connection.execute(_SQL["due"], {"now": now, "limit": limit})
    heads += [head for head in due if head[0] not in lost]
    return heads[:limit]


def _read_apart(text: str, cursor: int) -> tuple[Pause | None, tuple[int, ...]]:
    paused, paused_until, skips = json.loads(text)
    pause = Pause(maybe_from_text(paused_until)) if paused else None
    return pause, read_skips(skips, cursor)


def _open_periods(
    connection: sqlite3.Connection, schedule_ids: list[str], now: str
) -> dict[str, OpenPeriods]:
    found: dict[str, OpenPeriods] = {}
    rows = connection.execute(_SQL["open_runs"], {"ids": json.dumps(schedule_ids)})
    for schedule_id, key, run_at, fire_at, state, fence, launches, lease_until, *words in rows:
        periods = found.get(schedule_id)
        if periods is None:
            periods = found[schedule_id] = OpenPeriods()
        periods.add(
            key, from_text(run_at) // 1000, from_text(fire_at), state, fence, launches,
            is_lost=lease_until is not None and lease_until < now, confirmed=bool(words[0]),
            detached=bool(words[1]), kill_ms=maybe_from_text(words[2]), may_have_run=bool(words[3]),
            chosen_ms=maybe_from_text(words[4]), has_failed=bool(words[5]),
        )  # fmt: skip
    return found
