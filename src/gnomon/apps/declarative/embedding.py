"""
Ways to put a scheduler into a program: gather its registrations, run it, run it beside the program.

`collect` makes a list with a decorator. `run` is the whole of a script: it returns when a signal
asks it to. `background` has an event loop in a thread of its own, for programs that have none.

Spec: EMBED-1 to EMBED-5.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from contextvars import Context
from datetime import timedelta
from types import TracebackType
from typing import TypeVar

from gnomon.apps.declarative.callback import Function, PlainFunction, read_timeout, with_timeout
from gnomon.apps.declarative.registration import read_registration
from gnomon.apps.declarative.runner import current_run
from gnomon.apps.declarative.scheduler import RegistrationTuple, Scheduler, failed
from gnomon.core.civil.duration import parse_duration
from gnomon.core.recurrence import Recurrence
from gnomon.errors import DefinitionError

__all__ = ["Background", "Collection", "background", "collect", "run"]

RETRY_DELAY = timedelta(minutes=1)
_ANY_ZONE = "UTC"
"""What a cron text may say is the same in every zone."""

_F = TypeVar("_F", bound=PlainFunction)


class Collection(list[RegistrationTuple]):
    """A list of registrations, and the decorator that adds to it."""

    def __call__(
        self, cron: str | Recurrence, *, name: str | None = None,
        retry_delay: timedelta | str = RETRY_DELAY, timeout: timedelta | str | None = None,
    ) -> Callable[[_F], _F]:  # fmt: skip
        """
        Register the function below, under its own name unless given another.

        `retry_delay` and `timeout` may be text such as `"5m"`. What is wrong is said here, and not
        only when a scheduler gets the list.
        """
        if callable(cron):
            raise DefinitionError(
                "must be called with the cron text before it decorates a function",
                where="collect", got=repr(cron), hint='write @tasks("0 3 * * *")',
            )  # fmt: skip
        delay = retry_delay
        if isinstance(delay, str):
            delay = parse_duration(delay, where="retry_delay")

        def register(function: _F) -> _F:
            found = getattr(function, "__name__", "") if name is None else name
            callback: Function = function
            if timeout is not None:
                callback = with_timeout(function, timeout)
            registration = (found, cron, callback, delay)
            taken = {one[0] for one in self}
            read_registration(len(self), registration, taken, zone=_ANY_ZONE)
            self.append(registration)
            return function

        return register


def collect() -> Collection:
    """An empty list of registrations, to be filled by decorating functions with it."""
    return Collection()


def run(
    registrations: Sequence[RegistrationTuple], scheduler: Scheduler | None = None, *,
    within: timedelta | str | None = None,
) -> None:  # fmt: skip
    """
    Run these until SIGINT or SIGTERM, then let what runs come to its end, and return.

    `within` bounds the waiting as for `Scheduler.stop`, and a second signal does not wait.
    `scheduler` is one with its default options unless given.
    """
    read_timeout(within, where="within", least=timedelta(0))
    if threading.current_thread() is not threading.main_thread():
        raise DefinitionError(
            "must be called in the main thread, which gets the signals", where="gnomon.run",
            got=threading.current_thread().name, hint="use gnomon.background() elsewhere",
        )  # fmt: skip
    try:
        asyncio.run(_run(registrations, scheduler or Scheduler(), within))
    except asyncio.CancelledError:  # by the second signal
        raise KeyboardInterrupt from None


def background(
    registrations: Sequence[RegistrationTuple], scheduler: Scheduler | None = None
) -> "Background":
    """
    Run these in a thread with an event loop of its own, until `stop()` or the end of `with`.

    When this returns, the list is in force; an error of `initialize` is raised here. A program that
    ends without a word is a crash: what it cut off is started again next time.
    """
    return Background(registrations, scheduler or Scheduler())


class Background:
    """A scheduler in a thread."""

    def __init__(self, registrations: Sequence[RegistrationTuple], scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._failure: BaseException | None = None
        self._begun = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._asked: list[asyncio.Future[None]] = []
        self._thread = threading.Thread(
            target=self._work, args=(registrations,), name="gnomon-background", daemon=True
        )
        self._thread.start()
        self._begun.wait()
        if self._loop is None:
            self.stop()

    def stop(self, *, within: timedelta | str | None = None) -> None:
        """
        Let what runs come to its end; an error of the scheduler is raised here, once.

        `within` bounds the waiting as for `Scheduler.stop`. In a callback, which would wait for its
        own end, this only asks.
        """
        read_timeout(within, where="within", least=timedelta(0))
        loop = self._loop
        if loop is not None and self._thread.is_alive():
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(self._ask, within, context=Context())
        if self._is_called_by_a_run():
            return
        self._thread.join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def __enter__(self) -> "Background":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    def _work(self, registrations: Sequence[RegistrationTuple]) -> None:
        try:
            asyncio.run(self._live(registrations))
        except BaseException as error:
            self._failure = error
        finally:
            self._begun.set()

    async def _live(self, registrations: Sequence[RegistrationTuple]) -> None:
        await self._scheduler.initialize(registrations)
        self._loop = asyncio.get_running_loop()
        self._begun.set()
        await _first(self._stop.wait(), failed(self._scheduler))
        if not self._asked:
            await self._scheduler.stop()
        await asyncio.gather(*self._asked)

    def _ask(self, within: timedelta | str | None) -> None:
        """Each that asks is heard: one may have less patience than the one before."""
        asked = asyncio.ensure_future(self._scheduler.stop(within=within))
        self._asked.append(asked)
        self._stop.set()

    def _is_called_by_a_run(self) -> bool:
        run = current_run()
        within = run is not None and run.loop is self._loop
        return within or threading.current_thread() is self._thread


async def _run(
    registrations: Sequence[RegistrationTuple], scheduler: Scheduler, within: timedelta | str | None
) -> None:
    loop, asked, main = asyncio.get_running_loop(), asyncio.Event(), asyncio.current_task()

    def leave(*_: object) -> None:
        if main is not None:  # Python may drop what a handler raises: in a weakref's callback, say
            loop.call_soon_threadsafe(main.cancel)
        raise KeyboardInterrupt

    def ask() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, leave)
        asked.set()

    await scheduler.initialize(registrations)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask)
    try:
        await _first(asked.wait(), failed(scheduler))
    finally:
        try:
            await scheduler.stop(within=within)
        finally:
            if asked.is_set():
                signal.signal(signal.SIGINT, signal.default_int_handler)


async def _first(*some: Coroutine[object, object, object]) -> None:
    """Return when one of them is over."""
    tasks = [asyncio.ensure_future(one) for one in some]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
