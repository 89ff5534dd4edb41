"""
Functions of authors at work: coroutines in the event loop, other functions in threads.

A handler that takes too long is given up; whatever it does later reaches nothing, since its context
is closed by then. A tool that mutates is given up only when it is a coroutine, and then its end is
waited for: a thread cannot be ended, and a mutation that comes after one has asked whether it was
made would be made twice.

A function may block as long as it likes, so each has a thread to itself, up to a bound; threads are
kept for the next. A function that was given up cannot be ended: its thread is counted apart, and
its place is free for another, up to as many again. Threads keep no process alive: what was given up
can reach nothing any more, and must not keep a host from stopping.

Spec: FLOW-19, FLOW-20, MUTATE-3, HOST-7, HOST-8.
"""

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from threading import Thread
from typing import NamedTuple, TypeVar

from gnomon.apps.workflow.log import log
from gnomon.apps.workflow.pending_events import at_once
from gnomon.errors import LogicError, TransientError
from gnomon.ports import Clock

__all__ = [
    "HANDLER_MAX_MS",
    "RECONCILE_MAX_MS",
    "THREADS",
    "FunctionCalls",
    "ThreadFigures",
    "Threads",
    "waiting_here",
]

HANDLER_MAX_MS = 300_000
RECONCILE_MAX_MS = 30_000
THREADS = 64
"""How many functions can be at work at once, unless a host says otherwise."""

_T = TypeVar("_T")
_Work = Callable[[], object]
_Done = Callable[[object], None]


class FunctionCalls:
    """Calls functions; `threads=0` calls those that are no coroutines in the loop itself."""

    def __init__(self, clock: Clock, *, threads: int) -> None:
        self._clock = clock
        self.threads = Threads(threads) if threads else None

    async def call(
        self, function: Callable[..., object], *arguments: object, limit_ms: int = HANDLER_MAX_MS
    ) -> object:
        """What the function returns; `TransientError` when it takes longer than that."""
        work = await self._start(function, *arguments)
        return await self._within(work, limit_ms, waits=False)

    async def mutate(
        self, function: Callable[..., object], *arguments: object, limit_ms: int = HANDLER_MAX_MS
    ) -> object:
        """The same for a tool that mutates: when it is over, it is over."""
        limit = limit_ms if inspect.iscoroutinefunction(function) else None
        return await self._within(await self._start(function, *arguments), limit, waits=True)

    def close(self) -> None:
        if self.threads is not None:
            self.threads.close()

    async def _start(
        self, function: Callable[..., object], *arguments: object
    ) -> "asyncio.Task[object]":
        """The function at work; to wait for a thread is not yet its time."""
        if self.threads is not None and not inspect.iscoroutinefunction(function):
            await self.threads.place()
        return asyncio.create_task(self._work(function, arguments))

    async def _within(
        self, work: "asyncio.Task[object]", limit_ms: int | None, *, waits: bool
    ) -> object:
        alarm = None if limit_ms is None else asyncio.ensure_future(self._clock.sleep_ms(limit_ms))
        try:
            await asyncio.wait(
                [work] if alarm is None else [work, alarm], return_when=asyncio.FIRST_COMPLETED
            )
            if not work.done():
                work.cancel()
                if waits:
                    await asyncio.wait([work])
                raise TransientError(f"took longer than {(limit_ms or 0) // 1000} s")
        finally:
            work.cancel()
            if alarm is not None:
                alarm.cancel()
        if work.cancelled():
            raise LogicError("was cancelled from within")
        return work.result()

    async def _work(self, function: Callable[..., object], arguments: tuple[object, ...]) -> object:
        if self.threads is not None and not inspect.iscoroutinefunction(function):
            name = getattr(function, "__qualname__", repr(function))
            found = await self.threads.run(lambda: _outcome(function, arguments), name)
            assert isinstance(found, _Outcome)
            if found.error is not None:
                raise found.error
            result = found.result
        else:
            try:
                result = function(*arguments)
            except SystemExit as error:
                raise LogicError(f"asked the interpreter to exit ({error})") from None
        return await result if inspect.isawaitable(result) else result


class _Outcome(NamedTuple):
    """What a function returned or raised."""

    result: object
    error: BaseException | None = None


def _outcome(function: Callable[..., object], arguments: tuple[object, ...]) -> _Outcome:
    try:
        return _Outcome(function(*arguments))
    except Exception as error:
        return _Outcome(None, error)
    except BaseException as error:  # a thread must not end the process
        return _Outcome(None, LogicError(f"raised {type(error).__name__}"))


def waiting_here() -> Callable[[Coroutine[object, object, _T]], _T]:
    """How a function in a thread gets what this loop alone can ask for."""
    loop = asyncio.get_running_loop()

    def wait(asking: Coroutine[object, object, _T]) -> _T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run_coroutine_threadsafe(asking, loop).result()
        return at_once(asking)

    return wait


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
