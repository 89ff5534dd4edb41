"""
Callbacks at work: coroutines in the event loop, other functions in a bounded pool of threads.

Whatever a callback does, it ends in one `End`: it returned, it raised, it was cancelled, it asked
the interpreter to exit. None of it reaches another run or the scheduler. More functions at once
than there are threads wait for a thread.

Spec: CALL-1, CALL-4, CALL-5.
"""

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from gnomon.apps.declarative.agenda import End, Start
from gnomon.shell.launcher.detail import failure_line

__all__ = ["Runner"]


class Runner:
    """Starts callbacks and reports their ends; `threads=0` calls functions in the loop itself."""

    def __init__(self, on_end: Callable[[End], None], *, threads: int) -> None:
        self._on_end = on_end
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._runs: set[asyncio.Task[None]] = set()

    def start(self, start: Start) -> None:
        run = asyncio.create_task(self._run(start), name=f"gnomon {start.context.task}")
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)

    def is_at_work(self, task: "asyncio.Task[object] | None") -> bool:
        """Whether this task is one of the runs."""
        return any(run is task for run in self._runs)

    async def idle(self) -> None:
        """Return when no callback is at work any more."""
        while self._runs:
            await asyncio.wait(self._runs)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    async def _run(self, start: Start) -> None:
        error: BaseException | None = None
        try:
            await self._call(start)
        except (Exception, SystemExit, asyncio.CancelledError) as raised:
            error = raised
        detail = "" if error is None else failure_line(error)
        self._on_end(End(start.context.task, error, detail))

    async def _call(self, start: Start) -> None:
        callback, context = start.callback, start.context
        if callback.is_async or not self._threads:
            result = callback.call(context)
        else:
            result, error = await self._in_thread(lambda: callback.call(context))
            if error is not None:
                raise error
        if inspect.isawaitable(result):
            await result

    async def _in_thread(
        self, function: Callable[[], object]
    ) -> tuple[object, BaseException | None]:
        """What a function returned or raised; as a value, for a future cannot take every error."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="gnomon-run")

        def work() -> tuple[object, BaseException | None]:
            try:
                return function(), None
            except BaseException as error:
                return None, error

        return await asyncio.get_running_loop().run_in_executor(self._pool, work)
