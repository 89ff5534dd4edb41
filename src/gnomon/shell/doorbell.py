"""
How does one process tell another that a file has changed, without anybody asking all the time?

Beside the store stands a named pipe. Whoever serves the store listens to it, and whoever has
written rings it, with one byte that says nothing. When nobody listens, ringing does nothing; when a
ring is lost, whoever serves looks anyway before long.

Spec: HOST-2.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable
from types import TracebackType

__all__ = ["Doorbell", "ring"]

_MEMORY = ":memory:"


class Doorbell:
    """Calls `answer` in the running loop when somebody rings, as long as the block lasts."""

    def __init__(self, store: str, answer: Callable[[], None]) -> None:
        self._path = None if store == _MEMORY else _path(store)
        self._answer = answer
        self._pipe: int | None = None

    def __enter__(self) -> None:
        if self._path is None:
            return
        try:
            with contextlib.suppress(FileExistsError):
                os.mkfifo(self._path, 0o600)
            if not stat.S_ISFIFO(os.stat(self._path).st_mode):
                return
            # Open for both, so that it never ends when those who ring have gone.
            self._pipe = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        except OSError:  # a file system without pipes: others are heard when we look
            return
        asyncio.get_running_loop().add_reader(self._pipe, self._on_ring)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def _on_ring(self) -> None:
        assert self._pipe is not None
        with contextlib.suppress(BlockingIOError):
            os.read(self._pipe, 4096)
        self._answer()


def ring(store: str) -> None:
    """Tell whoever serves the store that it has changed."""
    with contextlib.suppress(OSError):
        pipe = os.open(_path(store), os.O_WRONLY | os.O_NONBLOCK)
        try:
            if stat.S_ISFIFO(os.fstat(pipe).st_mode):
                os.write(pipe, b".")
        finally:
            os.close(pipe)


def _path(store: str) -> str:
    return f"{store}.bell"
