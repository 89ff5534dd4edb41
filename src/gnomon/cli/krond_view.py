"""
What krond's read commands show: status, history, logs; as tables and as JSON.

In the table of jobs what runs next stands first. A window is a line of cells: `=` has passed, `-`
lies ahead, `>` is now and `*` the chosen second. The keys of the JSON are those of the contract for
observers, in camelCase; a period carries the whole decision it came from, so that it can be made
again elsewhere.

Spec: KROND-25 to KROND-27, KROND-34, WATCH-1, WATCH-2.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gnomon.apps.krond.state import StateDirectory, advised
from gnomon.apps.krond.status import (
    DaemonStatus,
    JobStatus,
    PeriodRecord,
    find_job,
    read_history,
    read_status,
)
from gnomon.cli.local_time import local_text
from gnomon.cli.problem import printable
from gnomon.cli.screen import FactRows, Json, TextTable, render, render_json
from gnomon.core.civil.duration import format_duration
from gnomon.core.civil.instant import format_instant
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Chosen, Decision
from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.core.ledger.period import Kind, kind_of
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Clock, RunRow
from gnomon.shell.launcher.ends import read_exit
from gnomon.shell.launcher.outputs import newest_output
from gnomon.shell.launcher.process_id import ProcessId
from gnomon.shell.store.instant_text import maybe_to_text
from gnomon.shell.store.sqlite import SqliteLedger

__all__ = [
    "COLUMNS",
    "GOOD",
    "STARTED",
    "countdown",
    "history_text",
    "job_rows",
    "logs_text",
    "row_json",
    "status_json",
    "status_text",
    "window_cells",
]

_HISTORY = (
    "period", "outcome", "reason", "exit", "chosen", "started", "ended", "cpu", "memory", "note",
)  # fmt: skip
OUTPUT_MAX = 1_000_000
"""The most that is shown of what a run printed; more is not kept of captured output anyway."""
WIDTH = 24
COLUMNS = ("job", "next", "in", "window", "active", "last")
GOOD, STARTED = "succeeded", "started"
"""How a cell begins that says what ran last, when all is well, and when nothing is known yet."""
_DAY = 86_400


class _Told(NamedTuple):
    """A job's history."""

    identity: str
    records: list[PeriodRecord]


def status_text(state: StateDirectory, clock: Clock, *, as_json: bool) -> tuple[str, int]:
    """How krond stands, and the exit code: 1 when a reload was refused, 2 when it does not run."""
    status, now_ms = asyncio.run(read_status(state)), clock.now_ms()
    code = 2 if status.running is None else 1 if status.problem else 0
    if as_json:
        return render_json(status_json(status, now_ms)), code
    running = status.running is not None
    rows = [(*row, "") for row in job_rows(status.jobs, now_ms=now_ms, running=running)]
    shown = TextTable((*COLUMNS, "note"), rows) if rows else "There are no jobs."
    return render(FactRows([*_head(status), *_ahead(status, now_ms)]), "", shown), code


def status_json(status: DaemonStatus, now_ms: int) -> Json:
    """The status with the keys of the contract."""
    known = dict(status.running or {})
    return {
        "running": status.running is not None,
        "pid": _number(known.get("pid")),
        "startedAt": _maybe(known.get("startedAt")),
        "stateDirectory": str(status.state.path),
        "sources": [str(one) for one in _listed(known.get("sources"))],
        "loadedAt": _maybe(known.get("loadedAt")),
        "problem": status.problem,
        "problemAt": _maybe(known.get("problemAt")),
        "jobs": [_job_json(job, now_ms) for job in status.jobs],
    }


def history_text(state: StateDirectory, job: str, *, limit: int, as_json: bool) -> str:
    """What became of the periods of a job."""
    identity, records = asyncio.run(_read_told(state, job, limit))
    if as_json:
        periods = [row_json(record) | {"decision": _decision(record)} for record in records]
        return render_json({"identity": identity, "periods": periods})
    rows = [_period_cells(record) for record in records]
    return render(identity, TextTable(_HISTORY, rows) if rows else "  nothing has happened yet")


def logs_text(state: StateDirectory, job: str, period: str | None, *, as_json: bool) -> str:
    """What the newest run of a job, or that of a period, has printed."""
    identity, records = asyncio.run(_read_told(state, job, 1_000))
    rows = [one.row for one in records if not one.row.last_nominal and one.row.launches]
    if period is not None:
        rows = [row for row in rows if format_instant(row.nominal) == period]
    for row in rows:
        path = newest_output(state.output, row.key)
        if path is not None:
            text = _tail(path)
            return text if not as_json else render_json({
                "identity": identity, "periodId": format_instant(row.nominal),
                "path": str(path), "bytes": path.stat().st_size, "text": text,
            })  # fmt: skip
    if period is not None and not rows:
        raise DefinitionError(
            "is no period of this job that was started",
            where="period",
            got=period,
            hint=f"gnomon krond history {job} lists them",
        )
    empty = {"identity": identity, "periodId": period, "path": None, "bytes": 0, "text": ""}
    return render_json(empty) if as_json else ""


async def _read_told(state: StateDirectory, job: str, limit: int) -> _Told:
    if not state.ledger.exists():
        raise StoreError(
            "holds no state of krond",
            where=str(state.path),
            hint="name the directory with --state-dir",
        )
    with advised(state):
        ledger = SqliteLedger.look_into(state.ledger)
        try:
            schedule_id, schedule = await find_job(ledger, job)
            records = await read_history(ledger, schedule_id, limit=limit)
        finally:
            await ledger.close()
    return _Told(schedule.decider.identity, records)


def row_json(record: PeriodRecord) -> dict[str, Json]:
    """A period with the keys of the contract."""
    row, decision = record.row, record.decision
    found = read_exit(row.detail)
    usage = None if found is None else found.usage
    return {
        "periodId": format_instant(row.nominal),
        "lastPeriodId": format_instant(row.last_nominal) if row.last_nominal else None,
        "periods": row.periods,
        "nominalTime": format_instant(row.nominal),
        "chosenTime": None
        if decision is None or decision.chosen_at is None
        else decision.to_json()["chosenTime"],
        "kind": kind_of(row.key),
        "state": row.state,
        "outcome": row.outcome,
        "reason": row.reason,
        "attempts": row.launches,
        "pid": _pid(row),
        "startedAt": maybe_to_text(row.started_ms),
        "endedAt": maybe_to_text(row.ended_ms),
        "exitStatus": None if found is None else found.code,
        "signal": None if found is None else found.signal,
        "userSeconds": None if usage is None else usage.user_s,
        "systemSeconds": None if usage is None else usage.system_s,
        "maxRssKib": None if usage is None else usage.memory_kib,
        "detail": row.detail,
        "seedHash": None if decision is None else decision.seed_hash,
        "revision": row.revision,
    }


def _job_json(job: JobStatus, now_ms: int) -> Json:
    deadline, ahead = job.schedule.policy.deadline, job.handled_ahead(now_ms)
    return {
        "name": job.name,
        "identity": job.identity,
        "timezone": job.schedule.decider.zone,
        "suspended": job.suspended,
        "atBoot": job.at_boot,
        "concurrency": job.concurrency,
        "deadline": None if deadline is None else format_duration(deadline),
        "handledUpTo": None if ahead is None else format_instant(ahead),
        "next": None if job.next is None
        else dict(job.next.to_json()) | {"runsAt": maybe_to_text(job.next_ms)},
        "active": [
            {"periodId": format_instant(row.nominal), "pid": _pid(row),
             "startedAt": maybe_to_text(row.started_ms)}
            for row in job.active
        ],
        "last": None if job.last is None
        else row_json(PeriodRecord(row=job.last, decision=None))
        | {"chosenTime": maybe_to_text(job.last.chosen_ms)},
    }  # fmt: skip


def _head(status: DaemonStatus) -> list[tuple[str, str]]:
    if status.running is None:
        rows = [("krond", "does not run: nothing of this will start until it does")]
    else:
        said = status.running
        rows = [
            ("krond", f"runs since {said.get('startedAt')}, process {said.get('pid')}"),
            ("files", f"{' '.join(map(str, _listed(said.get('sources'))))}, loaded at "
                      f"{said.get('loadedAt')}"),
        ]  # fmt: skip
    if status.problem:
        rows.append(("problem", f"a reload was refused, the old jobs stay: {status.problem}"))
    return [*rows, ("state", str(status.state.path))]


def _ahead(status: DaemonStatus, now_ms: int) -> list[tuple[str, str]]:
    """That jobs are silent because the clock was ahead, and what can be done."""
    found = [one for job in status.jobs if (one := job.handled_ahead(now_ms)) is not None]
    if not found:
        return []
    jobs = "1 job" if len(found) == 1 else f"{len(found)} jobs"
    said = f"the clock was ahead: {jobs} handled up to {format_instant(max(found))}"
    return [("clock", f"{said}, and nothing of that runs before; see gnomon krond replan")]


def _period_cells(record: PeriodRecord) -> tuple[str, ...]:
    row, found = record.row, read_exit(record.row.detail)
    usage = None if found is None else found.usage
    note = printable(row.detail or "") if found is None else ""
    if kind_of(row.key) is Kind.MANUAL:
        note = "by hand"
    if kind_of(row.key) is Kind.BOOT:
        note = f"at boot{f': {note}' if note else ''}"
    if row.last_nominal:
        note = f"{row.periods} periods up to {format_instant(row.last_nominal)}"
    return (
        format_instant(row.nominal),
        row.outcome or row.state,
        row.reason or "-",
        (row.detail or "-").partition(" (")[0] if found is not None else "-",
        "-" if row.last_nominal else (maybe_to_text(row.chosen_ms) or "-"),
        maybe_to_text(row.started_ms) or "-",
        maybe_to_text(row.ended_ms) or "-",
        "-" if usage is None else f"{usage.user_s + usage.system_s:.3f}s",
        "-" if usage is None or usage.memory_kib is None else f"{usage.memory_kib} KiB",
        note,
    )


def _decision(record: PeriodRecord) -> Json:
    return None if record.decision is None else dict(record.decision.to_json())


def _pid(row: RunRow) -> int | None:
    found = ProcessId.read(row.run_id or "")
    return None if found is None else found[0].pid


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - OUTPUT_MAX, 0))
        return file.read().decode(errors="replace")


def _maybe(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else []


def job_rows(
    jobs: Sequence[JobStatus], *, now_ms: int, running: bool = True
) -> list[tuple[str, ...]]:
    """
    The cells of each job, the first to run first; a name that several have with its file.

    A krond that does not run counts nothing down.
    """
    names = Counter(job.name for job in jobs)
    return [
        (job.name if names[job.name] == 1 else job.identity, *_cells(job, now_ms, running))
        for job in sorted(jobs, key=_order)
    ]


def countdown(seconds: int) -> str:
    """`0:07`, `12:34`, `3:12:34`, `5 d 3 h`."""
    if seconds >= _DAY:
        return f"{seconds // _DAY} d {seconds % _DAY // 3600} h"
    hours, rest = divmod(max(seconds, 0), 3600)
    clock = f"{rest // 60}:{rest % 60:02d}"
    return f"{hours}:{clock:0>5}" if hours else clock


def window_cells(decision: Decision, now: int) -> str:
    """The window of a period as it looks at an instant; empty when there is none."""
    window = decision.window
    if not window.span:
        return ""

    def cell(at: int) -> int:
        return (at - window.start) * (WIDTH - 1) // window.span

    cells = [
        "=" if window.start + (window.span * index) // (WIDTH - 1) < now else "-"
        for index in range(WIDTH)
    ]
    if now in window:
        cells[cell(now)] = ">"
    if isinstance(decision.outcome, Chosen):
        cells[cell(decision.outcome.at)] = "*"
    return "".join(cells)


def _order(job: JobStatus) -> tuple[bool, int, str]:
    return job.next_ms is None, job.next_ms or 0, job.name


def _cells(job: JobStatus, now_ms: int, running: bool) -> tuple[str, ...]:
    zone, now = load_zone(job.schedule.decider.zone), now_ms // 1000
    coming, away = "never again", ""
    if job.suspended:
        coming = "suspended"
    elif job.next is not None and job.next.chosen_at is None:
        coming = "unschedulable"
    elif job.at_boot and job.next_ms is None:
        coming = "at boot"
    elif job.next_ms is not None:
        coming = local_text(zone, job.next_ms // 1000)
        away = countdown(job.next_ms // 1000 - now) if running else "-"
    window = "" if job.next is None else window_cells(job.next, now)
    return coming, away, window, _active(job.active, now_ms), _last(job.last, now_ms)


def _active(rows: Sequence[RunRow], now_ms: int) -> str:
    """The run that has been active for longest, and how many there are beside it."""
    if not rows:
        return ""
    oldest = min(rows, key=lambda row: row.started_ms or now_ms)
    found = ProcessId.read(oldest.run_id or "")
    who = "" if found is None else f"pid {found[0].pid} "
    length = countdown((now_ms - (oldest.started_ms or now_ms)) // 1000)
    return f"{who}for {length}" + (f", and {len(rows) - 1} more" if len(rows) > 1 else "")


def _last(row: RunRow | None, now_ms: int) -> str:
    if row is None:
        return ""
    word, why = str(row.outcome or row.state), ""
    if row.reason is not None:
        why = f" ({row.reason})"
    if row.outcome is Outcome.EXECUTED:
        word = GOOD if row.status is Status.SUCCESS else "failed"
        word = word if row.ended_ms is not None else STARTED
        if word == "failed" and row.detail:
            why = f" ({printable(row.detail).partition(' (')[0]})"
    if row.periods > 1:
        word = f"{word} {row.periods} times"
    at_ms = row.ended_ms or row.updated_ms
    return f"{word}{why}" + (f", {countdown((now_ms - at_ms) // 1000)} ago" if at_ms else "")
