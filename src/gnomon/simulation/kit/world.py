"""
A world on virtual time: how do processes begin in it, stand still, die, and leave nothing behind?

What a process does belongs to it: its tasks are known by the context in which they run, stand still
while it is frozen, and end with it. A task that is cancelled may still do something on its way out,
which the gate of its process lets nowhere; what it raises then is no wonder. What anything else
lets out is a surprise, and is written down. For a while faults happen as planned; then a world can
be healed. What happens in it, and how it comes to rest, its scenario says.

Spec: SIM-2.
"""

import asyncio
import logging
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

from gnomon.simulation.kit.clock import Wall
from gnomon.simulation.kit.dice import Dice
from gnomon.simulation.kit.faults import Crash, Fault, Step
from gnomon.simulation.kit.gate import Gate, Nature
from gnomon.simulation.kit.loop import WORKER, Stuck, VirtualLoop
from gnomon.simulation.kit.notes import Notes

__all__ = ["Life", "SimulatedWorld", "overheard", "silent"]

_TASKS_KEPT = 256
_CANCELS_MAX = 50  # some wait for what they have begun, even when they are cancelled

_Task = asyncio.Task[object]
_Work = Callable[[], Coroutine[None, None, None]]
_Hear = Callable[[Mapping[str, object], BaseException | None], None]
"""What is done with the fields of an event in a log, and its exception."""


@dataclass(slots=True, kw_only=True)
class Life:
    """One process, from its beginning to its end."""

    name: str
    context: Context
    gate: Gate[Nature]
    frozen: bool = False
    tasks: list[_Task] = field(default_factory=list)


class _Planned(Protocol):
    """What happens at an instant of a world."""

    @property
    def at(self) -> int: ...


_L = TypeVar("_L", bound=Life)
_P = TypeVar("_P", bound=_Planned)


class SimulatedWorld(ABC, Generic[_L]):
    """What every world has, whatever lives in it; also the `Nature` that gates need."""

    def __init__(
        self, seed: int, notes: Notes, *, start_ms: int, steps_max: int,
        faults: Iterable[Fault] = (),
    ) -> None:  # fmt: skip
        self.notes = notes
        self.dice = Dice(seed, "nature")
        self.calls = 0
        self.calls_disturbed = 0
        """How many calls there were until the world was healed."""
        self.faults: Mapping[int, Fault] = {fault.call: fault for fault in faults}
        self.lives: dict[str, _L] = {}
        self.births = 0
        self.is_over = False
        self.loop = VirtualLoop(Dice(seed, "order"), steps_max=steps_max)
        self.loop.hold = self._is_frozen
        self.loop.set_task_factory(self._make_task)  # type: ignore[arg-type]
        self.loop.set_exception_handler(self._hear)
        self.wall = Wall(start_ms, self.loop)
        self._context = copy_context()
        self._dead: list[_Task] = []

    def at(self) -> int:
        """Milliseconds since the world began."""
        return self.wall.at()

    def begin(self, who: str, make: Callable[[str, Context], _L]) -> _L:
        """A process begins, with nothing in its memory."""
        self.births += 1
        name = f"{who}{self.births}"
        context = self._context.copy()
        context.run(WORKER.set, name)
        self.notes.log(self.at(), name, "begins")
        life = self.lives[name] = make(name, context)
        return life

    def end(self, name: str) -> _L:
        """A process is over, with all that it does."""
        life = self.lives.pop(name)
        self.notes.log(self.at(), name, "dies")
        life.gate.alive = False
        current = asyncio.current_task(self.loop)
        left = [task for task in life.tasks if not task.done()]
        self._dead = [task for task in self._dead if not task.done()] + left
        for task in left:
            if task is not current:
                task.cancel()
        self.loop.thaw()
        return life

    @abstractmethod
    def kill(self, worker: str) -> None:
        """End a process, and have another one follow it: how, the scenario says."""

    def freeze(self, worker: str, length_ms: int) -> None:
        self.notes.log(self.at(), worker, f"frozen for {length_ms}")
        self.lives[worker].frozen = True
        self.later(length_ms, lambda: self._thaw(worker))

    def later(self, length_ms: int, act: Callable[[], None]) -> asyncio.TimerHandle:
        """Do something that belongs to no process."""
        return self.loop.call_later(length_ms / 1000, act, context=self._context)

    def start(self, work: _Work, life: Life | None = None) -> None:
        """Do something, in a process or in none; an exception that it lets out is a surprise."""
        context = self._context if life is None else life.context
        self.loop.create_task(self._watched(work), context=context)

    def plan(self, planned: Iterable[_P], act: Callable[[_P], None]) -> None:
        """Have something done about each of these, each in its time."""
        for one in planned:
            self.later(one.at, partial(act, one))

    def step(self, step: Step) -> None:
        """The clock on the wall is set."""
        by_ms = step.by_ms
        self.notes.hit(f"clock set {'forward' if by_ms > 0 else 'back'}")
        self.notes.log(self.at(), "", f"clock {by_ms:+d}")
        self.notes.is_disturbed = True
        self.wall.step(by_ms)

    def heal(self) -> None:
        """From now on nothing goes wrong any more."""
        self.notes.log(self.at(), "", "healed")
        self.calls_disturbed = self.calls
        self.faults = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """What the course of the world lets out is a surprise too, and the world is judged."""
        try:
            yield
        except Stuck as stuck:
            self.notes.surprises.append(f"stuck at {self.at()}: {stuck}")
        except (Exception, SystemExit) as error:
            self._be_surprised(error)

    def close(self) -> None:
        """All processes die, and their tasks come to their end."""
        self.is_over = True
        self.loop.steps = 0  # to die takes a few more
        for name in list(self.lives):
            self.kill(name)
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

    async def _watched(self, work: _Work) -> None:
        try:
            await work()
        except Exception as error:
            self._be_surprised(error)

    def _be_surprised(self, error: BaseException) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        self.notes.surprises.append(f"{error!r} in {where.name}, line {where.lineno}")

    def _hear(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """An exception that no code caught is a surprise, unless its process was killed."""
        error = context.get("exception")
        if not isinstance(error, Crash | asyncio.CancelledError):
            self.notes.surprises.append(f"{context.get('message')}: {error!r}")

    def _thaw(self, name: str) -> None:
        if (life := self.lives.get(name)) is not None:
            self.notes.log(self.at(), name, "goes on")
            life.frozen = False
        self.loop.thaw()

    def _is_frozen(self, name: str) -> bool:
        life = self.lives.get(name)
        return life is not None and life.frozen

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[None, None, object],
        context: Context | None = None,
    ) -> _Task:  # fmt: skip
        task = asyncio.Task(coroutine, loop=loop, context=context)
        owner = WORKER.get() if context is None else context.get(WORKER, "")
        if (life := self.lives.get(owner)) is not None:
            life.tasks.append(task)
            if len(life.tasks) > _TASKS_KEPT:
                life.tasks = [one for one in life.tasks if not one.done()]
        elif owner:
            self._dead.append(task)
        return task


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
def overheard(logger: logging.Logger, hear: _Hear, *, at: int) -> Iterator[None]:
    """While a world happens, what is said at this level is heard, and goes nowhere else."""
    level, propagates, ears = logger.level, logger.propagate, _Ears(hear, at)
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
    def __init__(self, hear: _Hear, at: int) -> None:
        super().__init__(at)
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(record.__dict__["fields"], record.exc_info[1] if record.exc_info else None)


async def _breathe() -> None:
    """Let everybody who is ready go on for a moment."""
    for _ in range(5):
        await asyncio.sleep(0)
