"""
The rows of krond's table: each job with a countdown, its window drawn, what runs and what ran last.

What runs next stands first. A window is a line of cells: `=` has passed, `-` lies ahead, `>` is now
and `*` the chosen second.

Spec: WATCH-1, WATCH-2, KROND-34.
"""

from collections import Counter
from collections.abc import Sequence

from gnomon.apps.krond.status import JobStatus
from gnomon.cli.local_time import local_text
from gnomon.cli.problem import printable
from gnomon.core.civil.zone import load_zone
from gnomon.core.decision import Chosen, Decision
from gnomon.core.ledger.lifecycle import Outcome, Status
from gnomon.ports import RunRow
from gnomon.shell.launcher.process_id import ProcessId

__all__ = ["COLUMNS", "GOOD", "STARTED", "countdown", "job_rows", "window_cells"]

WIDTH = 24
COLUMNS = ("job", "next", "in", "window", "active", "last")
GOOD, STARTED = "succeeded", "started"
"""How a cell begins that says what ran last, when all is well, and when nothing is known yet."""
_DAY = 86_400


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
