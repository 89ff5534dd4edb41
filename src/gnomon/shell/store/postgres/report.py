"""
What launchers said, written to PostgreSQL: one statement for each kind of report.

The rows of the runs are taken before they are judged, so that nobody can take a run over between
the judgement and the writing. Whoever plans on the strength of a run in flight has taken its row
too, so that nobody can join a queue unseen by the end of the run before it. A schedule is written
only when its queue is to be woken: that fewer runs are in flight is enough for older plans to lose.

Spec: LEDGER-7, LEDGER-9, PG-3.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gnomon.core.schedule import Schedule
from gnomon.ports import Report
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.postgres.reading import definitions
from gnomon.shell.store.postgres.statement import Statements
from gnomon.shell.store.report_batch import ReportBatch, ReportedRun, schedules_of_failures

if TYPE_CHECKING:
    from gnomon.shell.store.postgres.pool import Connection

__all__ = ["notify", "report", "wake_queues"]


async def report(
    connection: "Connection", sql: Statements, cache: DefinitionCache, reports: Sequence[Report],
    *, now_ms: int,
) -> list[bool]:  # fmt: skip
    """For each report, whether it was written."""
    keys = [report.key for report in reports]
    rows = await connection.fetch(sql["reported_runs"], keys)
    runs = {row[0]: ReportedRun[str](*row[1:]) for row in rows}
    failed = schedules_of_failures(reports, runs)
    schedules = await _policies(connection, sql, cache, failed)
    batch = ReportBatch[str](now_ms, schedules)
    accepted = batch.judge(reports, runs)
    await _write(connection, sql, batch, now_ms)
    return accepted


async def wake_queues(
    connection: "Connection", sql: Statements, schedule_ids: Iterable[str], now_ms: int
) -> bool:
    """Runs of these schedules are over; whether a queue is to be looked at now."""
    return bool(await connection.fetch(sql["wake_queues"], list(schedule_ids), now_ms))


async def notify(connection: "Connection", sql: Statements) -> None:
    """Have the other workers look, once this transaction is committed."""
    await connection.execute("SELECT pg_notify($1, '')", sql.channel)


async def _write(
    connection: "Connection", sql: Statements, batch: ReportBatch[str], now_ms: int
) -> None:
    if batch.starts:
        starts, keys = list(batch.starts.values()), list(batch.starts)
        await connection.execute(sql["start_runs"], starts, keys, now_ms)
    if batch.throughs:
        columns = zip(*batch.throughs, strict=True)
        await connection.execute(sql["start_and_end_runs"], *columns, now_ms)
    if batch.ends:
        ends = zip(*batch.ends, strict=True)
        await connection.execute(sql["end_runs"], *ends, now_ms)
    if batch.retries:
        retries = zip(*batch.retries, strict=True)
        await connection.execute(sql["retry_runs"], *retries, now_ms)
    if batch.touched:
        wakes_somebody = await wake_queues(connection, sql, batch.touched, now_ms)
        if batch.wakes:
            await connection.execute(sql["wake"], *zip(*batch.wakes, strict=True), now_ms)
        if wakes_somebody or batch.wakes:
            await notify(connection, sql)


async def _policies(
    connection: "Connection", sql: Statements, cache: DefinitionCache, schedule_ids: set[str]
) -> dict[str, Schedule | None]:
    """The schedules whose policy says what follows a failure; None for a deleted one."""
    if not schedule_ids:
        return {}
    heads = await connection.fetch(sql["heads"], list(schedule_ids))
    alive = [(row[0], row[1]) for row in heads if row[5] is None]
    found: dict[str, Schedule | None] = dict.fromkeys(schedule_ids)
    found |= await definitions(connection, sql, cache, alive)
    return found
