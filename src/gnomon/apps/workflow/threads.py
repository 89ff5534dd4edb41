"""
The threads in which functions of authors are called.

A function may block as long as it likes, so each has a thread to itself, up to a bound; threads are
kept for the next. A function that was given up cannot be ended: its thread is counted apart, and
its place is free for another, up to as many again. Threads keep no process alive: what was given up
can reach nothing any more, and must not keep a host from stopping.

Spec: HOST-7, HOST-8.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple

from gnomon.apps.workflow.log import log

__all__ = ["THREADS", "ThreadFigures", "Threads"]

THREADS = 64
"""How many functions can be at work at once, unless a host says otherwise."""
_Work = Callable[[], object]
_Done = Callable[[object], None]


class ThreadFigures(NamedTuple):
    """How many functions are at work, wait for a thread, or were given up and go on."""

    busy: int
    waiting: int
    left: int
    most: int


class Threads:
    """The threads of one host; `most` functions are at work at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._idle: list[SimpleQueue[tuple[_Work, _Done] | None]] = []
        self._left: dict[asyncio.Future[object], bool] = {}
        """Those that were given up, and whether they still have a place."""
        self._is_short = False
        self._is_closed = False

    def figures(self) -> ThreadFigures:
        waiting = sum(not one.done() for one in self._waiting)
        return ThreadFigures(self._busy, waiting, len(self._left), self._most)

    async def place(self) -> None:
        """Wait until one more function can be at work; a caller that has waited calls `run`."""
        if self._busy < self._most:
            self._busy += 1
            return
        if not self._is_short:
            self._is_short = True
            log(logging.WARNING, "ThreadsAllBusy", threads=self._most, left=len(self._left))
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave_place()
            raise

    async def run(self, work: _Work, name: str) -> object:
        """What the work returns, which must not raise; it has a place already."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[object] = loop.create_future()
        queue = self._idle.pop() if self._idle else _start()

        def done(result: object) -> None:
            try:
                loop.call_soon_threadsafe(lambda: self._end(ended, queue, result, name))
            except RuntimeError:  # the loop has ended meanwhile
                queue.put(None)

        queue.put((work, done))
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            if not ended.done():
                self._give_up(ended, name)
            raise

    def close(self) -> None:
        """Let idle threads end; the others end when they are done."""
        self._is_closed = True
        for queue in self._idle:
            queue.put(None)
        self._idle.clear()

    def _give_up(self, ended: asyncio.Future[object], name: str) -> None:
        frees = sum(not has_place for has_place in self._left.values()) < self._most
        self._left[ended] = not frees
        log(logging.WARNING, "ThreadLeft", function=name, left=len(self._left))
        if frees:
            self._leave_place()

    def _end(
        self, ended: asyncio.Future[object], queue: SimpleQueue[tuple[_Work, _Done] | None],
        result: object, name: str,
    ) -> None:  # fmt: skip
        if self._is_closed:
            queue.put(None)
        else:
            self._idle.append(queue)
        if self._left.pop(ended, True):
            self._leave_place()
        else:
            log(logging.INFO, "ThreadBack", function=name, left=len(self._left))
        ended.set_result(result)

    def _leave_place(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._is_short = False
        self._busy -= 1


def _start() -> SimpleQueue[tuple[_Work, _Done] | None]:
    queue: SimpleQueue[tuple[_Work, _Done] | None] = SimpleQueue()
    Thread(target=_serve, args=(queue,), name="gnomon-handler", daemon=True).start()
    return queue


def _serve(queue: SimpleQueue[tuple[_Work, _Done] | None]) -> None:
    while (order := queue.get()) is not None:
        work, done = order
        done(work())
