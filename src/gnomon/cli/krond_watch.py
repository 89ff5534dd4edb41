"""
`gnomon krond status --watch`: the status, drawn again every second until one has seen enough.

The state is read as often as it can be without being felt: at most a twentieth of the time goes
into it, however many jobs there are. Between two readings the countdowns go on.

Spec: WATCH-3.
"""

import asyncio
import contextlib

from rich.console import Console
from rich.live import Live

from gnomon.apps.krond.state import StateDirectory
from gnomon.apps.krond.status import DaemonStatus, read_status
from gnomon.cli.krond_table import status_table
from gnomon.errors import DefinitionError, StoreError
from gnomon.ports import Clock

__all__ = ["watch_status"]

DRAW_MS = 1_000
SHARE = 20
_LINES_BESIDE = 4


def watch_status(state: StateDirectory, clock: Clock, console: Console) -> None:
    """Show it until interrupted."""
    if not console.is_terminal:
        raise DefinitionError(
            "needs a terminal", where="watch", got="no terminal",
            hint="leave --watch out, or say --json",
        )  # fmt: skip
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_watch(state, clock, console))


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
