"""
`gnomon workflow run`: a process that serves the workflows of a store until it is told to stop.

It may be given two programs, one that mends scripts and one that tells a person what waits. Each
gets one JSON object on its standard input. What a repairer prints is the new script; without a line
it has none.

Spec: WCLI-1, FAIL-20, SEEN-13, SEEN-15.
"""

import asyncio
import contextlib
import json
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

from gnomon.apps.workflow.alarm import Alarm
from gnomon.apps.workflow.records import mutation_record, run_record
from gnomon.apps.workflow.repair import Trouble
from gnomon.apps.workflow.script import load_workflow
from gnomon.errors import MissingExtraError
from gnomon.ports import Clock
from gnomon.shell.observe.log import PlainLines
from gnomon.shell.side_program import ask_program, read_program
from gnomon.workflow import Alert, Host, Repairer, host

__all__ = ["alert_by", "repair_by", "run_workflows"]


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


def repair_by(words: list[str]) -> Repairer:
    """Ask this program for a better script."""

    async def repair(trouble: Trouble) -> str | None:
        question = {
            "workflow": trouble.workflow, "script": trouble.script, "error": trouble.error,
            "run": run_record(trouble.run, {}),
        }  # fmt: skip
        answer = await ask_program(words, json.dumps(question))
        return answer if answer.strip() else None

    return repair


def _beside(
    store: str, clock: Clock, http: str | None, access: Path | None
) -> Callable[[Host], AbstractAsyncContextManager[None]]:
    """What is served beside the work of the host; wrong options are refused before any of it."""
    if http is None:
        return lambda running: contextlib.nullcontext()
    try:
        from gnomon.compose.workflow_http import prepare_http
    except ImportError as error:
        raise MissingExtraError("workflows over HTTP", extra="service") from error
    return prepare_http(http, access, store, clock)


def alert_by(words: list[str]) -> Alert:
    """Have this program tell a person of what waits."""

    async def alert(alarm: Alarm) -> None:
        told = {
            "workflow": alarm.workflow, "title": alarm.title, "status": alarm.status,
            "issue": alarm.issue, "answer": alarm.answer, "script": alarm.script,
            "run": None if alarm.run is None else run_record(alarm.run, {}),
            "mutation": None if alarm.mutation is None else mutation_record(alarm.mutation),
        }  # fmt: skip
        await ask_program(words, json.dumps(told))

    return alert
