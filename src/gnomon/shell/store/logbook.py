"""
Who changed what, on SQLite: the log, and whose schedules are there for whom.

A schedule of another owner is not there for who asks on behalf of one. The line in the log is
written in the transaction of the change, and only when something was changed.

Spec: PORT-7, PORT-8.
"""

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from gnomon.core.schedule import Schedule
from gnomon.errors import ConflictError
from gnomon.ports.request import By
from gnomon.shell.store.instant_text import to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.revision import columns_of

__all__ = [
    "check_owner", "check_quota", "conflict", "logged", "schedule_of_run",
    "within_quota", "write_log",
]  # fmt: skip

_SQL = named("ledger.sql")
_Result = TypeVar("_Result")


def logged(
    connection: sqlite3.Connection, by: By | None, action: str, schedule_id: str, now_ms: int, *,
    nothing: _Result, work: Callable[[], _Result], changed: Callable[[_Result], bool] = bool,
) -> _Result:  # fmt: skip
    """Do `work` for who asks, with a line in the log; `nothing` when it is not there for them."""
    if by is None:
        return work()
    row = connection.execute(_SQL["owner"], {"id": schedule_id}).fetchone()
    if row is None or (by.user_id is not None and row[0] != by.user_id):
        return nothing
    result = work()
    if changed(result):
        write_log(connection, by, action, schedule_id, row[0], now_ms)
    return result


def write_log(
    connection: sqlite3.Connection, by: By, action: str, schedule_id: str, user_id: str | None,
    now_ms: int,
) -> None:  # fmt: skip
    values = {
        "now": to_text(now_ms), "subject": by.subject, "user_id": user_id, "action": action,
        "id": schedule_id, "detail": by.detail,
    }  # fmt: skip
    connection.execute(_SQL["write_log"], values)


def schedule_of_run(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute(_SQL["owner_of_run"], {"key": key}).fetchone()
    return None if row is None else str(row[0])


def check_owner(
    connection: sqlite3.Connection, schedule: Schedule, by: By | None, if_revision: int | None
) -> None:
    """Refuse to save what belongs to another owner, or is not as who asks believes."""
    row = connection.execute(_SQL["owner"], {"id": schedule.schedule_id}).fetchone()
    user_id, revision, deleted = (None, 0, True) if row is None else row
    error = conflict(
        schedule, by, if_revision, is_there=row is not None, user_id=user_id,
        revision=0 if deleted else revision,
    )  # fmt: skip
    if error is not None:
        raise error


def within_quota(
    connection: sqlite3.Connection, by: By | None, work: Callable[[], _Result]
) -> _Result:
    """Do `work`, unless the owner would have more schedules by it than are allowed."""
    if by is None or by.schedules_max is None:
        return work()
    values = {"user_id": by.user_id}
    (before,) = connection.execute(_SQL["schedules_of"], values).fetchone()
    result = work()
    (after,) = connection.execute(_SQL["schedules_of"], values).fetchone()
    check_quota(by, before, after)
    return result


def check_quota(by: By, before: int, after: int) -> None:
    """Refuse what would make the schedules of an owner more than are allowed."""
    if by.schedules_max is not None and after > max(before, by.schedules_max):
        raise ConflictError(
            f"may have {by.schedules_max} schedules, and would have {after}", where="user_id",
            got=by.user_id, hint="delete some, or have SCHEDULES_PER_USER raised",
        )  # fmt: skip


def conflict(
    schedule: Schedule, by: By | None, if_revision: int | None, *, is_there: bool,
    user_id: str | None, revision: int,
) -> ConflictError | None:  # fmt: skip
    """What stands against saving a schedule where this one is; None for nothing."""
    if by is not None and is_there and user_id != columns_of(schedule).user_id:
        return ConflictError(
            "belongs to another user", where="schedule_id", got=schedule.schedule_id,
            hint="choose another id, or leave it out",
        )  # fmt: skip
    if if_revision is not None and revision != if_revision:
        there = f"is at revision {revision}" if revision else "is not there"
        return ConflictError(
            f"{there} by now", where="if_revision", got=if_revision, hint="read it again"
        )
    return None
