"""
Which store is meant: a file, memory, or a database that many machines share?

A text that begins like the address of a PostgreSQL server is one; anything else is a file. A host
that serves a store is told when other processes have changed it: through a pipe beside the file, or
by the database.

Spec: HOST-2, WCLI-3.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from gnomon.ports import Clock
from gnomon.ports.workflow_log import WorkflowLog
from gnomon.shell.store.file_name import check_file_name
from gnomon.shell.store.workflow_examination import WorkflowExamination, examine_workflows
from gnomon.shell.store.workflow_log import SqliteWorkflowLog
from gnomon.shell.wake import FileWakeup, wake_readers

__all__ = ["examine_store", "is_shared", "open_log", "ring_for", "told"]

_SCHEMES = ("postgresql://", "postgres://")


def is_shared(store: str) -> bool:
    """Whether it is a database that many machines can share."""
    return store.startswith(_SCHEMES)


async def open_log(store: str, *, to_hold: bool = False, threaded: bool = True) -> WorkflowLog:
    """Open a store; `to_hold` for a host that serves it."""
    if is_shared(store):
        from gnomon.shell.store.postgres.workflow_log import PostgresWorkflowLog  # an extra

        return await PostgresWorkflowLog.open(store)
    check_file_name(store)
    return await SqliteWorkflowLog.open(store, to_hold=to_hold, threaded=threaded)


def examine_store(store: str) -> WorkflowExamination:
    """Look whether the workflows of a store are in good order."""
    if is_shared(store):
        from gnomon.shell.store.postgres.workflow_examination import examine_shared_workflows

        return asyncio.run(examine_shared_workflows(store))
    return examine_workflows(Path(store))


def ring_for(store: str) -> None:
    """Tell the host that serves the store that it has changed; a database does so by itself."""
    if not is_shared(store):
        wake_readers(store)


@asynccontextmanager
async def told(store: str, look: Callable[[], None], clock: Clock) -> AsyncIterator[None]:
    """Call `look` whenever another process has changed the store, while the block lasts."""
    if not is_shared(store):
        with FileWakeup(store, look):
            yield
        return
    from gnomon.shell.store.postgres.listener import listen
    from gnomon.shell.store.postgres.statement import Statements

    channel = Statements(file="workflow.sql").channel
    listening = asyncio.create_task(listen(store, channel, look, clock))
    try:
        yield
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
