"""
The live table of krond: each job with a countdown, its window drawn, what runs and what ran last.

What runs next stands first. A window is a line of cells: `=` has passed, `-` lies ahead, `>` is now
and `*` the chosen second. As many jobs are shown as have room; the others are counted.

It draws the values it is given, and asks no krond for them.

Spec: WATCH-1, WATCH-2, KROND-34.
"""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gnomon.apps.krond.status import DaemonStatus, JobStatus
from gnomon.cli.local_time import local_text
from gnomon.cli.problem import printable
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Chosen, Decision
from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.ports import RunRow
from gnomon.shell.launcher.process_id import ProcessId

__all__ = ["COLUMNS", "countdown", "job_rows", "status_table", "window_cells"]

WIDTH = 24
COLUMNS = ("job", "next", "in", "window", "active", "last")
_STYLES = {"job": "bold", "in": "cyan", "window": "dim", "active": "cyan"}
_GOOD, _STARTED = "succeeded", "started"
_DAY = 86_400


def status_table(status: DaemonStatus, *, now_ms: int, rows_max: int) -> RenderableType:
    """The live table as it looks at `now_ms`."""
    rows = job_rows(status.jobs, now_ms=now_ms, running=status.running is not None)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in COLUMNS:
        grid.add_column(column, no_wrap=True, justify="right" if column == "in" else "left")
    for row in rows[:rows_max]:
        grid.add_row(*map(_styled, COLUMNS, row))
    parts: list[RenderableType] = [_head(status), grid]
    if len(rows) > rows_max:
        parts.append(Text(f"and {len(rows) - rows_max} more", style="dim"))
    return Group(*parts)


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

    cells = ["=" if window.start + (window.span * index) // (WIDTH - 1) < now else "-"
             for index in range(WIDTH)]  # fmt: skip
    if now in window:
        cells[cell(now)] = ">"
    if isinstance(decision.outcome, Chosen):
        cells[cell(decision.outcome.at)] = "*"
    return "".join(cells)


def _head(status: DaemonStatus) -> Text:
    known = status.running
    if known is None:
        return Text("krond does not run", style="bold red")
    active = sum(len(job.active) for job in status.jobs)
    line = Text(f"krond {known.get('pid')}", style="bold")
    line.append(f", {len(status.jobs)} jobs, {active} active", style="not bold")
    if status.problem:
        line.append("; the last reload was refused: see krond status", style="bold red")
    return line


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
        word = _GOOD if row.status is Status.SUCCESS else "failed"
        word = word if row.ended_ms is not None else _STARTED
        if word == "failed" and row.detail:
            why = f" ({printable(row.detail).partition(' (')[0]})"
    if row.periods > 1:
        word = f"{word} {row.periods} times"
    at_ms = row.ended_ms or row.updated_ms
    return f"{word}{why}" + (f", {countdown((now_ms - at_ms) // 1000)} ago" if at_ms else "")


def _styled(column: str, cell: str) -> Text:
    if column == "last":
        fine = cell.startswith(_GOOD)
        return Text(cell, style="green" if fine else "" if cell.startswith(_STARTED) else "red")
    return Text(cell, style=_STYLES.get(column, ""))
