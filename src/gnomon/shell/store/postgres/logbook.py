"""
Who changed what, on PostgreSQL: the log, and whose schedules are there for whom.

The row of the schedule is taken before anybody looks whose it is, so that what was found holds
until the transaction ends.

Spec: PORT-7, PORT-8.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gnomon.core.schedule import Schedule
from gnomon.ports.request import By
from gnomon.shell.store.logbook import conflict
from gnomon.shell.store.postgres.statement import Statements

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["check_owners", "logged", "owners", "quota_count", "write_log"]

_Result = TypeVar("_Result")


class _Owner(NamedTuple):
    user_id: str | None
    revision: int
    deleted: bool


async def logged(
    connection: "Connection", sql: Statements, by: By | None, action: str, schedule_id: str,
    now_ms: int, *, nothing: _Result, work: Callable[[], Awaitable[_Result]],
    changed: Callable[[_Result], bool] = bool,
) -> _Result:  # fmt: skip
    """Do `work` for who asks, with a line in the log; `nothing` when it is not there for them."""
    if by is None:
        return await work()
    found = (await owners(connection, sql, [schedule_id])).get(schedule_id)
    if found is None or (by.user_id is not None and found.user_id != by.user_id):
        return nothing
    result = await work()
    if changed(result):
        await write_log(connection, sql, by, action, {schedule_id: found.user_id}, now_ms)
    return result


async def owners(
    connection: "Connection", sql: Statements, schedule_ids: Sequence[str]
) -> dict[str, _Owner]:
    """Take these schedules, as far as they are there; whose they are."""
    rows = await connection.fetch(sql["owners"], schedule_ids)
    return {row[0]: _Owner(*row[1:]) for row in rows}


async def write_log(
    connection: "Connection", sql: Statements, by: By, action: str,
    users: dict[str, str | None], now_ms: int,
) -> None:  # fmt: skip
    """A line for each of these schedules, with whose it is."""
    if users:
        values = list(users), list(users.values()), action, by.subject, by.detail, now_ms
        await connection.execute(sql["write_log"], *values)


async def check_owners(
    connection: "Connection", sql: Statements, schedules: Sequence[Schedule], by: By | None,
    if_revision: int | None,
) -> None:  # fmt: skip
    """Refuse to save what belongs to another owner, or is not as who asks believes."""
    if by is None and if_revision is None:
        return
    found = await owners(connection, sql, [one.schedule_id for one in schedules])
    for schedule in schedules:
        owner = found.get(schedule.schedule_id)
        error = conflict(
            schedule, by, if_revision, is_there=owner is not None,
            user_id=None if owner is None else owner.user_id,
            revision=0 if owner is None or owner.deleted else owner.revision,
        )  # fmt: skip
        if error is not None:
            raise error


async def quota_count(connection: "Connection", sql: Statements, by: By | None) -> int:
    """How many schedules the owner has, where that is bounded; no other caller adds one now."""
    if by is None or by.schedules_max is None:
        return 0
    await connection.execute(sql["alone_for"], by.user_id)
    return int(await connection.fetchval(sql["schedules_of"], by.user_id))
