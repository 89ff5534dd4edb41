"""
The live table of krond: each job with a countdown, its window drawn, what runs and what ran last.

What runs next stands first. A window is a line of cells: `=` has passed, `-` lies ahead, `>` is now
and `*` the chosen second. As many jobs are shown as have room; the others are counted.

It draws values and asks nobody.

Spec: WATCH-1, WATCH-2.
"""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gnomon.apps.daemon.status import DaemonStatus, JobStatus
from gnomon.cli.local_time import local_text
from gnomon.cli.problem import printable
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Chosen, Decision
from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.ports import RunRow

__all__ = ["countdown", "status_table", "window_cells"]

WIDTH = 24
_COLUMNS = ("job", "next", "in", "window", "active", "last")
_DAY = 86_400


def status_table(status: DaemonStatus, *, now_ms: int, rows_max: int) -> RenderableType:
    """The table as it looks at `now_ms`."""
    jobs = sorted(status.jobs, key=_order)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in _COLUMNS:
        grid.add_column(column, no_wrap=True, justify="right" if column == "in" else "left")
    for job in jobs[:rows_max]:
        grid.add_row(*_cells(job, now_ms))
    parts: list[RenderableType] = [_head(status, now_ms), grid]
    if len(jobs) > rows_max:
        parts.append(Text(f"and {len(jobs) - rows_max} more", style="dim"))
    return Group(*parts)


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


def _head(status: DaemonStatus, now_ms: int) -> Text:
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


def _cells(job: JobStatus, now_ms: int) -> Sequence[Text]:
    zone, now = load_zone(job.schedule.decider.zone), now_ms // 1000
    coming, away, window = "never again", "", ""
    if job.suspended:
        coming = "suspended"
    elif job.next is not None and job.next.chosen_at is None:
        coming = "unschedulable"
    elif job.next_ms is not None:
        coming = local_text(zone, job.next_ms // 1000)[:19]
        away = countdown(job.next_ms // 1000 - now)
    if job.next is not None:
        window = window_cells(job.next, now)
    active = ", ".join(countdown((now_ms - (row.started_ms or now_ms)) // 1000)
                       for row in job.active)  # fmt: skip
    return (
        Text(job.name, style="bold"),
        Text(coming, style="" if away else "yellow"),
        Text(away, style="cyan"),
        Text(window, style="dim"),
        Text(f"for {active}" if active else "", style="cyan"),
        _last(job.last, now_ms),
    )


def _last(row: RunRow | None, now_ms: int) -> Text:
    if row is None:
        return Text("")
    good = row.status is Status.SUCCESS
    word = str(row.outcome or row.state)
    if row.outcome is Outcome.EXECUTED:
        word = "succeeded" if good else "failed" if row.ended_ms is not None else "started"
    why = f" ({row.reason})" if row.reason is not None else ""
    if row.outcome is Outcome.EXECUTED and not good and row.detail:
        why = f" ({printable(row.detail).partition(' (')[0]})"
    at_ms = row.ended_ms or row.updated_ms
    ago = f", {countdown((now_ms - at_ms) // 1000)} ago" if at_ms else ""
    return Text(f"{word}{why}{ago}", style="green" if good else "" if word == "started" else "red")
