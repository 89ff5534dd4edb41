"""
How does work that waits learn that it need not wait any longer?

Within a process by `Wakeup`. Between processes that share a store by a named pipe beside it: a
reader listens, and a writer that has changed the store writes one byte that says nothing. A byte
without a reader is lost, and so may others be; the reader looks at the store anyway before long.

Spec: HOST-2, POLL-2.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TypeVar

from gnomon.ports import Clock

__all__ = ["FileWakeup", "Wakeup", "all_done_within", "wake_readers"]

_MEMORY = ":memory:"
_Result = TypeVar("_Result")


class Wakeup:
    """A wait that ends when it is set, or when its time is up."""

    def __init__(self) -> None:
        self.is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def set(self) -> None:
        self.is_set = True
        if self._waiter is not None:
            _fulfil(self._waiter)

    def clear(self) -> None:
        self.is_set = False

    async def wait(self, clock: Clock, length_ms: int) -> None:
        """Return when it has been set since it was cleared, or this much time has passed."""
        if self.is_set or length_ms <= 0:
            return
        waiter = self._waiter = asyncio.get_running_loop().create_future()
        alarm = asyncio.ensure_future(clock.sleep_ms(length_ms))
        alarm.add_done_callback(lambda _: _fulfil(waiter))
        try:
            await waiter
        finally:
            alarm.cancel()
        if alarm.done():
            alarm.result()  # whatever the clock has to say


class FileWakeup:
    """Calls `answer` in the running loop when a writer wakes it, as long as the block lasts."""

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
            # Open for both, so that it never ends when the writers have gone.
            self._pipe = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        except OSError:  # a file system without pipes: the reader hears of changes when it looks
            return
        asyncio.get_running_loop().add_reader(self._pipe, self._on_byte)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def _on_byte(self) -> None:
        assert self._pipe is not None
        with contextlib.suppress(BlockingIOError):
            os.read(self._pipe, 4096)
        self._answer()


async def all_done_within(
    clock: Clock, futures: Iterable["asyncio.Future[_Result]"], length_ms: int
) -> bool:
    """Wait until all of these are done, but no longer than this; say whether they are."""
    waiting = [future for future in futures if not future.done()]
    if not waiting:
        return True
    whole = asyncio.ensure_future(asyncio.wait(waiting))
    alarm = asyncio.ensure_future(clock.sleep_ms(length_ms))
    try:
        await asyncio.wait([whole, alarm], return_when=asyncio.FIRST_COMPLETED)
    finally:
        whole.cancel()
        alarm.cancel()
        await asyncio.wait([whole, alarm])
    return all(future.done() for future in waiting)


def wake_readers(store: str) -> None:
    """Tell the process that serves this store that it has changed."""
    with contextlib.suppress(OSError):
        pipe = os.open(_path(store), os.O_WRONLY | os.O_NONBLOCK)
        try:
            if stat.S_ISFIFO(os.fstat(pipe).st_mode):
                os.write(pipe, b".")
        finally:
            os.close(pipe)


def _path(store: str) -> str:
    return f"{store}.bell"


def _fulfil(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
