"""
The command that runs a file of schedules: `gnomon run`.

Here the parts are put together: the ledger, which this process owns alone unless it is in a
database, the launcher of processes, the clock and the runtime. What a former owner left behind is
taken over first: runs that still go on are adopted, the others are settled. Then the schedules of
the file are saved, and those that the file no longer has are deleted, with their history kept.

With `--once` turns are taken as always until all that was due at the start has been started; then
nothing more is claimed, and the runs come to their end.

Spec: CLI-20 to CLI-23, CLI-30, CLI-31, CLI-37, CLI-41.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from rich.console import Console
from rich.live import Live
from rich.text import Text

from gnomon.apps.run.narration import Narration
from gnomon.apps.run.saving import StoredLedger, check_file, save_file
from gnomon.apps.run.schedule_table import Entry
from gnomon.cli.live_table import live_table, read_lines
from gnomon.cli.screen import console as new_console
from gnomon.compose.run_metrics import RunPage, metrics_listener, metrics_served
from gnomon.compose.shared_database import SharedDatabase
from gnomon.errors import StoreError
from gnomon.ports import Clock, Ledger
from gnomon.shell.launcher.process import Manner, ProcessLauncher
from gnomon.shell.launcher.strain import raise_limit
from gnomon.shell.narrating import NarratingLedger
from gnomon.shell.observe.exposition import Family
from gnomon.shell.observe.log_lines import log_lines
from gnomon.shell.observe.telemetry import log
from gnomon.shell.store.belonging import Door, NotedLedger, belong
from gnomon.shell.store.sqlite import ledger_thread
from gnomon.shell.worker.hosting import Host
from gnomon.shell.worker.runtime import Runtime
from gnomon.shell.worker.stopping import Stopper

__all__ = ["RunOptions", "run_schedules"]

SHOW_EVERY_MS = 1_000
ONCE_LOOK_MS = 100
"""How often `--once` asks whether everything has been started."""
_AHEAD = {
    True: "gnomon run --replan has run after all what was not started and lies ahead",
    False: "wait until then; workers whose clock is right run everything else",
}
_LINES_BESIDE = 4  # headings and the like, in a terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run."""

    file: Path
    store: Path
    """The ledger's file, and the name of the directory for what commands print."""
    database: SharedDatabase | None
    """The ledger on PostgreSQL, when it is not in a file."""
    once: bool
    length_ms: int | None
    """How long to run; None for until told to stop."""
    grace_ms: int
    """How long runs may take to end after the first signal."""
    keep_ms: int | None
    """How long finished rows are kept; None for ever."""
    json_log: bool
    replan: bool = False
    """Whether to plan again first what lies ahead and was judged by a clock that was ahead."""
    metrics: tuple[str, int] | None = None
    """Where to tell how this worker is doing, as a host and a port; None for nowhere."""


def run_schedules(entries: Sequence[Entry], options: RunOptions, clock: Clock) -> bool:
    """Run until told to stop; False when it was told twice."""
    shows = sys.stdout is not None and sys.stdout.isatty() and not options.json_log
    console = new_console() if shows else None
    handler: logging.Handler = (
        logging.StreamHandler(sys.stderr) if console is None else _AboveTheTable(console)
    )
    with (
        # First, so that a port that is taken stops nothing midway.
        metrics_listener(options.metrics) as listener,
        log_lines(handler, as_json=options.json_log),
    ):
        return asyncio.run(_run(entries, options, clock, console, listener))


async def _run(
    entries: Sequence[Entry], options: RunOptions, clock: Clock, console: Console | None,
    listener: socket | None,
) -> bool:  # fmt: skip
    stopper, started_ms = Stopper(options.grace_ms), clock.now_ms()
    async with stopper.listening(), _open(options) as ledger:
        await check_file(ledger, entries, options.file, place=_shown(options))
        launcher = ProcessLauncher(
            clock, directory=options.store.with_suffix(".output"),
            cwd=options.file.absolute().parent, manner=Manner(descriptors=raise_limit()),
        )  # fmt: skip
        host = Host(ledger, launcher, clock, ahead_hint=_AHEAD[options.database is None])
        if options.replan:
            await _replan(ledger, clock)
        if options.database is None:
            await host.runtime.recover()
        await save_file(ledger, entries, options.file, now_ms=clock.now_ms())
        log(logging.INFO, "running", schedules=len(entries), store=_shown(options))
        beside = []
        if options.once:
            beside.append(_finish_soon(ledger, host.runtime, clock))
        if console is not None:
            beside.append(_show(console, ledger, entries, clock))
        if options.length_ms is not None:
            beside.append(_stop_after(options, stopper, clock))
        page = RunPage(
            host=host,
            schedules=len(entries),
            started_ms=started_ms,
            others=_others(ledger, options),
        )
        async with metrics_served(listener, page.text), _attended(ledger, options, host, clock):
            return await host.run(stopper, keep_ms=options.keep_ms, beside=beside)


@contextlib.asynccontextmanager
async def _open(options: RunOptions) -> AsyncIterator[StoredLedger]:
    if options.database is not None:
        from gnomon.compose.shared_run import open_shared  # they need an extra

        async with open_shared(options.database) as shared:
            await _belong(shared, options, hint="name another schema with --schema")
            yield shared
        return
    with ledger_thread() as thread:
        ledger = NarratingLedger.open(options.store, executor=thread, exclusive=True)
        ledger.narrator = Narration()
        try:
            await _belong(ledger, options, hint="name another file with --store")
            yield ledger
        finally:
            await ledger.close()


async def _replan(ledger: StoredLedger, clock: Clock) -> None:
    assert isinstance(ledger, NarratingLedger)  # the options do not allow it with a database
    replanned = await ledger.replan(now_ms=clock.now_ms())
    log(
        logging.INFO, "replanned", schedules=replanned.schedules, periods=replanned.periods,
        all=replanned.is_all,
    )  # fmt: skip


async def _belong(ledger: NotedLedger, options: RunOptions, *, hint: str) -> None:
    otherwise = f"; {options.file.name} would delete its schedules"
    await belong(ledger, Door.RUN, place=_shown(options), otherwise=otherwise, hint=hint)


@contextlib.asynccontextmanager
async def _attended(
    ledger: StoredLedger, options: RunOptions, host: Host, clock: Clock
) -> AsyncIterator[None]:
    """With a ledger that others use too: listen, and be seen."""
    if options.database is None:
        yield
        return
    from gnomon.compose.shared_run import SharedLedger, attended

    assert isinstance(ledger, SharedLedger)
    async with attended(ledger, options.database, host.runtime, host.owner, clock):
        yield


def _others(
    ledger: StoredLedger, options: RunOptions
) -> Callable[[], Awaitable[Sequence[Family]]] | None:
    if options.database is None:
        return None
    from gnomon.compose.shared_run import SharedLedger
    from gnomon.shell.observe.heartbeats import Heartbeats

    assert isinstance(ledger, SharedLedger)
    return Heartbeats(ledger).families


def _shown(options: RunOptions) -> str:
    return str(options.store) if options.database is None else options.database.place


async def _finish_soon(ledger: StoredLedger, runtime: Runtime, clock: Clock) -> None:
    """Claim nothing more once all that is due now has been started, or given up."""
    at_ms = clock.now_ms()
    while await _still_owes(ledger, at_ms):
        await clock.sleep_ms(ONCE_LOOK_MS)
    await runtime.finish()


async def _still_owes(ledger: StoredLedger, at_ms: int) -> bool:
    try:
        return await ledger.still_owes(at_ms=at_ms)
    except StoreError:  # the runtime says so, and tries again
        return True


async def _stop_after(options: RunOptions, stopper: Stopper, clock: Clock) -> None:
    await clock.sleep_ms(options.length_ms or 0)
    stopper.stop(options.grace_ms)


async def _show(console: Console, ledger: Ledger, entries: Sequence[Entry], clock: Clock) -> None:
    """Draw the table again and again until cancelled, and then once more."""
    with Live(console=console, auto_refresh=False) as live:
        try:
            while True:
                now_ms = clock.now_ms()
                await _draw(live, ledger, entries, now_ms)
                await clock.sleep_ms(SHOW_EVERY_MS - now_ms % SHOW_EVERY_MS)
        finally:
            await _draw(live, ledger, entries, clock.now_ms())


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
