"""
`gnomon workflow run`: a process that serves the workflows of a store until it is told to stop.

Spec: WCLI-1.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

from gnomon.apps.workflow.script import load_workflow
from gnomon.cli.log_lines import PlainLines
from gnomon.cli.workflow_hooks import alert_by, repair_by
from gnomon.errors import MissingExtraError
from gnomon.ports import Clock
from gnomon.shell.side_program import read_program
from gnomon.workflow import Host, host

__all__ = ["run_workflows"]


def run_workflows(
    files: Sequence[Path], store: str, clock: Clock, *, keep: timedelta | None, http: str | None,
    access: Path | None, threads: int, repairer: str = "", repair_ms: int = 0, alert: str = "",
) -> int:  # fmt: skip
    """Deploy, serve, and return the exit code: 130 when it was told twice to stop."""
    scripts = [(file, file.read_text(encoding="utf-8")) for file in files]
    workflows = [
        (load_workflow(text, where=str(file), folder=file.parent), text) for file, text in scripts
    ]
    repair = repair_by(read_program(repairer, where="repairer")) if repairer else None
    tell = alert_by(read_program(alert, where="alert")) if alert else None
    beside = _beside(store, clock, http, access)
    handler = logging.StreamHandler()
    handler.setFormatter(PlainLines("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])

    async def serve() -> bool:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        whole = asyncio.current_task()
        assert whole is not None

        def on_signal() -> None:
            if stop.is_set():
                whole.cancel()
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, on_signal)
        with contextlib.suppress(asyncio.CancelledError):
            async with host(
                store,
                keep=keep,
                threads=threads,
                repairer=repair,
                alert=tell,
                repair_within=timedelta(milliseconds=repair_ms),
            ) as running:
                for workflow, text in workflows:
                    await running.deploy(workflow, text=text)
                async with beside(running):
                    await stop.wait()
            return True
        return False

    return 0 if asyncio.run(serve()) else 130


def _beside(
    store: str, clock: Clock, http: str | None, access: Path | None
) -> Callable[[Host], AbstractAsyncContextManager[None]]:
    """What is served beside the work of the host; wrong options are refused before any of it."""
    if http is None:
        return lambda running: contextlib.nullcontext()
    try:
        from gnomon.cli.workflow_http import prepare_http
    except ImportError as error:
        raise MissingExtraError("workflows over HTTP", extra="service") from error
    return prepare_http(http, access, store, clock)
