"""
Functions of authors at work: coroutines in the event loop, other functions in threads.

A handler that takes too long is given up; whatever it does later reaches nothing, since its context
is closed by then. A tool that mutates is given up only when it is a coroutine, and then its end is
waited for: a thread cannot be ended, and a mutation that comes after one has asked whether it was
made would be made twice.

Spec: FLOW-19, FLOW-20, MUTATE-3.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from gnomon.apps.workflow.pending import at_once
from gnomon.errors import LogicError, TransientError
from gnomon.ports import Clock

__all__ = ["HANDLER_MAX_MS", "RECONCILE_MAX_MS", "Caller", "waiting_here"]

HANDLER_MAX_MS = 300_000
RECONCILE_MAX_MS = 30_000

_T = TypeVar("_T")


class Caller:
    """Calls functions; `threads=0` calls those that are no coroutines in the loop itself."""

    def __init__(self, clock: Clock, *, threads: int) -> None:
        self._clock = clock
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    async def call(
        self, function: Callable[..., object], *arguments: object, limit_ms: int = HANDLER_MAX_MS
    ) -> object:
        """What the function returns; `TransientError` when it takes longer than that."""
        return await self._within(self._start(function, *arguments), limit_ms, waits=False)

    async def mutate(
        self, function: Callable[..., object], *arguments: object, limit_ms: int = HANDLER_MAX_MS
    ) -> object:
        """The same for a tool that mutates: when it is over, it is over."""
        if not inspect.iscoroutinefunction(function):
            return await self._within(self._start(function, *arguments), None, waits=True)
        return await self._within(self._start(function, *arguments), limit_ms, waits=True)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def _start(self, function: Callable[..., object], *arguments: object) -> "asyncio.Task[object]":
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
        if self._threads and not inspect.iscoroutinefunction(function):
            result, error = await self._in_thread(lambda: function(*arguments))
            if error is not None:
                raise error
        else:
            try:
                result = function(*arguments)
            except SystemExit as error:
                raise LogicError(f"asked the interpreter to exit ({error})") from None
        return await result if inspect.isawaitable(result) else result

    async def _in_thread(
        self, function: Callable[[], object]
    ) -> tuple[object, BaseException | None]:
        """What a function returned or raised, as a value."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="gnomon-handler")

        def work() -> tuple[object, BaseException | None]:
            try:
                return function(), None
            except Exception as error:
                return None, error
            except BaseException as error:  # a thread must not end the process
                return None, LogicError(f"raised {type(error).__name__}")

        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


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
