"""
One process on virtual time: how does it begin, stand still, die, and leave nothing behind?

One process lives at a time. What it does belongs to it: its tasks are known by the context in which
they run, stand still while it is frozen, and end with it. A task that is cancelled may still do
something on its way out, which the gate of its process lets nowhere; what it raises then is no
wonder. What anybody else lets out is a surprise, and is written down.

Spec: SIM-2.
"""

import asyncio
import logging
import traceback
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Crash
from gnomon.simulation.kit.loop import WORKER, VirtualLoop
from gnomon.simulation.kit.notes import Notes

__all__ = ["Life", "Lifetimes", "hearing", "hearkened", "overheard", "silent"]

_TASKS_KEPT = 256
_CANCELS_MAX = 50  # some wait for what they have begun, even when they are cancelled

_Task = asyncio.Task[object]
_Work = Callable[[], Coroutine[None, None, None]]


@dataclass(slots=True, kw_only=True)
class Life:
    """One process, from its beginning to its end."""

    name: str
    context: Context
    frozen: bool = False
    tasks: list[_Task] = field(default_factory=list)


_L = TypeVar("_L", bound=Life)


class Lifetimes(Generic[_L]):
    """A virtual loop in which one process lives after the other; and the one that lives now."""

    def __init__(self, seed: int, notes: Notes, *, steps_max: int) -> None:
        self.life: _L | None = None
        self.loop = VirtualLoop(Dice(seed, "order"), steps_max=steps_max)
        self.loop.hold = self._is_frozen
        self.loop.set_task_factory(self._make_task)  # type: ignore[arg-type]
        self.loop.set_exception_handler(hearing(notes))
        self._notes = notes
        self._context = copy_context()
        self._births = 0
        self._dead: list[_Task] = []

    def begin(self, make: Callable[[str, Context], _L]) -> _L:
        """A process begins, with nothing in its memory."""
        self._births += 1
        name = f"p{self._births}"
        context = self._context.copy()
        context.run(WORKER.set, name)
        self._log(name, "begins")
        self.life = make(name, context)
        return self.life

    def end(self, name: str) -> _L:
        """The process that lives now, and has this name, is over, with all that it does."""
        life = self.life
        assert life is not None
        assert life.name == name
        self.life = None
        self._log(name, "dies")
        current = asyncio.current_task(self.loop)
        left = [task for task in life.tasks if not task.done()]
        self._dead = [task for task in self._dead if not task.done()] + left
        for task in left:
            if task is not current:
                task.cancel()
        self.loop.thaw()
        return life

    def freeze(self, name: str, length_ms: int) -> None:
        assert self.life is not None
        self._log(name, f"frozen for {length_ms}")
        self.life.frozen = True
        self.later(length_ms, lambda: self._thaw(name))

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something that belongs to no process."""
        return self.loop.call_later(length_ms / 1000, act, context=self._context)

    def start(self, work: _Work, life: Life | None = None) -> None:
        """Do something, in a process or in none; an exception that it lets out is a surprise."""
        context = self._context if life is None else life.context
        self.loop.create_task(self._watched(work), context=context)

    def be_surprised(self, error: BaseException) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        self._notes.surprises.append(f"{error!r} in {where.name}, line {where.lineno}")

    def close(self) -> None:
        """Let the tasks of dead processes come to their end; no process lives any more."""
        for _ in range(_CANCELS_MAX):
            left = [task for task in self._dead if not task.done()]
            if not left:
                break
            for task in left:
                task.cancel()
            self.loop.run_until_complete(_breathe())
        for task in self._dead:
            if task.done() and not task.cancelled():
                task.exception()  # now asyncio does not complain that it was never retrieved
        self.loop.close()

    def _log(self, name: str, text: str) -> None:
        self._notes.log(round(self.loop.time() * 1000), name, text)

    async def _watched(self, work: _Work) -> None:
        try:
            await work()
        except Exception as error:
            self.be_surprised(error)

    def _thaw(self, name: str) -> None:
        if self.life is not None and self.life.name == name:
            self._log(name, "goes on")
            self.life.frozen = False
        self.loop.thaw()

    def _is_frozen(self, name: str) -> bool:
        life = self.life
        return life is not None and life.frozen and life.name == name

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[None, None, object],
        context: Context | None = None,
    ) -> _Task:  # fmt: skip
        task = asyncio.Task(coroutine, loop=loop, context=context)
        owner = WORKER.get() if context is None else context.get(WORKER, "")
        life = self.life
        if life is not None and life.name == owner:
            life.tasks.append(task)
            if len(life.tasks) > _TASKS_KEPT:
                life.tasks = [one for one in life.tasks if not one.done()]
        elif owner:
            self._dead.append(task)
        return task


def hearing(notes: Notes) -> Callable[[asyncio.AbstractEventLoop, dict[str, object]], None]:
    """A handler of exceptions that no code caught: a surprise, unless its process was killed."""

    def hear(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if not isinstance(error, Crash | asyncio.CancelledError):
            notes.surprises.append(f"{context.get('message')}: {error!r}")

    return hear


@contextmanager
def silent(logger: logging.Logger) -> Iterator[None]:
    """While a world happens, what goes wrong in it is no news."""
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def hearkened(
    logger: logging.Logger, event: str, hear: Callable[[Mapping[str, object]], None]
) -> Iterator[None]:
    """While a world happens, this event is heard with its facts, and nothing else that is said."""
    with _listening(logger, _Ear(event, hear), logging.WARNING):
        yield


@contextmanager
def overheard(logger: logging.Logger, events: Collection[str]) -> Iterator[list[str]]:
    """While a world happens, these events are heard, and nothing else that is said."""
    heard: list[str] = []
    with _listening(logger, _Ears(events, heard), logging.ERROR):
        yield heard


@contextmanager
def _listening(logger: logging.Logger, ears: logging.Handler, at: int) -> Iterator[None]:
    level, propagates = logger.level, logger.propagate
    logger.setLevel(at)
    logger.propagate = False
    logger.addHandler(ears)
    try:
        yield
    finally:
        logger.removeHandler(ears)
        logger.propagate = propagates
        logger.setLevel(level)


class _Ears(logging.Handler):
    def __init__(self, events: Collection[str], heard: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._events = events
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, object] = record.__dict__["fields"]
        if fields["event"] in self._events:
            error = record.exc_info[1] if record.exc_info else None
            self._heard.append(f"{fields['event']}: {error!r}")


async def _breathe() -> None:
    """Let everybody who is ready go on for a moment."""
    for _ in range(5):
        await asyncio.sleep(0)


class _Ear(logging.Handler):
    def __init__(self, event: str, hear: Callable[[Mapping[str, object]], None]) -> None:
        super().__init__(logging.WARNING)
        self._event, self._hear = event, hear

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, object] = record.__dict__["fields"]
        if fields["event"] == self._event:
            self._hear(fields)
