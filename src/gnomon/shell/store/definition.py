"""
Definitions: saved, paused, resumed, deleted.

What saving comes to is decided in `revision`; here it is written down. Many are saved in one
transaction. The rows of schedules that are there are taken first; where another worker was faster
to add a new one, the whole is done again. Where the policy becomes `queue`, the runs that have
begun are taken too: an end asks whether there is a queue to wake, and would not see one that is
about to be there. Deleting keeps the history, settles what still waits, and leaves runs in flight
to end.

Spec: LEDGER-13 to LEDGER-17, PG-4.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Reason
from gnomon.core.schedule import Overlap, Schedule
from gnomon.core.schedule_record import Record, write_schedule
from gnomon.ports import By, Saved
from gnomon.shell.store.definition_cache import DefinitionCache, definition_text
from gnomon.shell.store.expected import first_look
from gnomon.shell.store.instant_text import check_instant
from gnomon.shell.store.logbook import check_owners, check_quota, logged, quota_count, write_log
from gnomon.shell.store.new_runs import add_runs
from gnomon.shell.store.revision import (
    FORGOTTEN_REVISION,
    Head,
    Revised,
    columns_of,
    passed_over,
    revise,
)
from gnomon.shell.store.transaction import Transaction, Value

__all__ = ["delete", "pause", "resume", "save", "save_and_log"]

_Revision = tuple[Schedule, Revised]


class _IdRow(NamedTuple):
    schedule_id: str


class _KeyRow(NamedTuple):
    idempotency_key: str


class _HeadRow(NamedTuple):
    schedule_id: str
    revision: int
    cursor_at: int
    paused: int
    paused_until: int | None
    deleted_at: int | None
    waits: int


class _CoveredRow(NamedTuple):
    run_at: int
    last_at: int
    created_at: int


class _NoteRow(NamedTuple):
    value: str


async def save(
    transaction: Transaction, cache: DefinitionCache, schedules: Sequence[Schedule], *,
    now_ms: int, after_ms: int = 0,
) -> list[Saved]:  # fmt: skip
    """Save many, each id at most once; a new one owes nothing that opened by `after_ms`."""
    heads = await _take(transaction, [one.schedule_id for one in schedules])
    formers = await _formers(transaction, cache, heads)
    await _look_ahead(transaction, heads, now_ms)
    forgotten = await _forgotten(transaction) if len(heads) < len(schedules) else 0
    saved, new, changed = [], list[_Revision](), list[_Revision]()
    for schedule in schedules:
        schedule_id = schedule.schedule_id
        head = heads.get(schedule_id)
        revised = revise(
            schedule, head, formers.get(schedule_id), now_ms=now_ms, forgotten=forgotten,
            after_ms=after_ms,
        )  # fmt: skip
        if revised is None:
            assert head is not None
            following = schedule.recurrence.next_epoch(head.cursor)
            saved.append(Saved(schedule_id, head.revision, False, following))
            continue
        (new if head is None else changed).append((schedule, revised))
        saved.append(Saved(schedule_id, revised.revision, True, revised.following))
    await _write(transaction, new, changed, now_ms)
    return saved


async def save_and_log(
    transaction: Transaction, cache: DefinitionCache, schedules: Sequence[Schedule],
    removed: Sequence[str], by: By | None, if_revision: int | None, now_ms: int,
) -> list[Saved]:  # fmt: skip
    """Save many and delete others for a caller, with a line in the log for each change."""
    before = await quota_count(transaction, by)
    if removed:  # in one order for all, whether they are saved or deleted
        await _taken(transaction, [*(one.schedule_id for one in schedules), *removed])
    await check_owners(transaction, schedules, by, if_revision)
    for schedule_id in removed:

        async def work(gone: str = schedule_id) -> bool:
            return await delete(transaction, cache, gone, now_ms=now_ms)

        await logged(transaction, by, "delete", schedule_id, now_ms, nothing=False, work=work)
    saved = await save(transaction, cache, schedules, now_ms=now_ms) if schedules else []
    if by is not None:
        changed = {one.schedule_id for one in saved if one.changed}
        users = {
            one.schedule_id: columns_of(one).user_id
            for one in schedules
            if one.schedule_id in changed
        }
        await write_log(transaction, by, "upsert", users, now_ms)
        check_quota(by, before, await quota_count(transaction, by))
    return saved


async def pause(
    transaction: Transaction, schedule_id: str, *, until_ms: int | None, reason: str, now_ms: int
) -> bool:
    if until_ms is not None:
        check_instant(until_ms)
    # A statement that has waited for the row would not see a run that was asked for meanwhile.
    await _taken(transaction, [schedule_id])
    return bool(
        await transaction.run(
            "pause", id=schedule_id, paused_until=until_ms, reason=reason, now_at=now_ms
        )
    )


async def resume(transaction: Transaction, schedule_id: str, *, now_ms: int) -> bool:
    """The pause ends now; the next turn says what becomes of the periods that fell into it."""
    head = (await _take(transaction, [schedule_id])).get(schedule_id)
    if head is None or head.is_deleted:
        return False
    await transaction.run("resume", id=schedule_id, now_at=now_ms)
    await transaction.tell_workers()
    return True


async def delete(
    transaction: Transaction, cache: DefinitionCache, schedule_id: str, *, now_ms: int
) -> bool:
    head = (await _take(transaction, [schedule_id])).get(schedule_id)
    if head is None or head.is_deleted:
        return False
    cursor = head.cursor
    formers = await _formers(transaction, cache, {schedule_id: head})
    if (former := formers.get(schedule_id)) is not None:
        cursor, passed = passed_over(former, cursor, now_ms // 1000, Reason.DELETED)
        facts = [(fact, schedule_id, head.revision) for fact in passed]
        await add_runs(transaction, facts, now_ms)
    await transaction.run("delete_waiting", id=schedule_id, now_at=now_ms)
    await transaction.run("delete_schedule", id=schedule_id, cursor_at=cursor * 1000, now_at=now_ms)
    await transaction.run("expect_nothing", ids=[schedule_id])
    return True


async def _taken(transaction: Transaction, schedule_ids: list[str]) -> list[str]:
    """Take the rows of those that are there."""
    rows = await transaction.rows(_IdRow, "take", ids=schedule_ids)
    return [row.schedule_id for row in rows]


async def _take(transaction: Transaction, schedule_ids: list[str]) -> dict[str, Head]:
    """Take the rows of those that are there; then say what they hold."""
    # Not of one that has come between the two: its row is not taken, and could change.
    taken = await _taken(transaction, schedule_ids)
    return {
        row.schedule_id: Head(
            row.revision, row.cursor_at // 1000, bool(row.paused), row.paused_until,
            row.deleted_at is not None, bool(row.waits),
        )
        for row in await transaction.rows(_HeadRow, "heads", ids=taken)
    }  # fmt: skip


async def _formers(
    transaction: Transaction, cache: DefinitionCache, heads: dict[str, Head]
) -> dict[str, Schedule]:
    """The stored definitions; one that cannot be read is left out, and is not kept for that."""
    wanted = [(schedule_id, head.revision) for schedule_id, head in heads.items()]
    found, _ = await cache.find_in(transaction, wanted)
    return {schedule_id: definition.schedule for schedule_id, definition in found.items()}


async def _look_ahead(transaction: Transaction, heads: dict[str, Head], now_ms: int) -> None:
    """Where periods are past that lie ahead, find out which."""
    after_ms = (now_ms - 1) // 1000 * 1000
    for schedule_id, head in heads.items():
        if head.reaches_ahead(now_ms):
            rows = await transaction.rows(_CoveredRow, "covered", id=schedule_id, after_at=after_ms)
            covered = [(first // 1000, last // 1000, made // 1000) for first, last, made in rows]
            heads[schedule_id] = head._replace(covered=covered)


async def _forgotten(transaction: Transaction) -> int:
    rows = await transaction.rows(_NoteRow, "get_meta", name=FORGOTTEN_REVISION)
    return int(rows[0].value) if rows else 0


async def _write(
    transaction: Transaction, new: list[_Revision], changed: list[_Revision], now_ms: int
) -> None:
    if not new and not changed:
        return
    # In one order for all, so that no two workers that add the same wait for each other.
    new.sort(key=lambda one: one[0].schedule_id)
    written = new + changed
    records = {one.schedule_id: write_schedule(one) for one, _ in written}
    rows = [_values(one, records, now_ms) for one in new]
    await transaction.run_each("insert_schedule", rows)
    queues = [
        schedule.schedule_id for schedule, _ in changed if schedule.policy.overlap is Overlap.QUEUE
    ]
    if queues:  # no end may be under way that has not seen one
        await transaction.rows(_KeyRow, "take_begun", ids=queues)
    rows = [_values(one, records, now_ms) for one in changed]
    await transaction.run_each("change_schedule", rows)
    await transaction.run_each(
        "insert_revision",
        [
            {
                "id": schedule.schedule_id, "revision": revised.revision, "now_at": now_ms,
                "definition": definition_text(schedule, records[schedule.schedule_id]),
            }
            for schedule, revised in written
        ],
    )  # fmt: skip
    facts = [
        (fact, schedule.schedule_id, revision)
        for schedule, revised in changed
        for fact, revision in revised.passed
    ]
    await add_runs(transaction, facts, now_ms)
    await _expect(transaction, written, now_ms)
    await transaction.tell_workers()


async def _expect(transaction: Transaction, written: list[_Revision], now_ms: int) -> None:
    """Note when to look first at what is expected of schedules from now on."""
    looks, none = list[dict[str, Value]](), list[str]()
    for schedule, revised in written:
        schedule_id = schedule.schedule_id
        look = first_look(schedule, max(revised.cursor, (now_ms - 1) // 1000))
        if look is None:
            none.append(schedule_id)
        else:
            looks.append(
                {"id": schedule_id, "check_at": look.check_ms, "after_at": look.after * 1000}
            )
    if none:
        await transaction.run("expect_nothing", ids=none)
    await transaction.run_each("expect", looks)


def _values(one: _Revision, records: Mapping[str, Record], now_ms: int) -> dict[str, Value]:
    """The row of a schedule that is saved."""
    schedule, (revision, cursor, following, wake_ms, _) = one
    columns = columns_of(schedule, records[schedule.schedule_id])
    values: dict[str, Value] = columns._asdict()
    return values | {
        "id": schedule.schedule_id,
        "start_at": columns.start_ms,
        "end_at": columns.end_ms,
        "revision": revision,
        "cursor_at": cursor * 1000,
        "next_at": None if following is None else following * 1000,
        "wake_at": wake_ms,
        "now_at": now_ms,
    }
