"""
Definitions on PostgreSQL: saved, deleted.

Many are saved in one transaction, with one statement for each table. The rows of schedules that are
there are taken first; a new one that another worker was faster to add is noticed by counting, and
the whole is done again. Where the policy becomes `queue`, the runs that have begun are taken too:
an end asks whether there is a queue to wake, and would not see one that is about to be there.

Spec: LEDGER-13 to LEDGER-16, PG-4.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.schedule import Overlap, Schedule
from gnomon.ports import By, Saved
from gnomon.shell.store.definition_cache import DefinitionCache, definition_text
from gnomon.shell.store.expected import first_look
from gnomon.shell.store.logbook import check_quota
from gnomon.shell.store.postgres.commitment import KeyExistsError, insert_facts
from gnomon.shell.store.postgres.logbook import check_owners, logged, quota_count, write_log
from gnomon.shell.store.postgres.reading import definitions
from gnomon.shell.store.postgres.report import notify
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.revision import (
    FORGOTTEN_REVISION,
    Head,
    Revised,
    columns_of,
    passed_over,
    revise,
)

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["delete", "pause", "resume", "save", "save_and_log"]

_Revision = tuple[Schedule, Revised]


async def save(
    connection: "Connection", sql: Statements, cache: DefinitionCache,
    schedules: Sequence[Schedule], *, now_ms: int,
) -> list[Saved]:  # fmt: skip
    """Save many, each id at most once; all of them, or none."""
    heads = await _take(connection, sql, [one.schedule_id for one in schedules])
    formers = await _formers(connection, sql, cache, heads)
    await _look_ahead(connection, sql, heads, now_ms)
    forgotten = 0
    if len(heads) < len(schedules):
        forgotten = int(await connection.fetchval(sql["get_meta"], FORGOTTEN_REVISION) or 0)
    saved, new, changed = [], list[_Revision](), list[_Revision]()
    for schedule in schedules:
        schedule_id = schedule.schedule_id
        head = heads.get(schedule_id)
        former = formers.get(schedule_id)
        revised = revise(schedule, head, former, now_ms=now_ms, forgotten=forgotten)
        if revised is None:
            assert head is not None
            following = schedule.recurrence.next_epoch(head.cursor)
            saved.append(Saved(schedule_id, head.revision, False, following))
            continue
        (new if head is None else changed).append((schedule, revised))
        saved.append(Saved(schedule_id, revised.revision, True, revised.following))
    await _write(connection, sql, new, changed, now_ms)
    return saved


async def save_and_log(
    connection: "Connection", sql: Statements, cache: DefinitionCache,
    schedules: Sequence[Schedule], removed: Sequence[str], by: By | None, if_revision: int | None,
    now_ms: int,
) -> list[Saved]:  # fmt: skip
    """Save many and delete others for who asks, with a line in the log for each change."""
    before = await quota_count(connection, sql, by)
    if removed:  # in one order for all, whether they are saved or deleted
        await connection.fetch(sql["take"], [*(one.schedule_id for one in schedules), *removed])
    await check_owners(connection, sql, schedules, by, if_revision)
    for schedule_id in removed:

        async def work(gone: str = schedule_id) -> bool:
            return await delete(connection, sql, cache, gone, now_ms=now_ms)

        await logged(connection, sql, by, "delete", schedule_id, now_ms, nothing=False, work=work)
    saved = await save(connection, sql, cache, schedules, now_ms=now_ms) if schedules else []
    if by is not None:
        changed = {one.schedule_id for one in saved if one.changed}
        users = {
            one.schedule_id: columns_of(one).user_id
            for one in schedules
            if one.schedule_id in changed
        }
        await write_log(connection, sql, by, "upsert", users, now_ms)
        check_quota(by, before, await quota_count(connection, sql, by))
    return saved


async def pause(
    connection: "Connection", sql: Statements, schedule_id: str, *, until_ms: int | None,
    reason: str, now_ms: int,
) -> bool:  # fmt: skip
    # A statement that has waited for the row would not see a run that was asked for meanwhile.
    await connection.fetch(sql["take"], [schedule_id])
    found = await connection.fetch(sql["pause"], schedule_id, until_ms, reason, now_ms)
    return bool(found)


async def resume(
    connection: "Connection", sql: Statements, schedule_id: str, *, now_ms: int
) -> bool:
    """The pause ends now; the next turn says what becomes of the periods that fell into it."""
    head = (await _take(connection, sql, [schedule_id])).get(schedule_id)
    if head is None or head.is_deleted:
        return False
    await connection.execute(sql["resume"], schedule_id, now_ms)
    await notify(connection, sql)
    return True


async def delete(
    connection: "Connection", sql: Statements, cache: DefinitionCache, schedule_id: str, *,
    now_ms: int,
) -> bool:  # fmt: skip
    head = (await _take(connection, sql, [schedule_id])).get(schedule_id)
    if head is None or head.is_deleted:
        return False
    cursor = head.cursor
    formers = await _formers(connection, sql, cache, {schedule_id: head})
    if (former := formers.get(schedule_id)) is not None:
        cursor, passed = passed_over(former, cursor, now_ms // 1000, Reason.DELETED)
        facts = [(fact, schedule_id, head.revision) for fact in passed]
        await insert_facts(connection, sql, facts, now_ms)
    await connection.execute(sql["delete_waiting"], schedule_id, now_ms)
    await connection.execute(sql["delete_schedule"], schedule_id, cursor * 1000, now_ms)
    await connection.execute(sql["expect_nothing"], [schedule_id])
    return True


async def _take(
    connection: "Connection", sql: Statements, schedule_ids: list[str]
) -> dict[str, Head]:
    """Take the rows of those that are there; then say what they hold."""
    # Not of one that has come between the two: its row is not taken, and could change.
    taken = [row[0] for row in await connection.fetch(sql["take"], schedule_ids)]
    rows = await connection.fetch(sql["heads"], taken)
    return {
        schedule_id: Head(revision, cursor // 1000, paused, until, deleted is not None, waits)
        for schedule_id, revision, cursor, paused, until, deleted, waits in rows
    }


async def _formers(
    connection: "Connection", sql: Statements, cache: DefinitionCache, heads: dict[str, Head]
) -> dict[str, Schedule]:
    """The stored definitions; one that cannot be read is left out, and is not kept for that."""
    wanted = [(schedule_id, head.revision) for schedule_id, head in heads.items()]
    found, _ = await definitions(connection, sql, cache, wanted)
    return {schedule_id: definition.schedule for schedule_id, definition in found.items()}


async def _look_ahead(
    connection: "Connection", sql: Statements, heads: dict[str, Head], now_ms: int
) -> None:
    """Where periods are past that lie ahead, find out which."""
    after_ms = (now_ms - 1) // 1000 * 1000
    for schedule_id, head in heads.items():
        if head.reaches_ahead(now_ms):
            rows = await connection.fetch(sql["covered"], schedule_id, after_ms)
            covered = [(first // 1000, last // 1000, made // 1000) for first, last, made in rows]
            heads[schedule_id] = head._replace(covered=covered)


async def _write(
    connection: "Connection", sql: Statements, new: list[_Revision], changed: list[_Revision],
    now_ms: int,
) -> None:  # fmt: skip
    if new:
        # In one order for all, so that no two workers that add the same wait for each other.
        new.sort(key=lambda one: one[0].schedule_id)
        columns = zip(*map(_row, new), strict=True)
        done = await connection.execute(sql["insert_schedules"], *columns, now_ms)
        if int(done.rpartition(" ")[2]) != len(new):
            raise KeyExistsError
    if changed:
        await _let_end(connection, sql, changed)
        columns = zip(*map(_row, changed), strict=True)
        await connection.execute(sql["change_schedules"], *columns, now_ms)
    if written := new + changed:
        revisions = [
            (schedule.schedule_id, revised.revision, definition_text(schedule))
            for schedule, revised in written
        ]
        columns = zip(*revisions, strict=True)
        await connection.execute(sql["insert_revisions"], *columns, now_ms)
        facts = [
            (fact, schedule.schedule_id, revision)
            for schedule, revised in changed
            for fact, revision in revised.passed
        ]
        await insert_facts(connection, sql, facts, now_ms)
        await _expect(connection, sql, written, now_ms)
        await notify(connection, sql)


async def _let_end(connection: "Connection", sql: Statements, changed: list[_Revision]) -> None:
    """Where a queue comes into being, no end may be under way that has not seen it."""
    queues = [
        schedule.schedule_id for schedule, _ in changed if schedule.policy.overlap is Overlap.QUEUE
    ]
    if queues:
        await connection.fetch(sql["take_begun"], queues)


async def _expect(
    connection: "Connection", sql: Statements, written: list[_Revision], now_ms: int
) -> None:
    """Note when to look first at what is expected of schedules from now on."""
    looks, none = [], []
    for schedule, revised in written:
        look = first_look(schedule, max(revised.cursor, (now_ms - 1) // 1000))
        if look is None:
            none.append(schedule.schedule_id)
        else:
            looks.append((schedule.schedule_id, look.check_ms, look.after * 1000))
    if none:
        await connection.execute(sql["expect_nothing"], none)
    if looks:
        await connection.execute(sql["expect"], *zip(*looks, strict=True))


def _row(one: _Revision) -> tuple[str | int | None, ...]:
    schedule, (revision, cursor, following, wake_ms, _) = one
    next_ms = None if following is None else following * 1000
    return (
        schedule.schedule_id, *columns_of(schedule), revision, cursor * 1000, next_ms, wake_ms,
    )  # fmt: skip
