"""
Writing down what launchers said: launched, failed, ended.

What a report does to a row is judged in `reported`. An end wakes the schedule when periods wait in
its queue; a launch that is to be tried again wakes it then. Who started, and who ended where nobody
waits, changes no plan.

Spec: LEDGER-7, LEDGER-9.
"""

import json
import sqlite3
from collections.abc import Sequence

from gnomon.core.schedule import Schedule
from gnomon.ports import Failed, Report
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import maybe_to_text, to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.reported import Batch, ReportedRun

__all__ = ["report"]

_SQL = named("ledger.sql")


def report(
    connection: sqlite3.Connection, cache: DefinitionCache, reports: Sequence[Report], *,
    now_ms: int,
) -> list[bool]:  # fmt: skip
    """For each report, whether it was written."""
    keys = json.dumps([report.key for report in reports])
    runs = {
        key: ReportedRun(*values)
        for key, *values in connection.execute(_SQL["reported_runs"], {"keys": keys})
    }
    batch = Batch(now_ms, _schedules_of_failures(connection, cache, reports, runs))
    accepted = [
        (run := runs.get(report.key)) is not None and batch.accept(run, report)
        for report in reports
    ]
    _write(connection, batch, now_ms)
    return accepted


def _write(connection: sqlite3.Connection, batch: Batch, now_ms: int) -> None:
    now = to_text(now_ms)
    connection.executemany(
        _SQL["start_run"],
        [
            (run_id, now, None if detached_ms is None else to_text(now_ms + detached_ms), row)
            for row, (run_id, detached_ms) in batch.starts.items()
        ],
    )
    connection.executemany(
        _SQL["retry_run"],
        [
            (message, to_text(again_ms), ran, now, row)
            for row, (message, again_ms, ran) in batch.retries.items()
        ],
    )
    for end, rows in batch.ends.items():
        outcome, reason, status, detail, run_id, started_ms, ended_ms = end
        values = {
            "outcome": outcome.value, "reason": reason and reason.value, "status": status.value,
            "detail": detail, "run_id": run_id, "started": maybe_to_text(started_ms),
            "ended": maybe_to_text(ended_ms) or now, "now": now, "rows": json.dumps(rows),
        }  # fmt: skip
        connection.execute(_SQL["end_runs"], values)
    connection.executemany(
        _SQL["wake"], [{"id": name, "at": to_text(at_ms)} for name, at_ms in batch.wakes.items()]
    )
    # A plan that lets a period wait, made before and not yet committed, must not count any more: a
    # schedule with a queue gets a new version. Elsewhere a run less changes no plan for the worse.
    values = {"ids": json.dumps(list(batch.ended)), "now": now}
    connection.execute(_SQL["wake_queues"], values)


def _schedules_of_failures(
    connection: sqlite3.Connection, cache: DefinitionCache, reports: Sequence[Report],
    runs: dict[str, ReportedRun],
) -> dict[str, Schedule | None]:  # fmt: skip
    """The schedules whose policy says what follows a failure; None for a deleted one."""
    failed = [runs.get(report.key) for report in reports if type(report) is Failed]
    found: dict[str, Schedule | None] = {}
    for schedule_id in {run.schedule_id for run in failed if run is not None}:
        head = connection.execute(_SQL["head"], {"id": schedule_id}).fetchone()
        is_deleted = head[6] is not None
        found[schedule_id] = None if is_deleted else cache.get(connection, schedule_id, head[0])
    return found
