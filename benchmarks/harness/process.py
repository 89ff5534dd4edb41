"""
The parent's side: one engine in one process, asked one thing at a time.

While the parent waits for one worker all others are blocked on their pipes, so only one of them
uses the machine. A worker that is silent for too long is ended, and every later ask of it fails
with that reason.
"""

import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Self

from benchmarks.harness.protocol import (
    Ask,
    Failed,
    Greeting,
    Reply,
    decode_greeting,
    decode_reply,
    encode_ask,
)

__all__ = ["Worker", "WorkerLostError"]

_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "SYSTEMROOT", "GNOMON_POSTGRES_BIN")


class WorkerLostError(Exception):
    """The process ended, or was ended, before it answered."""


class Worker:
    """A running worker. Use it as a context manager; leaving it ends the process."""

    def __init__(self, command: Sequence[str], *, directory: Path, patience: float = 300.0) -> None:
        self._patience = patience
        self._lost: str | None = None
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env=_environment(directory),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        try:
            self.greeting: Greeting = decode_greeting(self._read_line())
        except BaseException:
            self.close()
            raise

    def ask(self, ask: Ask) -> Reply:
        """The worker's reply; `Failed` when there is no worker any more."""
        if self._lost is not None:
            return Failed(reason=self._lost)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(encode_ask(ask))
            self._process.stdin.flush()
            return decode_reply(self._read_line())
        except (WorkerLostError, BrokenPipeError) as error:
            self._lost = str(error) or "the worker closed its pipe"
            return Failed(reason=self._lost)

    def close(self) -> None:
        """End the process: by closing its input, and by force when that does not help."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        watch = Timer(self._patience, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        if not line:
            status = self._process.wait()
            raise WorkerLostError(f"the worker ended with status {status} before it answered")
        return line


def _environment(directory: Path) -> dict[str, str]:
    """The same small environment for every engine: no local zone, zones from tzdata only."""
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    return kept | {
        "PYTHONPATH": str(directory),
        "PYTHONHASHSEED": "0",
        "PYTHONTZPATH": "",
        "TZ": "UTC",
    }
