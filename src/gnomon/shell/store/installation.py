"""
Installing: how do the schedules of a ledger become exactly these?

What is not among them is deleted, with its history kept; what is new or different is saved; what
is to be suspended is paused, and what no longer is, is resumed. All of it is one transaction, so
that no turn sees a schedule between its definition and its suspension.

An installation that is told of the machine's boot makes the rows of a boot that the ledger has not
seen yet, one for each schedule that runs at boot, and notes the boot: with the schedules, so that a
worker that dies has made all rows of a boot or none. What comes after it in the same boot, another
start or another file, makes none.

Spec: LEDGER-23, LEDGER-41.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from gnomon.core.ledger.lifecycle import Reason, State
from gnomon.core.ledger.period import Fact, boot_key
from gnomon.core.recurrence import Boot
from gnomon.core.schedule import Schedule
from gnomon.ports import Saved
from gnomon.shell.boot import MachineBoot
from gnomon.shell.store import definition
from gnomon.shell.store.asked import taken
from gnomon.shell.store.definition_cache import DefinitionCache, definition_text
from gnomon.shell.store.new_runs import add_runs
from gnomon.shell.store.revision import passed_over
from gnomon.shell.store.transaction import Transaction

__all__ = ["BOOT", "SUSPENDED", "Installed", "install"]

SUSPENDED = "suspended"
"""The reason of a pause that belongs to the definition."""

BOOT = "boot"
"""The note that says which boot of the machine the ledger has seen last."""


class Installed(NamedTuple):
    """What installing has changed."""

    saved: list[Saved]
    """Those that are new or different."""
    removed: list[str]
    suspended: list[str]
    resumed: list[str]
    booted: list[str]
    """Those that run because of a boot that was not seen before."""


class _Present(NamedTuple):
    """A schedule that is there."""

    schedule_id: str
    pause: str
    """Why it is paused until further notice; empty when it is not."""
    revision: int
    effective_at: int
    definition: str


class _NoteRow(NamedTuple):
    value: str


async def install(
    transaction: Transaction, cache: DefinitionCache, schedules: Sequence[Schedule], *,
    suspended: Collection[str], now_ms: int, after_ms: int = 0, boot: MachineBoot | None = None,
) -> Installed:  # fmt: skip
    """
    Make these all the schedules there are; a new one owes nothing that opened by `after_ms`.

    Only who starts says which boot it is; without it nothing runs because of one.
    """
    present = {row.schedule_id: row for row in await transaction.rows(_Present, "present")}
    wanted = {schedule.schedule_id for schedule in schedules}
    removed = [name for name in present if name not in wanted]
    for name in removed:
        await definition.delete(transaction, cache, name, now_ms=now_ms)
    different = []
    for schedule in schedules:
        known = present.get(schedule.schedule_id)
        # Most have not changed, and to compare what is written is quicker than to read it.
        if known is not None and known.definition == definition_text(schedule):
            cache.keep(schedule, known.revision, known.effective_at)
        else:
            different.append(schedule)
    made = await definition.save(transaction, cache, different, now_ms=now_ms, after_ms=after_ms)
    for schedule, one in zip(different, made, strict=True):
        if one.changed:
            cache.keep(schedule, one.revision, now_ms)
        if schedule.schedule_id not in present and after_ms and schedule.lead_ms:
            await _forgo(transaction, schedule, one.revision, after_ms, now_ms)
    held = {name for name in wanted if name in present and present[name].pause == SUSPENDED}
    to_suspend = [name for name in suspended if name not in held]
    to_resume = [name for name in held if name not in suspended]
    for name in to_suspend:
        await definition.pause(transaction, name, until_ms=None, reason=SUSPENDED, now_ms=now_ms)
    for name in to_resume:
        await definition.resume(transaction, name, now_ms=now_ms)
    booted = [] if boot is None else await _see_boot(transaction, schedules, boot, now_ms, after_ms)
    saved = [one for one in made if one.changed]
    return Installed(saved, removed, to_suspend, to_resume, booted)


async def _see_boot(
    transaction: Transaction, schedules: Sequence[Schedule], boot: MachineBoot, now_ms: int,
    after_ms: int,
) -> list[str]:  # fmt: skip
    """Make the rows of a boot that is new to the ledger; which schedules have one now."""
    seen = await transaction.rows(_NoteRow, "get_meta", name=BOOT)
    if seen and seen[0].value == boot.boot_id:
        return []
    await transaction.run("set_meta", name=BOOT, value=boot.boot_id)
    if not seen and boot.at * 1000 <= after_ms:
        return []  # the ledger that was lost may have seen it
    names = [one.schedule_id for one in schedules if isinstance(one.recurrence, Boot)]
    for name in names:
        # Its chosen instant is this one: the deadline counts from when a worker could first know.
        fact = Fact(boot_key(name, boot.boot_id), boot.at, now_ms, State.PLANNED, is_new=True)
        head = await taken(transaction, name)
        assert head is not None  # it was saved just now
        await add_runs(transaction, [(fact, name, head.revision)], now_ms)
        await transaction.run("wake_now", id=name, now_at=now_ms)
    return names


async def _forgo(
    transaction: Transaction, schedule: Schedule, revision: int, after_ms: int, now_ms: int
) -> None:
    """Record as withdrawn what had opened ahead of its nominal instant by then."""
    until = (after_ms + schedule.lead_ms) // 1000
    before = schedule.recurrence.latest_epoch((now_ms - 1) // 1000) or 0
    cursor, facts = passed_over(schedule, before, until, Reason.WITHDRAWN)
    if not facts:
        return
    await add_runs(transaction, [(fact, schedule.schedule_id, revision) for fact in facts], now_ms)
    following = schedule.recurrence.next_epoch(cursor)
    await transaction.run(
        "forgo", id=schedule.schedule_id, cursor_at=cursor * 1000,
        next_at=None if following is None else following * 1000,
        wake_at=None if following is None else following * 1000 - schedule.lead_ms,
    )  # fmt: skip
