"""
`gnomon krond status --watch`: the status, drawn again every second until one has seen enough.

The state is read as often as it can be without being felt: at most a twentieth of the time goes
into it, however many jobs there are. Between two readings the countdowns go on. As many jobs are
shown as have room; the others are counted.

Spec: WATCH-1 to WATCH-3.
"""

import asyncio
import contextlib

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gnomon.apps.krond.state import StateDirectory
from gnomon.apps.krond.status import DaemonStatus, read_status
from gnomon.cli.krond_view import COLUMNS, GOOD, STARTED, job_rows
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Clock

__all__ = ["status_table", "watch_status"]

DRAW_MS = 1_000
SHARE = 20
_LINES_BESIDE = 4
_STYLES = {"job": "bold", "in": "cyan", "window": "dim", "active": "cyan"}


def watch_status(state: StateDirectory, clock: Clock, console: Console) -> None:
    """Show it until interrupted."""
    if not console.is_terminal:
        raise DefinitionError(
            "needs a terminal",
            where="watch",
            got="no terminal",
            hint="leave --watch out, or say --json",
        )
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(state, clock, console))


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


async def _watch(state: StateDirectory, clock: Clock, console: Console) -> None:
    status, wait_ms = await _read(state, clock, None)
    read_ms = clock.monotonic_ms()
    with Live(console=console, auto_refresh=False, screen=True) as live:
        while True:
            now_ms = clock.now_ms()
            rows_max = max(console.height - _LINES_BESIDE, 1)
            live.update(status_table(status, now_ms=now_ms, rows_max=rows_max), refresh=True)
            await clock.sleep_ms(DRAW_MS - now_ms % DRAW_MS)
            if clock.monotonic_ms() - read_ms >= wait_ms:
                status, wait_ms = await _read(state, clock, status)
                read_ms = clock.monotonic_ms()


async def _read(
    state: StateDirectory, clock: Clock, former: DaemonStatus | None
) -> tuple[DaemonStatus, int]:
    """The status, and how long to wait before reading it again."""
    began_ms = clock.monotonic_ms()
    try:
        status = await read_status(state)
    except StoreError:
        if former is None:
            raise
        status = former  # it may be replaced at the moment
    return status, SHARE * (clock.monotonic_ms() - began_ms)


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


def _styled(column: str, cell: str) -> Text:
    if column == "last":
        fine = cell.startswith(GOOD)
        return Text(cell, style="green" if fine else "" if cell.startswith(STARTED) else "red")
    return Text(cell, style=_STYLES.get(column, ""))
