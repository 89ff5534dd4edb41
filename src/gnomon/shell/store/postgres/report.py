"""
What launchers said, written to PostgreSQL: one statement for each kind of report.

Most reports are ends of runs that are held still, and one statement says so, writes them all and
wakes the queues behind them. Where one of them is something else, the rows of the runs are taken
and each report is judged in `reported`, so that no worker can take a run over between the judgement
and the writing. Where a launch has failed, the schedules are taken too, so that no caller deletes
one of them and leaves behind what is to be tried again. Then the schedules with a queue are taken,
and only then is it asked which periods wait there, so that none can join a queue unseen by the end
of the run before it: the function `wake_queues` of the schema does that, each of its statements
with a view of its own.

Spec: LEDGER-7, LEDGER-9, PG-3.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import asyncpg

from gnomon.core.ledger.period import is_backfill
from gnomon.core.schedule import Schedule
from gnomon.ports import Ended, Failed, Report
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.postgres.kinds import Kinds, joined
from gnomon.shell.store.postgres.reading import definitions
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.reported import ENDING, Batch, ReportedRun, end_of, late_start

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["NotAllHeldError", "notify", "report", "report_ends"]


class NotAllHeldError(Exception):
    """Some of these ends do not count; the transaction is to be made again, with care."""


async def report_ends(
    connection: "Connection", sql: Statements, ends: Sequence[Ended], *, now_ms: int
) -> list[bool]:
    """Write ends, if all of them are of runs that are held still; each run once."""
    keys, fences, numbers, kinds = [], [], [], Kinds()
    known: dict[tuple[object, ...], str] = {}
    for end in ends:
        how = end[2:]
        number = known.get(how)
        if number is None:
            number = known[how] = str(kinds.number(*end_of(end)))
        numbers.append(number)
        keys.append(end[0])
        fences.append(str(end[1]))
    try:
        await connection.fetch(
            sql["end_held"], *joined(keys, fences, numbers), *kinds.columns(), now_ms, ENDING,
            len(ends), sql.channel,
        )  # fmt: skip
    except asyncpg.NoDataFoundError:
        raise NotAllHeldError from None
    return [True] * len(ends)


async def report(
    connection: "Connection", sql: Statements, cache: DefinitionCache, reports: Sequence[Report],
    *, now_ms: int, lease_now_ms: int | None,
) -> list[bool]:  # fmt: skip
    """For each report, whether it was written."""
    found = await connection.fetch(sql["reported_runs"], [report.key for report in reports])
    keys = [row[0] for row in found]
    runs = {row[0]: ReportedRun(number, *row[1:]) for number, row in enumerate(found)}
    failed = {
        run.schedule_id
        for report in reports
        if type(report) is Failed and (run := runs.get(report.key)) is not None
    }
    if failed or any(is_backfill(key) for key in keys):
        # What is put back, or wakes its schedule, must not come beside a change of the schedule.
        await connection.fetch(sql["take"], list({run.schedule_id for run in runs.values()}))
    batch = Batch(now_ms, await _policies(connection, sql, cache, failed) if failed else {})
    accepted = [
        (run := runs.get(report.key)) is not None and batch.accept(run, report)
        for report in reports
    ]
    if batch.starts:
        rows = [(*start, keys[row]) for row, start in batch.starts.items()]
        columns = zip(*rows, strict=True)
        await connection.execute(sql["start_runs"], *columns, now_ms, lease_now_ms)
    await _write(connection, sql, batch, keys, now_ms)
    late = {
        report: start
        for report, is_accepted in zip(reports, accepted, strict=True)
        if not is_accepted and (start := late_start(report, now_ms)) is not None
    }
    if not late:
        return accepted
    columns = zip(*late.values(), strict=True)
    filled = {tuple(row) for row in await connection.fetch(sql["fill_in_runs"], *columns)}
    return [
        is_accepted or (report in late and (report.key, report.fence) in filled)
        for report, is_accepted in zip(reports, accepted, strict=True)
    ]


async def notify(connection: "Connection", sql: Statements) -> None:
    """Have the other workers look, once this transaction is committed."""
    await connection.execute("SELECT pg_notify($1, '')", sql.channel)


async def _write(
    connection: "Connection", sql: Statements, batch: Batch, keys: list[str], now_ms: int
) -> None:
    if batch.retries:
        retries = [(why, at_ms, ran, keys[row]) for row, (why, at_ms, ran) in batch.retries.items()]
        await connection.execute(sql["retry_runs"], *zip(*retries, strict=True), now_ms)
    if batch.ends:
        kinds = Kinds()
        ends = [
            (keys[row], number)
            for end, rows in batch.ends.items()
            for number in (kinds.number(*end),)
            for row in rows
        ]
        await connection.execute(
            sql["end_runs"], *zip(*ends, strict=True), *kinds.columns(), now_ms
        )
    if batch.wakes:
        wakes = sorted(batch.wakes.items())
        await connection.execute(sql["wake"], *zip(*wakes, strict=True), now_ms)
        await notify(connection, sql)
    if batch.ended:
        await connection.fetch(sql["wake_queues"], *joined(batch.ended), now_ms, sql.channel)


async def _policies(
    connection: "Connection", sql: Statements, cache: DefinitionCache, schedule_ids: set[str]
) -> dict[str, Schedule | None]:
    """The schedules whose policy says what follows a failure; None for a deleted one."""
    heads = await connection.fetch(sql["heads"], list(schedule_ids))
    alive = [(row[0], row[1]) for row in heads if row[5] is None]
    found, errors = await definitions(connection, sql, cache, alive)
    for error in errors:
        raise error
    policies: dict[str, Schedule | None] = dict.fromkeys(schedule_ids)
    return policies | {name: definition.schedule for name, definition in found.items()}
