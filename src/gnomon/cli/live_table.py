"""
The live table of `gnomon run`: every schedule with what comes next and what came last.

It shows what the ledger says and nothing else, so that it is right after a restart too. As many
schedules are shown as have room; the others are counted.

Spec: CLI-22.
"""

import contextlib
import logging
from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gnomon.apps.run.schedule_table import Entry
from gnomon.cli.local_time import distance, local_text
from gnomon.cli.terminal import console as new_console
from gnomon.compose.run import Screen
from gnomon.core.civil.zone import Zone
from gnomon.core.ledger.lifecycle import WAITING, Outcome, State, Status
from gnomon.errors import StoreError
from gnomon.ports import Clock, Ledger, RunRow

__all__ = ["Line", "live_screen", "live_table", "read_lines"]

SHOW_EVERY_MS = 1_000
_LINES_BESIDE = 4  # headings and the like

_COLUMNS = ("schedule", "means", "next", "", "last", "ended", "in flight")
_NEWEST = 20
"""How many rows of a schedule are looked at."""


class Line(NamedTuple):
    """One schedule as it stands now."""

    name: str
    sentence: str
    zone: Zone
    next_ms: int | None
    last: RunRow | None
    in_flight: int


def live_screen(entries: Sequence[Entry], clock: Clock) -> Screen:
    """The table on standard output, with log lines above it."""
    console = new_console()

    async def show(ledger: Ledger) -> None:
        """Draw it again and again until cancelled, and then once more."""
        with Live(console=console, auto_refresh=False) as live:
            try:
                while True:
                    now_ms = clock.now_ms()
                    await _draw(live, ledger, entries, now_ms)
                    await clock.sleep_ms(SHOW_EVERY_MS - now_ms % SHOW_EVERY_MS)
            finally:
                await _draw(live, ledger, entries, clock.now_ms())

    return Screen(_AboveTheTable(console), show)


async def read_lines(ledger: Ledger, entries: Sequence[Entry], *, now_ms: int) -> list[Line]:
    """What the ledger says about these schedules."""
    lines = []
    for entry in entries:
        row = await ledger.get(entry.schedule.schedule_id)
        rows = await ledger.runs(entry.schedule.schedule_id, limit=_NEWEST)
        done = [run for run in rows if run.state is State.DONE]
        lines.append(
            Line(
                name=entry.name,
                sentence=entry.reading.recurrence.describe(),
                zone=entry.reading.zone,
                next_ms=_next_ms(entry, rows, row.cursor if row else 0, now_ms),
                last=max(done, key=lambda run: run.ended_ms or 0, default=None),
                in_flight=row.in_flight if row else 0,
            )
        )
    return lines


def live_table(lines: Sequence[Line], *, left_out: int, now_ms: int) -> RenderableType:
    """The table as it looks at `now_ms`."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    for column in _COLUMNS:
        squeezes = column == "means"
        grid.add_column(column, no_wrap=True, ratio=1 if squeezes else None)
    for line in lines:
        grid.add_row(*_cells(line, now_ms))
    if not left_out:
        return grid
    return Group(grid, Text(f"and {left_out} more", style="dim"))


def _next_ms(entry: Entry, rows: Sequence[RunRow], cursor: int, now_ms: int) -> int | None:
    """When something is next to run: a period that waits, or the first that is not yet planned."""
    waiting = [run.fire_ms for run in rows if run.state in WAITING]
    nominal = entry.schedule.recurrence.next_epoch(max(cursor, now_ms // 1000 - 1))
    if nominal is not None:
        waiting.append(entry.schedule.chosen_ms(nominal) or nominal * 1000)
    return min(waiting, default=None)


def _cells(line: Line, now_ms: int) -> list[Text]:
    coming = away = ended = ""
    if line.next_ms is not None:
        coming = local_text(line.zone, line.next_ms // 1000)
        away = distance(max(line.next_ms - now_ms, 0) // 1000)
    last = Text("")
    if line.last is not None:
        last = _last(line.last)
        ended = local_text(line.zone, (line.last.ended_ms or 0) // 1000)[11:19]
    return [
        Text(line.name, style="bold"),
        Text(line.sentence),
        Text(coming or "never again"),
        Text(away, style="dim"),
        last,
        Text(ended),
        Text(str(line.in_flight) if line.in_flight else "", style="cyan"),
    ]


def _last(row: RunRow) -> Text:
    words = [row.outcome or ""]
    if row.outcome is Outcome.EXECUTED:
        words = ["succeeded" if row.status is Status.SUCCESS else "failed", row.detail or ""]
    if row.reason is not None:
        words.append(f"({row.reason})")
    good = row.status is Status.SUCCESS
    return Text(" ".join(word for word in words if word), style="green" if good else "yellow")


async def _draw(live: Live, ledger: Ledger, entries: Sequence[Entry], now_ms: int) -> None:
    shown = entries[: max(live.console.height - _LINES_BESIDE, 1)]
    with contextlib.suppress(StoreError):  # the runtime says so, and tries again
        lines = await read_lines(ledger, shown, now_ms=now_ms)
        left_out = len(entries) - len(shown)
        live.update(live_table(lines, left_out=left_out, now_ms=now_ms), refresh=True)


class _AboveTheTable(logging.Handler):
    """Log lines go above the live table, which would be torn by anything else."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print(Text(self.format(record), style="yellow"))
