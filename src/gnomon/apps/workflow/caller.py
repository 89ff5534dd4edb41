"""
Functions of authors at work: coroutines in the event loop, other functions in threads.

A handler that takes too long is given up; whatever it does later reaches nothing, since its context
is closed by then, and its thread is counted apart. A tool that mutates is given up only when it is
a coroutine, and then its end is waited for: a thread cannot be ended, and a mutation that comes
after one has asked whether it was made would be made twice.

Spec: FLOW-19, FLOW-20, MUTATE-3.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import NamedTuple, TypeVar

from gnomon.apps.workflow.pending_events import at_once
from gnomon.apps.workflow.threads import Threads
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
