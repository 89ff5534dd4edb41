"""
How a file of schedules is run: `gnomon run`.

The parts are the ledger, which this process owns alone unless it is in a database, the launcher of
processes, the clock and the runtime. What a former owner left behind is taken over first: runs that
still go on are adopted, the others are settled. Then the schedules of the file are saved, and those
that the file no longer has are deleted, with their history kept.

With `--once` turns are taken as always until all that was due at the start has been started; then
nothing more is claimed, and the runs come to their end.

Spec: CLI-20 to CLI-23, CLI-30, CLI-31, CLI-37, CLI-41.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import NamedTuple

from gnomon.apps.run.narration import Narration
from gnomon.apps.run.saving import StoredLedger, check_file, save_file
from gnomon.apps.run.schedule_table import Entry
from gnomon.compose.run_metrics import RunPage, metrics_listener, metrics_served
from gnomon.compose.shared_database import SharedDatabase
from gnomon.errors import StoreError
from gnomon.ports import Clock, Ledger
from gnomon.shell.launcher.process import ProcessLauncher, ProcessRules
from gnomon.shell.launcher.strain import raise_limit
from gnomon.shell.observe.counts import Family
from gnomon.shell.observe.log import log, log_lines
from gnomon.shell.store.belonging import Door, NotedLedger, belong
from gnomon.shell.store.sqlite import SqliteLedger, ledger_thread
from gnomon.shell.worker.process import Process, Stopper
from gnomon.shell.worker.runtime import Runtime

__all__ = ["RunOptions", "Screen", "run_schedules"]

ONCE_LOOK_MS = 100
"""How often `--once` asks whether everything has been started."""
_AHEAD = {
    True: "gnomon run --replan has run after all what was not started and lies ahead",
    False: "wait until then; workers whose clock is right run everything else",
}


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


class Screen(NamedTuple):
    """What shows a person the schedules while they run."""

    handler: logging.Handler
    """Where log lines go meanwhile."""
    show: Callable[[Ledger], Coroutine[object, object, None]]
    """Draws what the ledger says until it is cancelled."""


def run_schedules(
    entries: Sequence[Entry], options: RunOptions, clock: Clock, screen: Screen | None = None
) -> bool:
    """Run until told to stop; False when it was told twice."""
    handler = logging.StreamHandler(sys.stderr) if screen is None else screen.handler
    with (
        # First, so that a port that is taken stops nothing midway.
        metrics_listener(options.metrics) as listener,
        log_lines(handler, as_json=options.json_log),
    ):
        return asyncio.run(_run(entries, options, clock, screen, listener))


async def _run(
    entries: Sequence[Entry], options: RunOptions, clock: Clock, screen: Screen | None,
    listener: socket | None,
) -> bool:  # fmt: skip
    stopper, started_ms = Stopper(options.grace_ms), clock.now_ms()
    async with stopper.listening(), _open(options) as ledger:
        await check_file(ledger, entries, options.file, place=_shown(options))
        launcher = ProcessLauncher(
            clock, directory=options.store.with_suffix(".output"),
            cwd=options.file.absolute().parent, rules=ProcessRules(descriptors=raise_limit()),
        )  # fmt: skip
        process = Process(
            ledger, launcher, clock,
            observer=Narration(), ahead_hint=_AHEAD[options.database is None],
        )  # fmt: skip
        if options.replan:
            await _replan(ledger, clock)
        if options.database is None:
            await process.runtime.recover()
        await save_file(ledger, entries, options.file, now_ms=clock.now_ms())
        log(logging.INFO, "running", schedules=len(entries), store=_shown(options))
        beside = []
        if options.once:
            beside.append(_finish_soon(ledger, process.runtime, clock))
        if screen is not None:
            beside.append(screen.show(ledger))
        if options.length_ms is not None:
            beside.append(_stop_after(options, stopper, clock))
        page = RunPage(
            process=process,
            schedules=len(entries),
            started_ms=started_ms,
            others=_others(ledger, options),
        )
        async with metrics_served(listener, page.text), _attended(ledger, options, process, clock):
            return await process.run(stopper, keep_ms=options.keep_ms, beside=beside)


@contextlib.asynccontextmanager
async def _open(options: RunOptions) -> AsyncIterator[StoredLedger]:
    if options.database is not None:
        from gnomon.compose.shared_run import open_shared  # they need an extra

        async with open_shared(options.database) as shared:
            await _belong(shared, options, hint="name another schema with --schema")
            yield shared
        return
    with ledger_thread() as thread:
        ledger = SqliteLedger.open(options.store, executor=thread, exclusive=True)
        try:
            await _belong(ledger, options, hint="name another file with --store")
            yield ledger
        finally:
            await ledger.close()


async def _replan(ledger: StoredLedger, clock: Clock) -> None:
    assert isinstance(ledger, SqliteLedger)  # the options do not allow it with a database
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
    ledger: StoredLedger, options: RunOptions, process: Process, clock: Clock
) -> AsyncIterator[None]:
    """With a ledger that others use too: listen, and be seen."""
    if options.database is None:
        yield
        return
    from gnomon.compose.shared_run import attended
    from gnomon.shell.store.postgres.ledger import PostgresLedger

    assert isinstance(ledger, PostgresLedger)
    async with attended(ledger, options.database, process.runtime, process.owner, clock):
        yield


def _others(
    ledger: StoredLedger, options: RunOptions
) -> Callable[[], Awaitable[Sequence[Family]]] | None:
    if options.database is None:
        return None
    from gnomon.compose.heartbeats import Heartbeats
    from gnomon.shell.store.postgres.ledger import PostgresLedger

    assert isinstance(ledger, PostgresLedger)
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
