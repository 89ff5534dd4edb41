"""
Definitions: saved, paused, resumed, deleted.

What saving comes to is decided in `revision`; here it is written down. Deleting keeps the history,
settles what still waits, and leaves runs in flight to end.

Spec: LEDGER-13 to LEDGER-17.
"""

import sqlite3

from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.schedule import Schedule
from gnomon.core.schedule_record import write_schedule
from gnomon.errors import StoreError
from gnomon.ports import Saved
from gnomon.shell.store.commitment import insert_runs, new_row
from gnomon.shell.store.definition_cache import Definition, DefinitionCache, definition_text
from gnomon.shell.store.expected import first_look
from gnomon.shell.store.instant_text import from_text, maybe_from_text, maybe_to_text, to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.revision import FORGOTTEN_REVISION, Head, columns_of, passed_over, revise

__all__ = ["delete", "pause", "resume", "revision_of", "save"]

_SQL = named("ledger.sql")


def save(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule: Schedule, *, now_ms: int,
    after_ms: int = 0,
) -> Saved:  # fmt: skip
    schedule_id, now = schedule.schedule_id, to_text(now_ms)
    head = _head(connection, schedule_id)
    former = None if head is None else _former(connection, cache, schedule_id, head)
    if head is not None and head.reaches_ahead(now_ms):
        head = head._replace(covered=_covered(connection, schedule_id, now_ms))
    forgotten = _forgotten(connection) if head is None else 0
    revised = revise(schedule, head, former, now_ms=now_ms, forgotten=forgotten, after_ms=after_ms)
    if revised is None:
        assert head is not None
        following = schedule.recurrence.next_epoch(head.cursor)
        return Saved(schedule_id, head.revision, changed=False, next_nominal=following)
    revision, cursor, following, wake_ms, passed = revised
    rows = [new_row(fact, schedule_id, of_revision, now) for fact, of_revision in passed]
    insert_runs(connection, rows)
    record = write_schedule(schedule)
    columns = columns_of(schedule, record)._asdict()
    for name in ("start", "end"):
        columns[f"{name}_at"] = maybe_to_text(columns.pop(f"{name}_ms"))
    values = columns | {
        "id": schedule_id, "now": now, "revision": revision, "cursor": to_text(cursor * 1000),
        "next": None if following is None else to_text(following * 1000),
        "wake": maybe_to_text(wake_ms),
    }  # fmt: skip
    connection.execute(_SQL["insert_schedule" if head is None else "change_schedule"], values)
    text = definition_text(schedule, record)
    connection.execute(_SQL["insert_revision"], (schedule_id, revision, now, text))
    _expect(connection, schedule, max(cursor, (now_ms - 1) // 1000))
    return Saved(schedule_id, revision, changed=True, next_nominal=following)


def _expect(connection: sqlite3.Connection, schedule: Schedule, cursor: int) -> None:
    """Note when to look first at what is expected of a schedule from now on."""
    look = first_look(schedule, cursor)
    if look is None:
        connection.execute(_SQL["expect_nothing"], {"id": schedule.schedule_id})
        return
    values = {
        "id": schedule.schedule_id, "check": to_text(look.check_ms),
        "after": to_text(look.after * 1000),
    }  # fmt: skip
    connection.execute(_SQL["expect"], values)


def pause(
    connection: sqlite3.Connection, schedule_id: str, *, until_ms: int | None, reason: str,
    now_ms: int,
) -> bool:  # fmt: skip
    values = {
        "id": schedule_id, "until": maybe_to_text(until_ms), "reason": reason,
        "now": to_text(now_ms),
    }  # fmt: skip
    return connection.execute(_SQL["pause"], values).rowcount > 0


def resume(connection: sqlite3.Connection, schedule_id: str, *, now_ms: int) -> bool:
    """The pause ends now; the next turn says what becomes of the periods that fell into it."""
    head = _head(connection, schedule_id)
    if head is None or head.is_deleted:
        return False
    connection.execute(_SQL["resume"], {"id": schedule_id, "now": to_text(now_ms)})
    return True


def delete(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule_id: str, *, now_ms: int
) -> bool:
    head = _head(connection, schedule_id)
    if head is None or head.is_deleted:
        return False
    now, cursor = to_text(now_ms), head.cursor
    former = _former(connection, cache, schedule_id, head)
    if former is not None:
        cursor, passed = passed_over(former, cursor, now_ms // 1000, Reason.DELETED)
        rows = [new_row(fact, schedule_id, head.revision, now) for fact in passed]
        insert_runs(connection, rows)
    connection.execute(_SQL["delete_waiting"], {"id": schedule_id, "now": now})
    values = {"id": schedule_id, "now": now, "cursor": to_text(cursor * 1000)}
    connection.execute(_SQL["delete_schedule"], values)
    connection.execute(_SQL["expect_nothing"], {"id": schedule_id})
    return True


def revision_of(
    connection: sqlite3.Connection, path: str, schedule_id: str, revision: int
) -> Schedule | None:
    """A definition that was once in force; None when there is none, or it cannot be read."""
    values = {"id": schedule_id, "revision": revision}
    row = connection.execute(_SQL["revision"], values).fetchone()
    if row is None:
        return None
    found: dict[str, Definition] = {}
    DefinitionCache(path, cached_max=1).read([(schedule_id, revision, 0, row[0])], found)
    return found[schedule_id].schedule if found else None


def _forgotten(connection: sqlite3.Connection) -> int:
    row = connection.execute(_SQL["get_meta"], {"name": FORGOTTEN_REVISION}).fetchone()
    return 0 if row is None else int(row[0])


def _head(connection: sqlite3.Connection, schedule_id: str) -> Head | None:
    row = connection.execute(_SQL["head"], {"id": schedule_id}).fetchone()
    if row is None:
        return None
    (waits,) = connection.execute(_SQL["has_waiting"], {"id": schedule_id}).fetchone()
    revision, _, cursor_at, _, paused, paused_until, deleted_at = row
    return Head(
        revision, from_text(cursor_at) // 1000, bool(paused), maybe_from_text(paused_until),
        deleted_at is not None, bool(waits),
    )  # fmt: skip


def _covered(
    connection: sqlite3.Connection, schedule_id: str, now_ms: int
) -> list[tuple[int, int, int]]:
    values = {"id": schedule_id, "after": to_text((now_ms - 1) // 1000 * 1000)}
    rows = connection.execute(_SQL["covered"], values)
    return [
        (from_text(first) // 1000, from_text(last) // 1000, from_text(created) // 1000)
        for first, last, created in rows
    ]


def _former(
    connection: sqlite3.Connection, cache: DefinitionCache, schedule_id: str, head: Head
) -> Schedule | None:
    """The stored definition; None when it cannot be read, which must not keep it from going."""
    try:
        return cache.get(connection, schedule_id, head.revision)
    except StoreError:
        return None
