"""
Who changed what: the log, and whose schedules are there for whom.

A schedule of another owner is not there for a caller that asks on behalf of one. The row of the
schedule is taken before the owner is looked up, so that what was found holds until the transaction
ends. The line in the log is written in the transaction of the change, and only when something was
changed.

Spec: PORT-7, PORT-8.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from gnomon.core.schedule import Schedule
from gnomon.errors import ConflictError
from gnomon.ports.ledger_rows import By
from gnomon.shell.store.revision import columns_of
from gnomon.shell.store.transaction import Transaction

__all__ = ["check_owners", "check_quota", "logged", "quota_count", "write_log"]

_Result = TypeVar("_Result")


class _OwnerRow(NamedTuple):
    schedule_id: str
    user_id: str | None
    revision: int
    deleted: int


class _CountRow(NamedTuple):
    schedules: int


async def logged(
    transaction: Transaction, by: By | None, action: str, schedule_id: str, now_ms: int, *,
    nothing: _Result, work: Callable[[], Awaitable[_Result]],
    changed: Callable[[_Result], bool] = bool,
) -> _Result:  # fmt: skip
    """Do `work` for a caller, with a line in the log; `nothing` when it is not there for them."""
    if by is None:
        return await work()
    found = (await _owners(transaction, [schedule_id])).get(schedule_id)
    if found is None or (by.user_id is not None and found.user_id != by.user_id):
        return nothing
    result = await work()
    if changed(result):
        await write_log(transaction, by, action, {schedule_id: found.user_id}, now_ms)
    return result


async def write_log(
    transaction: Transaction, by: By, action: str, users: Mapping[str, str | None], now_ms: int
) -> None:
    """A line for each of these schedules, with whose it is."""
    await transaction.run_each(
        "write_log",
        [
            {
                "now_at": now_ms, "subject": by.subject, "user_id": user_id, "action": action,
                "id": schedule_id, "detail": by.detail,
            }
            for schedule_id, user_id in users.items()
        ],
    )  # fmt: skip


async def check_owners(
    transaction: Transaction, schedules: Sequence[Schedule], by: By | None, if_revision: int | None
) -> None:
    """Refuse to save what belongs to another owner, or is not as the caller believes."""
    if by is None and if_revision is None:
        return
    found = await _owners(transaction, [one.schedule_id for one in schedules])
    for schedule in schedules:
        owner = found.get(schedule.schedule_id)
        error = _conflict(schedule, by, if_revision, owner)
        if error is not None:
            raise error


async def quota_count(transaction: Transaction, by: By | None) -> int:
    """How many schedules the owner has, where that is bounded; no other caller adds one now."""
    if by is None or by.schedules_max is None:
        return 0
    await transaction.run("alone_for", user_id=by.user_id)
    (row,) = await transaction.rows(_CountRow, "schedules_of", user_id=by.user_id)
    return row.schedules


def check_quota(by: By | None, before: int, after: int) -> None:
    """Refuse what would make the schedules of an owner more than are allowed."""
    if by is None or by.schedules_max is None:
        return
    if after > max(before, by.schedules_max):
        raise ConflictError(
            f"may have {by.schedules_max} schedules, and would have {after}", where="user_id",
            got=by.user_id, hint="delete some, or have SCHEDULES_PER_USER raised",
        )  # fmt: skip


async def _owners(transaction: Transaction, schedule_ids: list[str]) -> dict[str, _OwnerRow]:
    """Take these schedules, as far as they are there; whose they are."""
    rows = await transaction.rows(_OwnerRow, "owners", ids=schedule_ids)
    return {row.schedule_id: row for row in rows}


def _conflict(
    schedule: Schedule, by: By | None, if_revision: int | None, owner: _OwnerRow | None
) -> ConflictError | None:
    """What stands against saving a schedule where this one is; None for nothing."""
    if by is not None and owner is not None and owner.user_id != columns_of(schedule).user_id:
        return ConflictError(
            "belongs to another user", where="schedule_id", got=schedule.schedule_id,
            hint="choose another id, or leave it out",
        )  # fmt: skip
    revision = 0 if owner is None or owner.deleted else owner.revision
    if if_revision is not None and revision != if_revision:
        there = f"is at revision {revision}" if revision else "is not there"
        return ConflictError(
            f"{there} by now", where="if_revision", got=if_revision, hint="read it again"
        )
    return None
