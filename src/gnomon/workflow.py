"""
Workflows: automations that fetch what is new outside and act on it once.

    from gnomon.workflow import Workflow, applied, not_applied

    orders = Workflow("orders")

Deploy a script with `gnomon workflow deploy`, or run one in a program of your own:

    async with gnomon.workflow.host("workflows.sqlite3", orders) as running:
        await running.commands.publish("orders", "orders", "o1", {"item": 5})

The names below are all that scripts need, besides the exceptions of `gnomon.errors`.

Spec: FLOW-1.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from gnomon.apps.workflow.alarm import Alarm, Alert
from gnomon.apps.workflow.context import Context, Event, Outcome, Prepared
from gnomon.apps.workflow.definition import Workflow
from gnomon.apps.workflow.function_calls import HANDLER_MAX_MS, THREADS
from gnomon.apps.workflow.handler_calls import Call, applied, not_applied, unknown
from gnomon.apps.workflow.host import Host
from gnomon.apps.workflow.mutation_changes import Finding, Resolution
from gnomon.apps.workflow.repair import Repairer, Trouble
from gnomon.apps.workflow.retention import KEEP_MIN_MS, KEEP_MS
from gnomon.errors import DefinitionError
from gnomon.shell.chance import draw_token
from gnomon.shell.clock import SystemClock
from gnomon.shell.store.workflow_opening import open_log, told

__all__ = [
    "Alarm",
    "Alert",
    "Call",
    "Context",
    "Event",
    "Finding",
    "Host",
    "Outcome",
    "Prepared",
    "Repairer",
    "Resolution",
    "Trouble",
    "Workflow",
    "applied",
    "host",
    "not_applied",
    "unknown",
]


@asynccontextmanager
async def host(
    store: str, *workflows: Workflow, threads: int = THREADS, repairer: Repairer | None = None,
    repair_within: timedelta = timedelta(milliseconds=HANDLER_MAX_MS),
    alert: Alert | None = None, keep: timedelta | None = timedelta(milliseconds=KEEP_MS),
) -> AsyncIterator[Host]:  # fmt: skip
    """
    A host, at work until the block ends.

    `store` is a SQLite file, `:memory:`, or the URL of a PostgreSQL database. What is over is
    forgotten after `keep`, a day at least; None keeps everything. Of functions that are no
    coroutines, `threads` are at work at once; with 0 they are called in the loop, one at a time.
    `repairer` is asked for a better script when one has failed, and given up after
    `repair_within`; `alert` is told of each run that waits for a person, and of
    scripts that cannot be loaded.
    When the store is damaged or gone, the block is left with that error.
    """
    keep_ms = None if keep is None else keep // timedelta(milliseconds=1)
    if keep_ms is not None and keep_ms < KEEP_MIN_MS:
        raise DefinitionError(
            "must be at least a day", where="keep", got=keep, hint="write e.g. timedelta(days=90)"
        )
    repair_ms = repair_within // timedelta(milliseconds=1)
    if repair_ms < 1:
        raise DefinitionError(
            "must be some time", where="repair_within", got=repair_within,
            hint="write e.g. timedelta(minutes=5)",
        )  # fmt: skip
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise DefinitionError(
            "must be a whole number, 0 at least", where="threads", got=threads,
            hint=f"leave it out for {THREADS}",
        )  # fmt: skip
    clock = SystemClock()
    log = await open_log(store, to_hold=True)
    holder = f"pid {os.getpid()} on {socket.gethostname()} at {clock.now_ms()}"
    try:
        async with asyncio.timeout(None) as block:  # it is left when the store is damaged or gone
            running = Host(
                log, clock, holder=holder, draw_token=draw_token, threads=threads,
                repairer=repairer, repair_ms=repair_ms, alert=alert, keep_ms=keep_ms,
                on_failure=lambda: block.reschedule(0),
            )  # fmt: skip
            for workflow in workflows:
                await running.deploy(workflow)
            async with told(store, running.look, clock):
                await running.start()
                try:
                    yield running
                finally:
                    await running.stop()
    except TimeoutError:
        if running.failure is not None:
            raise running.failure from None
        raise
    finally:
        await log.close()
