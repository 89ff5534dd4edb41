"""
Callbacks at work: coroutines in the event loop, other functions in a bounded pool of threads.

Whatever a callback raises, it ends in one `End`: exceptions of every kind, and those that ask the
interpreter to exit. None of it reaches another run or the scheduler. Only a `KeyboardInterrupt` in
the loop goes on to the program as well, for a person has pressed the keys. More functions at once
than there are threads wait for a thread.

A coroutine can be cut short, by its time-out or by a stop that may not wait. A function in a thread
cannot; it is left behind, and the next run of its task begins when it is over. What still runs a
second after the time of a stop is up is given up: the stop waits for it no longer, and its record
says that it runs, so that it counts as cut off by a crash.

Spec: CALL-1, CALL-4 to CALL-9, STOP-8, STOP-9.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar

from gnomon.apps.declarative.log import LogEvent, log
from gnomon.apps.declarative.task_plan import End, Start
from gnomon.core.ledger.detail import failure_line
from gnomon.ports import Clock
from gnomon.shell.daemon_threads import DaemonThreads, Outcome

__all__ = ["CUT_MS", "Run", "Runner", "StopLimit", "current_run"]

CUT_MS = 1_000
"""How long coroutines have to end, once a stop may wait no longer."""

_RUN: "ContextVar[Run | None]" = ContextVar("gnomon_run", default=None)
_NAMES_SHOWN = 5


def current_run() -> "Run | None":
    """The run that this code is called by: its callback, or a task or thread that it began."""
    return _RUN.get()


class Run:
    """One call of a callback."""

    def __init__(self, start: Start, *, in_thread: bool) -> None:
        self.start = start
        self.name = start.context.task
        self.in_thread = in_thread
        self.loop = asyncio.get_running_loop()
        self.task: asyncio.Task[None] | None = None
        self.over: Future[None] = Future()
        """Done when the callback has really returned, even if no caller waits for it any more."""
        self.is_in_a_thread_now = False
        self.cut: str = ""
        """Why it is cut short."""
        self.asks_to_stop = False
        """Whether it has called `stop`, which then cannot wait for it."""

    @property
    def is_over(self) -> bool:
        return self.task is None or self.task.done()

    def cut_short(self, why: str) -> None:
        """End it as soon as it lets itself be ended; a function in a thread does not."""
        if not self.in_thread and self.task is not None:
            self.cut = why
            self.task.cancel()


class Runner:
    """Starts callbacks and reports their ends; `threads=0` calls functions in the loop itself."""

    def __init__(
        self, on_end: Callable[[End], None], *, threads: int, clock: Clock,
        timeout_ms: int | None = None, after: Mapping[str, "Future[None]"] | None = None,
    ) -> None:  # fmt: skip
        self.is_given_up = False
        """Whether what still runs is not waited for any more."""
        self._on_end = on_end
        self._threads = threads
        self._clock = clock
        self._timeout_ms = timeout_ms
        self._after = dict(after or {})
        """What a session before this one left behind: no task begins beside itself."""
        self._pool: DaemonThreads | None = None
        self._runs: set[Run] = set()
        self._changed = asyncio.Event()

    def start(self, start: Start) -> None:
        run = Run(start, in_thread=bool(self._threads) and not start.callback.is_async)
        run.task = asyncio.create_task(self._run(run), name=f"gnomon {run.name}")
        self._runs.add(run)
        run.task.add_done_callback(lambda task: self._over(run, task))

    def own(self) -> Run | None:
        """The run of this runner that this is called by, if it is still going on."""
        run = current_run()
        return run if run is not None and run in self._runs and not run.is_over else None

    def ask_to_stop(self, run: Run) -> None:
        """This run waits for `stop`, so that `stop` does not wait for it."""
        run.asks_to_stop = True
        self._tell()

    async def idle(self) -> None:
        """Return when no callback is at work any more, or they are given up."""
        await self._until(lambda: self.is_given_up or not self._runs)

    async def idle_but_those_who_ask(self) -> None:
        """Return when nothing runs but what has itself asked to stop."""
        await self._until(
            lambda: self.is_given_up or all(run.asks_to_stop for run in self._runs)
        )  # fmt: skip

    def cut_short(self, why: str) -> None:
        """End what can be ended."""
        for run in list(self._runs):
            run.cut_short(why)

    def give_up(self) -> None:
        """Wait no longer for what still runs."""
        self.is_given_up = True
        self._tell()

    def left(self) -> dict[str, "Future[None]"]:
        """What goes on by itself from now on, by task, with the end of each."""
        found = {name: over for name, over in self._after.items() if not over.done()}
        return found | {run.name: run.over for run in self._runs if not run.over.done()}

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    async def _run(self, run: Run) -> None:
        _RUN.set(run)
        error: BaseException | None = None
        timer = self._timer(run)
        try:
            await self._wait_for_the_one_before(run)
            await self._call(run)
        except BaseException as raised:
            if _is_torn_down(run, raised):
                if not run.is_in_a_thread_now:
                    run.over.set_result(None)
                raise
            error = TimeoutError(run.cut) if _was_cut(run, raised) else raised
        if not run.over.done():
            run.over.set_result(None)
        if timer is not None:
            timer.cancel()
        detail = "" if error is None else failure_line(error)
        self._on_end(End(run.name, error, detail))
        if isinstance(error, KeyboardInterrupt) and not run.in_thread:
            raise error

    async def _call(self, run: Run) -> None:
        callback, context = run.start.callback, run.start.context
        if run.in_thread:
            result, error = await self._in_thread(run)
            if error is not None:
                raise error
        else:
            result = callback.call(context)
        if inspect.isawaitable(result):
            await result
        elif inspect.isgenerator(result) or inspect.isasyncgen(result):
            raise TypeError(
                "the callback returned a generator, which nothing iterates, so nothing was done"
            )

    async def _in_thread(self, run: Run) -> tuple[object, BaseException | None]:
        if self._pool is None:
            self._pool = DaemonThreads(self._threads, name="gnomon-run")
        callback, context = run.start.callback, run.start.context

        def work() -> object:
            try:
                return callback.call(context)
            finally:
                run.is_in_a_thread_now = False
                run.over.set_result(None)

        run.is_in_a_thread_now = True
        outcome = self._pool.submit(work)
        await _done(outcome)
        return outcome.result()

    async def _wait_for_the_one_before(self, run: Run) -> None:
        before = self._after.pop(run.name, None)
        if before is not None and not before.done():
            log(logging.WARNING, LogEvent.RUN_WAITS, task=run.name)
            await _done(before)

    def _timer(self, run: Run) -> "asyncio.Task[None] | None":
        limit_ms = run.start.callback.timeout_ms or self._timeout_ms
        if limit_ms is None:
            return None
        return asyncio.create_task(self._expire(run, limit_ms), name=f"gnomon limit {run.name}")

    async def _expire(self, run: Run, limit_ms: int) -> None:
        await self._clock.sleep_ms(limit_ms)
        log(
            logging.ERROR, LogEvent.RUN_OVERDUE, task=run.name, timeout_ms=limit_ms,
            ends=not run.in_thread,
        )  # fmt: skip
        run.cut_short(f"did not end within {limit_ms / 1000:g} s")

    def _over(self, run: Run, task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            task.exception()  # what it was has been told
        self._runs.discard(run)
        self._tell()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class StopLimit:
    """Bounds how long a session takes to end; the earliest of several limits counts."""

    def __init__(self, runner: Runner, clock: Clock, given_up: Callable[[], None]) -> None:
        self._runner = runner
        self._clock = clock
        self._given_up = given_up
        self._at_ms: int | None = None
        self._running: asyncio.Task[None] | None = None

    def set(self, at_ms: int) -> None:
        """Wait for no run from this time on; it is one that never goes back."""
        if self._at_ms is None or at_ms < self._at_ms:
            self.lift()
            self._at_ms = at_ms
            self._running = asyncio.create_task(self._run_out(at_ms), name="gnomon limit of stop")

    def lift(self) -> None:
        """The session has ended."""
        if self._running is not None:
            self._running.cancel()

    def exceeded(self, names: Sequence[str]) -> TimeoutError:
        """What to say of the runs that are left behind."""
        names = sorted(names)
        log(logging.ERROR, LogEvent.RUNS_LEFT, tasks=names)
        rest = len(names) - _NAMES_SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        return TimeoutError(
            f"still running when the time was up: {', '.join(names[:_NAMES_SHOWN])}{more}"
        )

    async def _run_out(self, at_ms: int) -> None:
        await self._clock.sleep_ms(max(at_ms - self._clock.monotonic_ms(), 0))
        self._runner.cut_short("was cut short by the stop of its scheduler")
        await self._clock.sleep_ms(CUT_MS)
        self._runner.give_up()
        self._given_up()


def _was_cut(run: Run, error: BaseException) -> bool:
    return bool(run.cut) and isinstance(error, asyncio.CancelledError)


def _is_torn_down(run: Run, error: BaseException) -> bool:
    """Whether the run did not end: its caller was ended, with the loop or by its program."""
    if isinstance(error, GeneratorExit):
        try:
            return asyncio.current_task() is not run.task
        except RuntimeError:  # there is no loop any more
            return True
    return run.is_in_a_thread_now


async def _done(future: "Future[None] | Outcome") -> None:
    """Wait for what another thread, or a loop before this one, brings to its end."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()

    def tell(_: object) -> None:
        with suppress(RuntimeError):  # the loop was closed, and no caller waits
            loop.call_soon_threadsafe(done.set)

    future.add_done_callback(tell)
    await done.wait()
