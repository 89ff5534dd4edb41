"""
Writing down what launchers said: launched, failed, ended.

Nearly always all ends count: they are written at once, each guarded by its fencing number, and only
when one of them does not hold is the transaction begun again, with a look at each. What a report
does to a row is judged in `reported`. An end wakes the schedule when periods wait in its queue; a
launch that is to be tried again wakes it then. A start changes no plan, nor does an end where no
period waits.

Spec: LEDGER-7, LEDGER-9.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence

from gnomon.core.ledger.period import is_backfill
from gnomon.core.schedule import Schedule
from gnomon.ports import Ended, Failed, Report
from gnomon.shell.store.database import begin_again
from gnomon.shell.store.definition_cache import DefinitionCache
from gnomon.shell.store.instant_text import maybe_to_text, to_text
from gnomon.shell.store.queries import named
from gnomon.shell.store.reported import Batch, End, ReportedRun, alike, late_start

__all__ = ["report"]

_SQL = named("ledger.sql")


def report(
    connection: sqlite3.Connection, cache: DefinitionCache, reports: Sequence[Report], *,
    now_ms: int,
) -> list[bool]:  # fmt: skip
    """For each report, whether it was written."""
    ends = [report for report in reports if type(report) is Ended]
    keys = {report.key for report in reports}
    # Two reports of one run are judged in their order, and the end of a backfill lets another run.
    if ends and len(keys) == len(reports) and not any(map(is_backfill, keys)):
        if _write_all(connection, ends, to_text(now_ms)):
            if len(ends) == len(reports):
                return [True] * len(ends)
            others = [report for report in reports if type(report) is not Ended]
            answers = iter(_judge(connection, cache, others, now_ms))
            return [type(report) is Ended or next(answers) for report in reports]
        begin_again(connection)
    return _judge(connection, cache, reports, now_ms)


def _write_all(connection: sqlite3.Connection, ends: Sequence[Ended], now: str) -> bool:
    """Write the ends of different runs; False when one does not count, and nothing is to stay."""
    if _write_ends(connection, alike(ends), now) != len(ends):
        return False
    (has_queues,) = connection.execute(_SQL["has_queues"]).fetchone()
    if has_queues:
        keys = json.dumps([end.key for end in ends])
        rows = connection.execute(_SQL["schedules_of_runs"], {"keys": keys})
        _wake_queues(connection, [row[0] for row in rows], now)
    return True


def _judge(
    connection: sqlite3.Connection, cache: DefinitionCache, reports: Sequence[Report], now_ms: int
) -> list[bool]:
    """Look at the row of each report, and write down what counts."""
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
    _write(connection, batch, runs, now_ms)
    return [
        is_accepted or _fill_in(connection, report, now_ms)
        for report, is_accepted in zip(reports, accepted, strict=True)
    ]


def _fill_in(connection: sqlite3.Connection, late: Report, now_ms: int) -> bool:
    """Add to a run that is over what its launch says; False when it is not, or cannot have been."""
    start = late_start(late, now_ms)
    if start is None:
        return False
    key, fence, run_id, started_ms = start
    started = to_text(started_ms)
    values = {"key": key, "fence": fence, "run_id": run_id, "started": started}
    return connection.execute(_SQL["fill_in_run"], values).rowcount > 0


def _write(
    connection: sqlite3.Connection, batch: Batch, runs: dict[str, ReportedRun], now_ms: int
) -> None:
    now = to_text(now_ms)
    connection.executemany(
        _SQL["start_run"],
        [
            (
                run_id,
                now,
                None if detached_ms is None else to_text(now_ms + detached_ms),
                row,
                maybe_to_text(started_ms) or now,
            )
            for row, (run_id, detached_ms, started_ms) in batch.starts.items()
        ],
    )
    connection.executemany(
        _SQL["retry_run"],
        [
            (message, to_text(again_ms), ran, now, row)
            for row, (message, again_ms, ran) in batch.retries.items()
        ],
    )
    fences = {run.row: (key, run.fence) for key, run in runs.items()}
    ends = [(end, dict(fences[row] for row in rows)) for end, rows in batch.ends.items()]
    _write_ends(connection, ends, now)
    connection.executemany(
        _SQL["wake"],
        [{"id": name, "at": to_text(at_ms), "now": now} for name, at_ms in batch.wakes.items()],
    )
    _wake_queues(connection, batch.ended, now)


def _write_ends(
    connection: sqlite3.Connection, ends: Iterable[tuple[End, dict[str, int]]], now: str
) -> int:
    """Write ends of runs with these keys and fencing numbers; say how many counted."""
    written = 0
    for end, fences in ends:
        outcome, reason, status, detail, run_id, started_ms, ended_ms = end
        values = {
            "outcome": outcome.value, "reason": reason and reason.value, "status": status.value,
            "detail": detail, "run_id": run_id, "started": maybe_to_text(started_ms),
            "ended": maybe_to_text(ended_ms) or now, "now": now, "fences": json.dumps(fences),
        }  # fmt: skip
        written += connection.execute(_SQL["end_runs"], values).rowcount
    return written


def _wake_queues(connection: sqlite3.Connection, schedule_ids: Collection[str], now: str) -> None:
    """
    Runs of these schedules are over.

    A plan that lets a period wait, made before and not yet committed, must not count any more: a
    schedule with a queue gets a new version. Elsewhere a run less changes no plan for the worse.
    """
    values = {"ids": json.dumps(list(schedule_ids)), "now": now}
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
